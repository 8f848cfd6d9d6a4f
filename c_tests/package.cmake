# Installs the project under PREFIX and builds and runs a project that finds it there.

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "${ARGN}: ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE "${PREFIX}" "${WORK}")
must("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}")
must("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX}")
must("${CMAKE_COMMAND}" --build "${WORK}")
must("${WORK}/consumer_shared")
must("${WORK}/consumer_static")
