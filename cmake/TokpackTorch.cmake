# PyTorch, found without find_package(Torch), which needs a CUDA toolkit, an architecture list and a compiler run:
# two include folders and three libraries do the same. TOKPACK_TORCH_DIR is the installed package, the folder
# that has `include` and `lib`; its default is what the Python of ./.venv has.
#
#   tokpack_libtorch        headers and libraries, for what links LibTorch (tokpack::torch)
#   tokpack_torch_stable    the stable ABI's headers alone, for operators: one build serves every torch from 2.10
#   tokpack_torch_stub(T NAME...)   links T to libraries of these names without having them: see below
if(NOT TOKPACK_TORCH_DIR AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/.venv/bin/python" -c
    "import importlib.util as u, os; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '', end='')"
    OUTPUT_VARIABLE found)
  set(TOKPACK_TORCH_DIR "${found}" CACHE PATH "The installed torch package" FORCE)
endif()
if(NOT EXISTS "${TOKPACK_TORCH_DIR}/include/torch/csrc/stable/library.h")
  message(FATAL_ERROR "TOKPACK_TORCH_DIR is '${TOKPACK_TORCH_DIR}', expected the folder of an installed PyTorch "
    "package of 2.10 or later. `tools/setup.sh torch` makes ./.venv with one; for another, give\n"
    "  -DTOKPACK_TORCH_DIR=$(python -c \"import torch, os; print(os.path.dirname(torch.__file__))\")")
endif()

file(STRINGS "${TOKPACK_TORCH_DIR}/version.py" torch_version REGEX "^__version__ = ")
if(torch_version MATCHES "'([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS 2.10)
  message(FATAL_ERROR "TOKPACK_TORCH_DIR has PyTorch ${CMAKE_MATCH_1}, expected 2.10 or later: ${TOKPACK_TORCH_DIR}")
endif()

set(TOKPACK_TORCH_INCLUDE "${TOKPACK_TORCH_DIR}/include" "${TOKPACK_TORCH_DIR}/include/torch/csrc/api/include")
add_library(tokpack_torch_stable INTERFACE)
target_include_directories(tokpack_torch_stable SYSTEM INTERFACE "${TOKPACK_TORCH_DIR}/include")
target_compile_definitions(tokpack_torch_stable INTERFACE TORCH_TARGET_VERSION=0x020a000000000000)
# No path of the machine that builds stays in the library: registrations and checks hold file names. The relative
# one is what ccache makes of it where it has a base folder.
file(RELATIVE_PATH relative_include "${CMAKE_BINARY_DIR}" "${TOKPACK_TORCH_DIR}/include")
target_compile_options(tokpack_torch_stable INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=./"
  "-ffile-prefix-map=${TOKPACK_TORCH_DIR}/include/=torch-include/" "-ffile-prefix-map=${relative_include}/=torch-include/")

# torch loads its libraries so that others find their symbols only when they name them. An empty library of the
# right name is enough to be named after, so building operators needs torch's headers and none of its libraries.
function(tokpack_torch_stub target)
  set(linked "")
  foreach(name IN LISTS ARGN)
    if(NOT TARGET tokpack_stub_${name})
      file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/stubs/${name}.cpp" CONTENT "")
      add_library(tokpack_stub_${name} SHARED "${CMAKE_BINARY_DIR}/stubs/${name}.cpp")
      set_target_properties(tokpack_stub_${name} PROPERTIES OUTPUT_NAME ${name} UNITY_BUILD OFF
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/stubs")
    endif()
    add_dependencies(${target} tokpack_stub_${name})
    list(APPEND linked $<TARGET_FILE:tokpack_stub_${name}>)
  endforeach()
  # As options they leave no path to them behind.
  target_link_options(${target} PRIVATE -Wl,--no-as-needed ${linked} -Wl,--as-needed)
endfunction()

if(TOKPACK_BUILD_TORCH)
  add_library(tokpack_libtorch INTERFACE)
  target_include_directories(tokpack_libtorch SYSTEM INTERFACE ${TOKPACK_TORCH_INCLUDE})
  foreach(name IN ITEMS torch torch_cpu c10)
    # Not cached: TOKPACK_TORCH_DIR may change, and with it where they are.
    find_library(torch_library_${name} ${name} PATHS "${TOKPACK_TORCH_DIR}/lib" NO_DEFAULT_PATH NO_CACHE REQUIRED)
    if(name STREQUAL "torch")
      # No symbol of it is used, and it alone brings libtorch_cuda.so: kept where --as-needed is the default.
      target_link_libraries(tokpack_libtorch INTERFACE
        "-Wl,--push-state,--no-as-needed,${torch_library_torch},--pop-state")
    else()
      target_link_libraries(tokpack_libtorch INTERFACE "${torch_library_${name}}")
    endif()
  endforeach()
endif()
