# Sets TOKPACK_HAS_CUDA and, where it is true, enables the CUDA language. Included by the top-level file, where a
# language must be enabled.
#
# TOKPACK_BUILD_CUDA: ON needs nvcc, OFF does without, AUTO builds lib/cuda where nvcc is found. Everything else
# builds the same with or without it, and the tests of the kernels' source run under the C++ compiler either way.
# Its default is AUTO but for who adds tokpack to a project of his own without its parts for PyTorch.
set(cuda_default OFF)
if(PROJECT_IS_TOP_LEVEL OR TOKPACK_BUILD_TORCH OR TOKPACK_BUILD_TORCH_OPS)
  set(cuda_default AUTO)
endif()
set(TOKPACK_BUILD_CUDA ${cuda_default} CACHE STRING "Build lib/cuda: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE TOKPACK_BUILD_CUDA PROPERTY STRINGS AUTO ON OFF)

set(TOKPACK_HAS_CUDA FALSE)
if(NOT TOKPACK_BUILD_CUDA MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|1|0)$")
  message(FATAL_ERROR "TOKPACK_BUILD_CUDA is '${TOKPACK_BUILD_CUDA}', expected AUTO, ON or OFF")
endif()
if(NOT TOKPACK_BUILD_CUDA)
  message(STATUS "lib/cuda: not built (TOKPACK_BUILD_CUDA is ${TOKPACK_BUILD_CUDA})")
  return()
endif()

# Not in every PATH; CUDACXX, CUDA_PATH and CMAKE_CUDA_COMPILER mean what they mean to CMake.
find_program(TOKPACK_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
  DOC "nvcc, for lib/cuda")
mark_as_advanced(TOKPACK_NVCC)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(answer 1)
  if(TOKPACK_NVCC)
    execute_process(COMMAND "${TOKPACK_NVCC}" --version RESULT_VARIABLE answer OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(TOKPACK_NVCC AND TOKPACK_BUILD_CUDA STREQUAL "AUTO" AND NOT answer EQUAL 0)
    message(STATUS "lib/cuda: not built (${TOKPACK_NVCC} does not run; TOKPACK_BUILD_CUDA=ON shows why)")
    return()
  elseif(TOKPACK_NVCC)
    set(CMAKE_CUDA_COMPILER "${TOKPACK_NVCC}")
  elseif(TOKPACK_BUILD_CUDA STREQUAL "AUTO")
    message(STATUS "lib/cuda: not built (no nvcc in PATH, CUDA_PATH or /usr/local/cuda)")
    return()
  else()
    message(FATAL_ERROR "TOKPACK_BUILD_CUDA is ON and there is no nvcc in PATH, CUDA_PATH or /usr/local/cuda; "
      "set CMAKE_CUDA_COMPILER to it, or TOKPACK_BUILD_CUDA=OFF")
  endif()
endif()

# Must stand before the language is enabled. Code for each GPU of the last years that trains, and PTX for what
# comes after them.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100-real 120-virtual)
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(TOKPACK_HAS_CUDA TRUE)
message(STATUS "lib/cuda: built with ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION} "
  "for ${CMAKE_CUDA_ARCHITECTURES}")
