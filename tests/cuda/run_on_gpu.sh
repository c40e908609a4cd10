#!/usr/bin/env bash
# Builds tests/cuda/gpu and runs it on the GPU of this machine: every kernel against the CPU, and times. Needs nvcc,
# g++ and fmt's headers, of the system or of an installed torch; no CMake. Takes a minute or two.
#
#   tests/cuda/run_on_gpu.sh                  JSON on standard output, a line per check on standard error
#   tests/cuda/run_on_gpu.sh --build-only     only builds; the program runs on other machines, which need no CUDA
#                                             toolkit but a driver for CUDA 13
#   tests/cuda/run_on_gpu.sh --no-build       runs what was built
#   --folder FOLDER   where the build stands (default build/gpu-check)
#
# Environment: NVCC (else in PATH, else /usr/local/cuda/bin/nvcc), CXX (g++), TORCH (folder of the torch package, for
# its copy of fmt's headers).
# Exit code 0 when all passed, 1 when a check failed, 77 and "no GPU" where there is none, 3 when it cannot be built.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 3
folder=build/gpu-check
build=true
run=true
while [[ $# -gt 0 ]]; do
  case $1 in
    --build-only) run=false ;;
    --no-build) build=false ;;
    --folder)
      folder=${2:?--folder needs a folder}
      shift
      ;;
    -h | --help)
      sed -n '2,15s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "run_on_gpu.sh: unknown option $1; try --help" >&2
      exit 2
      ;;
  esac
  shift
done

program=$folder/gpu_check

build_program() {
  local nvcc=${NVCC:-} toolkit source object fmt=()
  [[ -n $nvcc ]] || nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
  if [[ ! -x $nvcc ]]; then
    echo "run_on_gpu.sh: there is no nvcc in PATH or /usr/local/cuda; set NVCC" >&2
    return 1
  fi
  # As nvcc itself says: what stands in PATH may be a wrapper.
  toolkit=$("$nvcc" -dryrun -c lib/cuda/src/kernels.cu 2>&1 | sed -n 's/^#\$ TOP=//p')
  if [[ -n ${TORCH:-} ]]; then
    fmt=(-isystem "$TORCH/include")
  elif ! echo '#include <fmt/format.h>' | "${CXX:-g++}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
    echo "run_on_gpu.sh: there is no fmt/format.h; install libfmt-dev or set TORCH to an installed torch package" >&2
    return 1
  fi
  mkdir -p "$folder" || return 1
  local roots=(-Iformat/include -Ilib/core/include -Ilib/core/src -Ilib/cuda/include -Ilib/cuda/src -Itests/support)
  # Compiled code for these, and PTX for what comes after them.
  "$nvcc" -std=c++20 -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_100,code=sm_100 -gencode arch=compute_120,code=compute_120 "${roots[@]}" \
    -c lib/cuda/src/kernels.cu -o "$folder/kernels.o" || return 1
  local objects=("$folder/kernels.o")
  # Of lib/core what masks need, and no more.
  for source in lib/core/src/{row_intervals,row_check,mask,mask_layout,mask_kernels,block_lists,reader_text}.cpp \
    lib/cuda/src/*.cpp tests/cuda/gpu/*.cpp; do
    object=$folder/$(dirname "$source" | tr / -)-$(basename "$source" .cpp).o
    objects+=("$object")
    printf '%s\0-o\0%s\0' "$source" "$object"
  done >"$folder/sources"
  xargs -0 -n 3 -P "$(nproc)" "${CXX:-g++}" -std=c++20 -O3 -DFMT_HEADER_ONLY "${fmt[@]}" -isystem "$toolkit/include" \
    "${roots[@]}" -c <"$folder/sources" || return 1
  local cudart
  for cudart in "$toolkit"/{lib64,lib,targets/x86_64-linux/lib}/libcudart_static.a; do
    [[ ! -e $cudart ]] || break
  done
  "${CXX:-g++}" -static-libstdc++ -static-libgcc -o "$program" "${objects[@]}" \
    "$cudart" -lpthread -ldl -lrt
}

if $build && ! build_program; then
  echo "run_on_gpu.sh: not built" >&2
  exit 3
fi
$run || exit 0
if [[ ! -x $program ]]; then
  echo "run_on_gpu.sh: there is no $program; build it first" >&2
  exit 3
fi

timeout 240 "$program"
result=$?
if [[ $result -eq 77 || $result -eq 2 ]]; then exit "$result"; fi

# Not every machine has it, and not every one that has it lets it watch: then that is all it says.
sanitizer=$(command -v compute-sanitizer) || sanitizer=/usr/local/cuda/bin/compute-sanitizer
if [[ ! -x $sanitizer ]]; then
  echo "compute-sanitizer: not here" >&2
else
  if timeout 60 "$sanitizer" --tool memcheck --error-exitcode 9 "$program" --quick >"$folder/sanitizer.log" 2>&1; then
    echo "compute-sanitizer: $(grep -E 'ERROR SUMMARY' "$folder/sanitizer.log" || echo 'no summary')" >&2
  elif grep -qE 'ERROR SUMMARY: [1-9]' "$folder/sanitizer.log"; then
    echo "compute-sanitizer found errors:" >&2
    head -n 60 "$folder/sanitizer.log" >&2
    result=1
  else
    echo "compute-sanitizer did not run to its end: $(tail -n 3 "$folder/sanitizer.log" | tr '\n' ' ')" >&2
  fi
fi
if [[ $result -eq 124 ]]; then
  echo "run_on_gpu.sh: the program took more than 240 s" >&2
  result=1
fi
exit "$result"
