# What `cmake --install` puts where. Nothing in it names the prefix: the tree may be moved afterwards.
#
# Components, for distributions that split: dramalloc_runtime is what a program needs that was linked
# with the library or loads it, dramalloc_devel what its build needs, dramalloc_command the command.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(DRAM_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/dramalloc")
set(DRAM_PC_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# ---- runtime ----

install(PROGRAMS "${DRAM_SHARED}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dramalloc_runtime)
install(FILES "${DRAM_LIB_DIR}/${DRAM_SONAME}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dramalloc_runtime)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dramalloc_runtime)

# ---- command ----

if(DRAM_COMMAND)
  install(PROGRAMS "${DRAM_COMMAND_FILE}" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT dramalloc_command)
endif()

# ---- devel ----

install(FILES "${DRAM_LIB_DIR}/libdramalloc.so" "${DRAM_STATIC}"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dramalloc_devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dramalloc_devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/schema"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/dramalloc" COMPONENT dramalloc_devel FILES_MATCHING PATTERN "*.json")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/dramallocConfig.cmake.in" dramallocConfig.cmake
  INSTALL_DESTINATION "${DRAM_CMAKE_DIR}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor version may break what was promised.
set(COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(COMPATIBILITY SameMinorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dramallocConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY ${COMPATIBILITY})

# The .pc file finds the prefix from where it lies itself, unless its folder was given as an absolute path.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(DRAM_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${DRAM_PC_DIR}" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(DRAM_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind LIBDIR INCLUDEDIR)
  set(DRAM_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(DRAM_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/dramalloc.pc.in" dramalloc.pc @ONLY)

install(FILES "${PROJECT_BINARY_DIR}/dramallocConfig.cmake" "${PROJECT_BINARY_DIR}/dramallocConfigVersion.cmake"
  DESTINATION "${DRAM_CMAKE_DIR}" COMPONENT dramalloc_devel)
install(FILES "${PROJECT_BINARY_DIR}/dramalloc.pc" DESTINATION "${DRAM_PC_DIR}" COMPONENT dramalloc_devel)
