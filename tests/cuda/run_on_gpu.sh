#!/usr/bin/env bash
# Builds tests/cuda/gpu and PyTorch's operators and runs both on the GPU of this machine: every kernel and operator
# against the CPU, and times. Needs nvcc, g++ and fmt's headers, of the system or of an installed torch; no CMake.
# Under 5 minutes in all: what does not fit is left out with a line.
#
#   tests/cuda/run_on_gpu.sh                  JSON on standard output, a line per check on standard error
#   tests/cuda/run_on_gpu.sh --json FILE      the JSON in FILE as well
#   tests/cuda/run_on_gpu.sh --build-only     only builds; gpu_check runs on other machines, which need no CUDA
#                                             toolkit but a driver for CUDA 13
#   tests/cuda/run_on_gpu.sh --no-build       runs what was built
#   --folder FOLDER   where the build stands (default build/gpu-check)
#
# Environment: NVCC (else in PATH, else /usr/local/cuda/bin/nvcc), CXX (g++), PYTHON (the one beside TORCH, else
# python3), TORCH (folder of the torch package; else PYTHON's). Without torch, or one without CUDA, the operators
# are skipped with a line.
# Exit code 0 when all passed, 1 when a check failed, 77 and "no GPU" where there is none, 3 when it cannot be built.
set -uo pipefail

