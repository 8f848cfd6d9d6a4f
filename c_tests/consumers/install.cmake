# Installs the build under WORK as a distribution does, checks what is there, and moves it to MOVED.
#
#   cmake -DBUILD= -DWORK= -DMOVED= -DSOURCE= -DLIBDIR= -P install.cmake

cmake_minimum_required(VERSION 3.22)

# A prefix that nothing may remember.
set(PREFIX "/opt/dramalloc_was_here")

function(install folder)
  set(ENV{DESTDIR} "${WORK}/${folder}")
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(list_files result folder)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${WORK}/${folder}${PREFIX}" "${WORK}/${folder}${PREFIX}/*")
  list(SORT files)
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}" "${MOVED}")
install(all)
list_files(installed all)
foreach(component runtime devel command)
  install(${component} --component dramalloc_${component})
  list_files(files ${component})
  list(APPEND in_components ${files})
endforeach()
list(SORT in_components)
if(NOT installed STREQUAL in_components) # Each file in one component, none in two.
  message(FATAL_ERROR "the components have\n${in_components}\nof\n${installed}")
endif()

file(READ "${SOURCE}/src/ffi/abi.rs" abi)
string(REGEX MATCH "DRAM_ABI_MAJOR: u32 = ([0-9]+)" abi "${abi}")
set(soname "libdramalloc.so.${CMAKE_MATCH_1}")
file(GLOB headers RELATIVE "${SOURCE}" "${SOURCE}/include/*")
file(GLOB schemas RELATIVE "${SOURCE}" "${SOURCE}/schema/*.json")
list(TRANSFORM schemas PREPEND "share/dramalloc/")
foreach(file bin/dramalloc share/doc/dramalloc/LICENSE ${headers} ${schemas} ${LIBDIR}/libdramalloc.a
        ${LIBDIR}/libdramalloc.so ${LIBDIR}/${soname} ${LIBDIR}/pkgconfig/dramalloc.pc
        ${LIBDIR}/cmake/dramalloc/dramallocConfig.cmake ${LIBDIR}/cmake/dramalloc/dramallocConfigVersion.cmake)
  if(NOT file IN_LIST installed)
    message(FATAL_ERROR "${file} is not among\n${installed}")
  endif()
endforeach()

# libdramalloc.so -> libdramalloc.so.0 -> libdramalloc.so.0.1.0, by name and not by path.
set(lib "${WORK}/all${PREFIX}/${LIBDIR}")
file(READ_SYMLINK "${lib}/libdramalloc.so" first)
file(READ_SYMLINK "${lib}/${soname}" second)
if(NOT first STREQUAL soname OR NOT second MATCHES "^libdramalloc\\.so\\.[0-9]+\\.[0-9]+\\.[0-9]+$"
   OR IS_SYMLINK "${lib}/${second}")
  message(FATAL_ERROR "libdramalloc.so -> ${first} -> ${second}")
endif()

# Nothing knows where it was built or installed.
foreach(file IN LISTS installed)
  foreach(place "${PREFIX}" "${BUILD}" "${WORK}")
    file(STRINGS "${WORK}/all${PREFIX}/${file}" found REGEX "${place}" LIMIT_COUNT 1)
    if(found)
      message(FATAL_ERROR "${file} remembers ${place}: ${found}")
    endif()
  endforeach()
endforeach()

get_filename_component(folder "${MOVED}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
file(RENAME "${WORK}/all${PREFIX}" "${MOVED}")
