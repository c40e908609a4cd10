# Installs BUILD, moves the prefix, and uses it from outside; see CMakeLists.txt.
cmake_minimum_required(VERSION 3.25)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` gave ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/first")
file(RENAME "${SCRATCH}/first" "${SCRATCH}/moved")

# Nothing installed may know where it was built.
file(GLOB_RECURSE scripts "${SCRATCH}/moved/*.cmake")
foreach(script IN LISTS scripts)
  file(READ "${script}" text)
  foreach(place "${ROOT}" "${BUILD}" "${SCRATCH}")
    string(FIND "${text}" "${place}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${script} names the place ${place}")
    endif()
  endforeach()
endforeach()

run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${ROOT}/tests/install/consumer" -B "${SCRATCH}/consumer"
  "-DCMAKE_PREFIX_PATH=${SCRATCH}/moved" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release
  "-DWANTED_VERSION=${VERSION}")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/consumer")
run("${SCRATCH}/consumer/consumer" "${SCRATCH}/consumer.tpk")
set(wanted
"pack 0: 30/-100 31/-100 32/32 33/33 10/-100 11/11 12/12  cu_seqlens: 0 4 7  targets: 4
pack 1: 20/20 21/21  cu_seqlens: 0 2  targets: 1
")
if(NOT output STREQUAL wanted)
  message(FATAL_ERROR "the consumer printed:\n${output}")
endif()

# Another minor version is another draft and must not be found.
execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${ROOT}/tests/install/consumer" -B "${SCRATCH}/other"
  "-DCMAKE_PREFIX_PATH=${SCRATCH}/moved" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DWANTED_VERSION=0.99
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "compatible")
  message(FATAL_ERROR "version 0.99 was found, or refused for another reason:\n${output}")
endif()

if(WITH_TOOL)
  run("${SCRATCH}/moved/bin/tokpack" verify "${SCRATCH}/consumer.tpk")
endif()
