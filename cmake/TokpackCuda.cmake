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
  # The oldest that knows sm_100; C++20 needs 12.0.
  set(oldest_nvcc 12.8)
  set(nvcc_version "a version that it does not tell")
  if(TOKPACK_NVCC)
    execute_process(COMMAND "${TOKPACK_NVCC}" --version OUTPUT_VARIABLE answer ERROR_QUIET)
    if(answer MATCHES "release ([0-9]+\\.[0-9]+)")
      set(nvcc_version ${CMAKE_MATCH_1})
    endif()
  endif()
  if(TOKPACK_NVCC AND (NOT nvcc_version MATCHES "^[0-9]" OR nvcc_version VERSION_LESS oldest_nvcc))
    set(refusal "${TOKPACK_NVCC} has ${nvcc_version}, expected ${oldest_nvcc} or later")
    if(TOKPACK_BUILD_CUDA STREQUAL "AUTO")
      message(STATUS "lib/cuda: not built (${refusal})")
      return()
    endif()
    message(FATAL_ERROR "TOKPACK_BUILD_CUDA is ${TOKPACK_BUILD_CUDA} and ${refusal}; set CMAKE_CUDA_COMPILER, or "
      "TOKPACK_BUILD_CUDA=OFF")
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

# Must stand before the language is enabled. Code for compute capability 8 and 9, code and PTX for 10: what comes
# after compiles that when it is loaded.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(TOKPACK_HAS_CUDA TRUE)
message(STATUS "lib/cuda: built with ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION} "
  "for ${CMAKE_CUDA_ARCHITECTURES}")