start=$PWD
cd "$(dirname "$0")/../.." || exit 3
folder=build/gpu-check
json_file=
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
    --json)
      json_file=${2:?--json needs a file}
      [[ $json_file == /* ]] || json_file=$start/$json_file
      shift
      ;;
    -h | --help)
      sed -n '2,18s/^# \{0,1\}//p' "$0"
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
say() { echo "run_on_gpu.sh: $*" >&2; }

# No part may take the whole past this many seconds, the build included.
budget=285
# Seconds for a part: what it may have at most, or what is left, at least 1.
seconds_for() {
  local left=$((budget - SECONDS))
  if [[ $left -lt 1 ]]; then left=1; fi
  echo $((left < $1 ? left : $1))
}

python=${PYTHON:-}
if [[ -z $python ]]; then
  python=python3
  if [[ -n ${TORCH:-} && -x $TORCH/../../../../bin/python ]]; then python=$TORCH/../../../../bin/python; fi
fi
torch=${TORCH:-}
if [[ -z $torch ]]; then
  torch=$("$python" -c 'import importlib.util as u, os; s = u.find_spec("torch"); print(os.path.dirname(s.origin) if s else "")' 2>/dev/null)
fi
no_operators=
if [[ -z $torch ]]; then
  no_operators="$python has no torch; set PYTHON or TORCH"
else
  IFS=. read -r major minor _ < <(sed -n "s/^__version__ = '\(.*\)'/\1/p" "$torch/version.py")
  if [[ ! -e $torch/include/torch/csrc/stable/library.h || $((${major:-0} * 1000 + ${minor:-0})) -lt 2010 ]]; then
    no_operators="the torch of $torch is ${major:-}.${minor:-} and has no headers of 2.10 or later"
  fi
fi

roots=(-Iformat/include -Ilib/core/include -Ilib/core/src -Ilib/cuda/include -Ilib/cuda/src -Itests/support)

build_kernels() {
  # Compiled code for these, and PTX for what comes after them.
  "$nvcc" -std=c++20 -O3 --threads 0 -Xcompiler -fPIC,-fvisibility=hidden -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=sm_100 \
    -gencode arch=compute_100,code=compute_100 "${roots[@]}" -c lib/cuda/src/kernels.cu -o "$folder/kernels.o"
}

# The object of a source; what compiles it goes to a list.
sources=() operator_sources=()
object_of() { # source [list]
  local -n list=${2:-sources}
  object=$folder/$(dirname "$1" | tr / -)-$(basename "$1" .cpp).o
  list+=("$1" "$object")
}

# Compiles pairs of a source and an object.
compile() { # flags... -- pairs...
  local flags=()
  while [[ $1 != -- ]]; do
    flags+=("$1")
    shift
  done
  shift
  printf '%s\0-o\0%s\0' "$@" | xargs -0 -n 3 -P "$(nproc)" "${cxx[@]}" -std=c++20 -O3 -fPIC -fvisibility=hidden \
    -fvisibility-inlines-hidden "${flags[@]}" "${roots[@]}" -c
}

# An operator library holds all that it needs of tokpack, and names torch's libraries without having them: empty
# ones of the same names will do (cmake/TokpackTorch.cmake says why).
link_operators() { # library names-of-torch objects...
  local library=$1 name stubs=()
  for name in $2; do
    echo | "${cxx[@]}" -shared -x c++ - -Wl,-soname,"lib$name.so" -o "$folder/stubs/lib$name.so" || return 1
    stubs+=("$folder/stubs/lib$name.so")
  done
  shift 2
  "${cxx[@]}" -shared -o "$folder/$library" "$@" -Wl,--exclude-libs,ALL -Wl,--no-as-needed "${stubs[@]}" \
    -Wl,--as-needed -lpthread -ldl -lrt
}

build_all() {
  local toolkit source object fmt=()
  nvcc=${NVCC:-}
  [[ -n $nvcc ]] || nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
  if [[ ! -x $nvcc ]]; then
    say "there is no nvcc in PATH or /usr/local/cuda; set NVCC"
    return 1
  fi
  read -r -a cxx <<<"${CXX:-g++}"
  # As nvcc itself says: what stands in PATH may be a wrapper.
  toolkit=$("$nvcc" -dryrun -c lib/cuda/src/kernels.cu 2>&1 | sed -n 's/^#\$ TOP=//p')
  if [[ -n $torch && -e $torch/include/fmt/format.h ]]; then
    fmt=(-isystem "$torch/include")
  elif ! echo '#include <fmt/format.h>' | "${cxx[@]}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
    say "there is no fmt/format.h; install libfmt-dev or set TORCH to an installed torch package"
    return 1
  fi
  mkdir -p "$folder/stubs" || return 1
  rm -f "$folder"/*.{o,so} "$program"
  local core=() cuda=() check=() tensors=() cpu=() device=()
  # Of lib/core what masks need, and no more.
  for source in lib/core/src/{row_intervals,row_check,mask,mask_layout,mask_kernels,block_lists,reader_text}.cpp; do
    object_of "$source" && core+=("$object")
  done
  for source in lib/cuda/src/*.cpp; do object_of "$source" && cuda+=("$object"); done
  for source in tests/cuda/gpu/*.cpp; do object_of "$source" && check+=("$object"); done
  cuda+=("$folder/kernels.o")
  build_kernels &
  local kernels=$! operators_job=
  if [[ -z $no_operators ]]; then
    object_of lib/torch/ops/tensors.cpp operator_sources && tensors=("$object")
    for source in lib/torch/ops/{schemas,ops_cpu}.cpp; do
      object_of "$source" operator_sources && cpu+=("$object")
    done
    object_of lib/torch/ops/ops_cuda.cpp operator_sources && device=("$object")
    compile -isystem "$torch/include" -DTORCH_TARGET_VERSION=0x020a000000000000 -Ilib/torch/ops -- \
      "${operator_sources[@]}" &
    operators_job=$!
  fi
  # Apart: torch's headers for operators and its fmt refuse each other.
  local built=true
  compile -DFMT_HEADER_ONLY "${fmt[@]}" -isystem "$toolkit/include" -- "${sources[@]}" || built=false
  wait "$kernels" || built=false
  if ! $built; then
    [[ -z $operators_job ]] || wait "$operators_job"
    return 1
  fi
  local cudart
  for cudart in "$toolkit"/{lib64,lib,targets/x86_64-linux/lib}/libcudart_static.a; do
    [[ ! -e $cudart ]] || break
  done
  "${cxx[@]}" -static-libstdc++ -static-libgcc -o "$program" "${core[@]}" "${check[@]}" "${cuda[@]}" \
    "$cudart" -lpthread -ldl -lrt || return 1
  [[ -z $no_operators ]] || return 0
  if ! wait "$operators_job" || ! link_operators libtokpack_ops.so torch_cpu "${core[@]}" "${tensors[@]}" "${cpu[@]}" ||
    ! link_operators libtokpack_ops_cuda.so "torch_cpu torch_cuda" "${core[@]}" "${tensors[@]}" "${device[@]}" \
      "${cuda[@]}" "$cudart"; then
    rm -f "$folder"/*.so
    say "the operators are not built"
  fi
}

if $build && ! build_all; then
  say "not built"
  exit 3
fi
built_in=$SECONDS
if ! $run; then
  [[ -z $no_operators ]] || say "operators: not built: $no_operators"
  [[ -n $no_operators || -e $folder/libtokpack_ops_cuda.so ]] || exit 3
  exit 0
fi
if [[ ! -x $program ]]; then
  say "there is no $program; build it first"
  exit 3
fi

result=0
timeout -k 5 "$(seconds_for 120)" "$program" >"$folder/kernels.json"
kernels_exit=$?
case $kernels_exit in
  0) ;;
  77 | 2) exit "$kernels_exit" ;;
  124 | 137) say "gpu_check was ended by its time limit" && result=1 ;;
  *) result=1 ;;
esac

# Each part is a process of its own: an error of the device breaks the rest of a process.
operators=()
run_part() { # part seconds
  local seconds part_json=$folder/operators-$1.json code
  rm -f "$part_json"
  seconds=$(seconds_for "$2")
  if [[ $seconds -lt 15 ]]; then
    say "operators, $1: not run: no time left"
    operators+=("{\"part\": \"$1\", \"not_run\": \"no time left\"}")
    if [[ $1 == graphs || $1 == checks ]]; then result=1; fi  # passed is what was looked at
    return
  fi
  TOKPACK_TORCH_OPS=$folder PYTHONDONTWRITEBYTECODE=1 timeout -k 5 "$seconds" \
    "$python" tests/cuda/gpu_operators.py --part "$1" --seconds "$((seconds - 5))" --json "$part_json"
  code=$?
  case $code in
    0) ;;
    77) no_operators="torch finds no GPU" ;;
    124 | 137)
      say "operators, $1: ended by its time limit of $seconds s"
      # Compilers may be slow, and nothing is wrong with the operators then.
      [[ $1 == compiled ]] || result=1
      ;;
    *) result=1 ;;
  esac
  if [[ -s $part_json ]]; then
    operators+=("{\"exit\": $code, \"report\": $(cat "$part_json")}")
  else
    operators+=("{\"part\": \"$1\", \"exit\": $code}")
  fi
}

# Not every machine has it, and not every one that has it lets it watch: then that is all it says.
run_sanitizer() {
  local sanitizer seconds log=$folder/sanitizer.log
  sanitizer=$(command -v compute-sanitizer) || sanitizer=/usr/local/cuda/bin/compute-sanitizer
  seconds=$(seconds_for 50)
  if [[ ! -x $sanitizer ]]; then
    sanitized="not here"
  elif [[ $seconds -lt 10 ]]; then
    sanitized="not run: no time left"
  elif timeout -k 5 "$seconds" "$sanitizer" --tool memcheck --error-exitcode 9 "$program" --quick >"$log" 2>&1; then
    sanitized=$(grep -E 'ERROR SUMMARY' "$log" || echo 'no summary')
  elif grep -qE 'ERROR SUMMARY: [1-9]' "$log"; then
    sanitized="found errors: $(grep -E 'ERROR SUMMARY' "$log")"
    head -n 60 "$log" >&2
    result=1
  else
    sanitized="did not run to its end: $(tail -n 3 "$log")"
  fi
  sanitized=$(tr '\n\t' '  ' <<<"$sanitized" | tr -d '\\"[:cntrl:]')
  sanitized=${sanitized% }
  echo "compute-sanitizer: $sanitized" >&2
}

if [[ -z $no_operators && ! -e $folder/libtokpack_ops_cuda.so ]]; then
  no_operators="not built"
  result=1
fi
if [[ -z $no_operators ]]; then run_part graphs 45; fi
if [[ -z $no_operators ]]; then
  run_part checks 100
  run_part times 60
fi
run_sanitizer
if [[ -z $no_operators ]]; then run_part compiled 150; fi
[[ -z $no_operators ]] || say "operators: not run: $no_operators"

document() {
  local separator=
  printf '{\n"passed": %s, "seconds": %s, "build_seconds": %s,\n' \
    "$([[ $result -eq 0 ]] && echo true || echo false)" "$SECONDS" "$built_in"
  printf '"compute_sanitizer": "%s",\n"gpu_check_exit": %s,\n"gpu_check": ' "$sanitized" "$kernels_exit"
  if [[ -s $folder/kernels.json ]]; then cat "$folder/kernels.json"; else echo null; fi
  if [[ -n $no_operators ]]; then printf ',\n"operators_not_run": "%s"' "${no_operators//[\"\\]/}"; fi
  printf ',\n"operators": ['
  local part
  for part in "${operators[@]}"; do
    printf '%s\n%s' "$separator" "$part"
    separator=,
  done
  printf ']\n}\n'
}
document >"$folder/result.json"
cat "$folder/result.json"
if [[ -n $json_file ]]; then cp "$folder/result.json" "$json_file"; fi
exit "$result"
