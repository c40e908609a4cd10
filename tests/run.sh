#!/usr/bin/env bash
# Builds and runs every test, from a machine with nothing installed. Ends in one line: `N passed, N failed`.
#
#   tests/run.sh                all of it: 40 minutes on two cores, 20 GB of disk, 12 of them for PyTorch twice
#   tests/run.sh --quick        only the Release build and its tests
#   tests/run.sh --only STEPS   only these, separated by commas: format shell tidy release torch asan tsan fuzz
#                               quickstart train
#   tests/run.sh --fuzz-seconds N   fuzzing time over all targets (default 60)
#   tests/run.sh --skip-setup   without looking for missing packages
#
# Exit code 0 when nothing failed. Every test, format check, build and fuzz target counts as one. Builds stand
# in build/tests-*, logs in build/tests-logs.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
steps=(format shell tidy release torch asan tsan fuzz quickstart train)
setup=true
fuzz_seconds=60
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) steps=(release) ;;
    --only)
      IFS=', ' read -r -a steps <<<"${2:?--only needs steps}"
      shift
      ;;
    --fuzz-seconds)
      fuzz_seconds=${2:?--fuzz-seconds needs a number}
      shift
      ;;
    --skip-setup) setup=false ;;
    -h | --help)
      sed -n '2,12s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "run.sh: unknown option $1; try --help" >&2
      exit 2
      ;;
  esac
  shift
done

known=' format shell tidy release torch asan tsan fuzz quickstart train '
for step in "${steps[@]}"; do
  if [[ $known != *" $step "* ]]; then
    echo "run.sh: unknown step '$step'; the steps are:$known" >&2
    exit 2
  fi
done

if $setup && ! tools/setup.sh test; then
  echo "0 passed, 1 failed"
  exit 1
fi

jobs=$(nproc)
logs=build/tests-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 skipped=0
failures=()

pass() { passed=$((passed + 1)); }
fail() { # name, log
  failed=$((failed + 1))
  failures+=("$1")
  echo "FAILED: $1"
  [[ -z ${2:-} ]] || tail -n 60 "$2"
}

