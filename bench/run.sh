#!/usr/bin/env bash
# Builds the benchmarks in Release and runs them all, or those named, one after the other. The figures go to the
# terminal and, as JSON, to bench/results/<name>.json.
#
#   bench/run.sh                      all
#   bench/run.sh plan reader          bench_plan and bench_reader only
#   bench/run.sh --skip-setup ...     without looking for missing packages
set -euo pipefail

cd "$(dirname "$0")/.."
case ${1:-} in
  -h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --skip-setup) shift ;;
  *) tools/setup.sh build ;;
esac

build=build/bench
options=(-DCMAKE_BUILD_TYPE=Release -DTOKPACK_BUILD_TESTS=OFF -DTOKPACK_BUILD_TOOLS=ON -DTOKPACK_BUILD_BENCH=ON)
if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p "$build" bench/results
if ! { cmake -G Ninja -S . -B "$build" "${options[@]}" && cmake --build "$build"; } >"$build/build.log" 2>&1; then
  tail -n 40 "$build/build.log" >&2
  echo "bench: the build failed; all of its output is in $build/build.log" >&2
  exit 1
fi

programs=("$@")
if [[ ${#programs[@]} -eq 0 ]]; then
  for source in bench/bench_*.cpp; do
    name=$(basename "$source" .cpp)
    programs+=("${name#bench_}")
  done
fi
failed=0
for name in "${programs[@]}"; do
  printf '\n== %s\n' "$name"
  "$build/bench/bench_$name" --json "bench/results/$name.json" || failed=$((failed + 1))
done
[[ $failed -eq 0 ]] || echo "bench: $failed of ${#programs[@]} programs failed" >&2
exit $((failed > 0))
