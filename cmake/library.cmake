# The library as targets of the build: what cargo builds, under the names that it is installed with.
#
# cargo writes into DRAM_TARGET_DIR; ${DRAM_LIB_DIR} holds what a linker and a loader get to see, so
# that programs run from the build tree as they do from the installed one.

find_program(CARGO cargo REQUIRED)
find_package(Threads REQUIRED)

if(PROJECT_IS_TOP_LEVEL)
  set(DRAM_TARGET_DIR "${PROJECT_SOURCE_DIR}/target" CACHE PATH "Where cargo builds")
else()
  set(DRAM_TARGET_DIR "${PROJECT_BINARY_DIR}/target" CACHE PATH "Where cargo builds dramalloc")
endif()
set(DRAM_RELEASE "${DRAM_TARGET_DIR}/release")

# ---- cargo ----

set(DRAM_MANIFESTS Cargo.toml Cargo.lock engine/Cargo.toml capi/Cargo.toml cli/Cargo.toml)
list(TRANSFORM DRAM_MANIFESTS PREPEND "${PROJECT_SOURCE_DIR}/")

# Builds OUTPUTS of a package. cargo knows what they depend on and tells the generators that ask.
function(dram_cargo_build package depfile)
  set(how)
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(how DEPFILE "${DRAM_RELEASE}/${depfile}")
  endif()
  add_custom_command(
    OUTPUT ${ARGN}
    COMMAND "${CARGO}" build --release --locked --package ${package}
            --target-dir "${DRAM_TARGET_DIR}" $<$<BOOL:${DRAM_OFFLINE}>:--offline>
    # cargo leaves a finished file's time alone; the rule wants its outputs new.
    COMMAND "${CMAKE_COMMAND}" -E touch ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DEPENDS ${DRAM_MANIFESTS}
    ${how}
    COMMENT "Building ${package} with cargo"
    USES_TERMINAL VERBATIM COMMAND_EXPAND_LISTS)
endfunction()

dram_cargo_build(dramalloc-capi libdramalloc.d
  "${DRAM_RELEASE}/libdramalloc.a" "${DRAM_RELEASE}/libdramalloc.so") # In the order of the .d file.

# ---- as it is installed ----

set(DRAM_LIB_DIR "${PROJECT_BINARY_DIR}/lib")
set(DRAM_SONAME "libdramalloc.so.${DRAM_ABI_MAJOR}") # capi/build.rs writes it into the file.
set(DRAM_SO "libdramalloc.so.${PROJECT_VERSION}")
set(DRAM_SHARED "${DRAM_LIB_DIR}/${DRAM_SO}")
set(DRAM_STATIC "${DRAM_LIB_DIR}/libdramalloc.a")
if(NOT DRAM_ABI_MAJOR EQUAL PROJECT_VERSION_MAJOR)
  message(FATAL_ERROR "the file ${DRAM_SO} must have a name that begins with its SONAME, ${DRAM_SONAME}")
endif()

add_custom_command(
  OUTPUT "${DRAM_SHARED}" "${DRAM_LIB_DIR}/${DRAM_SONAME}" "${DRAM_LIB_DIR}/libdramalloc.so"
  COMMAND "${CMAKE_COMMAND}" -E copy "${DRAM_RELEASE}/libdramalloc.so" "${DRAM_SHARED}"
  COMMAND "${CMAKE_COMMAND}" -E create_symlink "${DRAM_SO}" "${DRAM_LIB_DIR}/${DRAM_SONAME}"
  COMMAND "${CMAKE_COMMAND}" -E create_symlink "${DRAM_SONAME}" "${DRAM_LIB_DIR}/libdramalloc.so"
  DEPENDS "${DRAM_RELEASE}/libdramalloc.so"
  VERBATIM)

find_program(DRAM_LD NAMES ld.bfd ld REQUIRED DOC "GNU ld, for the static archive")
add_custom_command(
  OUTPUT "${DRAM_STATIC}"
  COMMAND "${CMAKE_COMMAND}" -DARCHIVE=${DRAM_RELEASE}/libdramalloc.a -DOUT=${DRAM_STATIC}
          -DLD=${DRAM_LD} -DOBJCOPY=${CMAKE_OBJCOPY} -DAR=${CMAKE_AR}
          -P "${PROJECT_SOURCE_DIR}/cmake/localise.cmake"
  DEPENDS "${DRAM_RELEASE}/libdramalloc.a" "${PROJECT_SOURCE_DIR}/cmake/localise.cmake"
  COMMENT "Making one object of libdramalloc.a"
  VERBATIM)

set(ALL)
if(DRAM_INSTALL)
  set(ALL ALL)
endif()
add_custom_target(dramalloc_library ${ALL} DEPENDS
  "${DRAM_SHARED}" "${DRAM_LIB_DIR}/${DRAM_SONAME}" "${DRAM_LIB_DIR}/libdramalloc.so" "${DRAM_STATIC}")

set(DRAM_COMMAND_FILE "${DRAM_RELEASE}/dramalloc")
if(DRAM_COMMAND)
  dram_cargo_build(dramalloc-cli dramalloc.d "${DRAM_COMMAND_FILE}")
  add_custom_target(dramalloc_command ${ALL} DEPENDS "${DRAM_COMMAND_FILE}")
  add_dependencies(dramalloc_command dramalloc_library) # cargo builds one at a time anyway.
endif()

# ---- targets; dramallocConfig.cmake.in makes the same ones of the installed files ----

# The C header, the C++ wrapper and the loader; needs nothing to link but dlopen.
add_library(dramalloc_headers INTERFACE)
target_include_directories(dramalloc_headers INTERFACE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(dramalloc_headers INTERFACE ${CMAKE_DL_LIBS})

add_library(dramalloc_shared SHARED IMPORTED GLOBAL)
set_target_properties(dramalloc_shared PROPERTIES
  IMPORTED_LOCATION "${DRAM_SHARED}" IMPORTED_SONAME "${DRAM_SONAME}")

# What a host absorbs it does not export: a shared library with this archive inside shows its own
# symbols only.
set(DRAM_STATIC_OPTIONS "LINKER:--exclude-libs,libdramalloc.a")
set(DRAM_STATIC_NEEDS "Threads::Threads;${CMAKE_DL_LIBS};m")
add_library(dramalloc_static STATIC IMPORTED GLOBAL)
set_target_properties(dramalloc_static PROPERTIES
  IMPORTED_LOCATION "${DRAM_STATIC}"
  INTERFACE_LINK_LIBRARIES "${DRAM_STATIC_NEEDS}"
  INTERFACE_LINK_OPTIONS "${DRAM_STATIC_OPTIONS}")

foreach(kind shared static)
  set_target_properties(dramalloc_${kind} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(dramalloc_${kind} dramalloc_library)
endforeach()

# The C++17 wrapper, linked to the shared library. A property, because a C project may never use it.
add_library(dramalloc_cxx INTERFACE)
target_link_libraries(dramalloc_cxx INTERFACE dramalloc_shared)
set_property(TARGET dramalloc_cxx PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_17)

foreach(kind headers shared static cxx)
  add_library(dramalloc::${kind} ALIAS dramalloc_${kind})
endforeach()

if(DRAM_COMMAND)
  add_executable(dramalloc::command IMPORTED GLOBAL)
  set_target_properties(dramalloc::command PROPERTIES IMPORTED_LOCATION "${DRAM_COMMAND_FILE}")
  add_dependencies(dramalloc::command dramalloc_command)
endif()