# Runs one command that counts as one test; its output is shown only when it fails. It may skip itself with 77.
check() { # name command...
  local name=$1 log started=$SECONDS result=0
  shift
  log=$logs/${name//[^a-z0-9.-]/_}.log
  "$@" >"$log" 2>&1 || result=$?
  if [[ $result -eq 0 ]]; then
    pass
    echo "ok: $name ($((SECONDS - started)) s)"
  elif [[ $result -eq 77 ]]; then
    skipped=$((skipped + 1))
    echo "skipped: $name: $(tail -n 1 "$log")"
  else
    fail "$name" "$log"
    return 1
  fi
}

own_files() { # find-tests...
  find .ci bench cmake examples format lib python spec tests tools \( "$@" \) -print
}

configure_and_build() { # folder options... -- targets...
  local folder=$1 options=(-DPython3_EXECUTABLE=/usr/bin/python3)
  shift
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  while [[ $# -gt 0 && $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  cmake -G Ninja -S . -B "$folder" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${options[@]}" &&
    cmake --build "$folder" -j "$jobs" --target "${@:-all}"
}

# Runs a folder's tests with ctest and adds them to the counts, read from its JUnit report.
run_ctest() { # name folder ctest-options...
  local name=$1 folder=$2 report=$PWD/$logs/$1.xml log=$logs/$1.ctest.log started=$SECONDS
  local total bad left_out
  shift 2
  ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error --output-junit "$report" "$@" \
    >"$log" 2>&1
  local result=$?
  total=$(sed -n 's/^[[:space:]]*tests="\([0-9]*\)".*/\1/p' "$report" 2>/dev/null | head -n 1)
  if [[ -z $total ]]; then
    fail "$name: no test ran" "$log"
    return 1
  fi
  bad=$(sed -n 's/^[[:space:]]*failures="\([0-9]*\)".*/\1/p' "$report" | head -n 1)
  left_out=$(grep -c -E '<testcase .*status="(disabled|notrun|skipped)"' "$report")
  if [[ $result -ne 0 && $bad -eq 0 ]]; then bad=1; fi
  passed=$((passed + total - bad - left_out))
  failed=$((failed + bad))
  skipped=$((skipped + left_out))
  if [[ $bad -gt 0 ]]; then
    cat "$log"
    failures+=("$name: $bad of $total tests")
  fi
  # A doctest binary whose tests were all filtered out reports success; that is not a pass.
  if grep -qE 'assertions: +0 ' "$folder/Testing/Temporary/LastTest.log"; then
    fail "$name: a test binary ran no assertion"
  fi
  echo "ctest $name: $((total - bad - left_out)) passed, $bad failed, $left_out skipped ($((SECONDS - started)) s)"
}

step_format() {
  mapfile -t files < <(own_files -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh')
  check clang-format clang-format-14 --dry-run --Werror "${files[@]}"
}

step_shell() {
  mapfile -t files < <(own_files -name '*.sh' -o -path .ci/run)
  check shellcheck shellcheck "${files[@]}"
}

# Warnings are errors here alone: a compiler that instruments warns of its own conversions.
release_options=(-DCMAKE_BUILD_TYPE=Release -DTOKPACK_BUILD_BENCH=ON -DTOKPACK_WERROR=ON)
torch_options=(-DTOKPACK_BUILD_TORCH=ON -DTOKPACK_BUILD_TORCH_OPS=ON)
no_torch_options=(-DTOKPACK_BUILD_TORCH=OFF -DTOKPACK_BUILD_TORCH_OPS=OFF)  # a folder may have had it on

step_tidy() {
  # Needs the compile commands alone, so only configures.
  check tidy-configure cmake -G Ninja -S . -B build/tests-release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -DPython3_EXECUTABLE=/usr/bin/python3 "${release_options[@]}" "${no_torch_options[@]}" || return
  check clang-tidy run-clang-tidy-14 -quiet -j "$jobs" -p build/tests-release \
    -extra-arg=-Wno-unknown-warning-option '/(format/src|lib/[a-z]+/src|tools)/[^/]*\.cpp$'
}

step_release() {
  check build-release configure_and_build build/tests-release "${release_options[@]}" "${no_torch_options[@]}" -- ||
    return
  run_ctest release build/tests-release
}

# In the folder of the Release build, which had no torch: only what needs it is built anew.
step_torch() {
  check setup-torch tools/setup.sh torch || return
  check build-torch configure_and_build build/tests-release "${release_options[@]}" "${torch_options[@]}" -- || return
  run_ctest torch build/tests-release -R '^torch\.'
  # The oldest PyTorch that the operators serve, with the same libraries.
  check operators-2.10 tests/torch/run_versions.sh build/tests-release/lib/torch/ops 2.10.0
  check clang-tidy-torch run-clang-tidy-14 -quiet -j "$jobs" -p build/tests-release \
    -extra-arg=-Wno-unknown-warning-option '/lib/torch/[a-z]+/[^/]*\.cpp$'
}

step_asan() {
  check build-asan configure_and_build build/tests-asan -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DTOKPACK_SANITIZE=address,undefined -DTOKPACK_BUILD_CUDA=OFF -- || return
  run_ctest asan build/tests-asan -E '^(compile_fail|install)\.'
}

step_tsan() {
  check build-tsan configure_and_build build/tests-tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DTOKPACK_SANITIZE=thread -DTOKPACK_BUILD_TOOLS=OFF -DTOKPACK_BUILD_CUDA=OFF -- \
    batch_tests masks_tests reader_tests writer_tests input_tests || return
  run_ctest tsan build/tests-tsan -R '^unit\.(batch|masks|reader|writer|input)$'
}

step_fuzz() {
  check build-fuzz configure_and_build build/tests-fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_COMPILER=clang++-14 -DTOKPACK_BUILD_FUZZ=ON -DTOKPACK_SANITIZE=address,undefined \
    -DTOKPACK_BUILD_TOOLS=OFF -DTOKPACK_BUILD_CUDA=OFF -- fuzz || return
  run_ctest fuzz-replay build/tests-fuzz -R '^fuzz\.'
  local target name seeds targets=(build/tests-fuzz/tests/fuzz/*_fuzz)
  for target in "${targets[@]}"; do
    name=$(basename "$target" _fuzz)
    mkdir -p "build/tests-fuzz/found/$name"
    # The same seeds as the replay has: what reads files starts from whole ones as well.
    seeds=()
    if [[ -d tests/fuzz/corpus/$name ]]; then seeds+=("tests/fuzz/corpus/$name"); fi
    case $name in parse | reader | verify) seeds+=(build/tests-fuzz/tests/fuzz/vectors) ;; esac
    check "fuzz.$name.run" "$target" -max_total_time=$((fuzz_seconds / ${#targets[@]})) -timeout=20 -max_len=65536 \
      -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="build/tests-fuzz/found/$name-" \
      "build/tests-fuzz/found/$name" "${seeds[@]}"
  done
}

step_quickstart() { check quickstart tools/quickstart.sh --skip-setup; }

step_train() { # of the quick start's build, only what it lacks
  check setup-torch tools/setup.sh torch && check quickstart-train tools/quickstart.sh --skip-setup --train
}

for step in "${steps[@]}"; do
  echo "== $step"
  "step_$step"
done

echo
for failure in "${failures[@]}"; do echo "failed: $failure"; done
[[ $skipped -eq 0 ]] || echo "skipped: $skipped (their output says why)"
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
