#!/usr/bin/env bash
# Measures tokpack beside PyTorch, torchtune and TRL, in one process each, in a venv of its own. Needs what
# bench/run.sh needs, python3-venv, some 8 GB of disk and the network. JSON goes to bench/results/peers_*.json.
#
#   bench/peers/run.sh                       loaders, masks, stored_masks
#   bench/peers/run.sh masks                 only this
#   bench/peers/run.sh --skip-setup ...      without looking for missing packages
set -euo pipefail

cd "$(dirname "$0")/../.."
case ${1:-} in
  -h | --help)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --skip-setup) shift ;;
  *) tools/setup.sh build ;;
esac

venv=build/peers-venv
if [[ ! -e $venv/ready ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet uv
  "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" -r bench/peers/requirements.txt
  "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps torchao==0.10.0
  touch "$venv/ready"
fi
torch=$("$venv/bin/python" -c 'import importlib.util as u, os; print(os.path.dirname(u.find_spec("torch").origin))')

build=$PWD/build/bench
options=(-DCMAKE_BUILD_TYPE=Release -DTOKPACK_BUILD_TESTS=OFF -DTOKPACK_BUILD_TOOLS=ON -DTOKPACK_BUILD_BENCH=ON
  -DTOKPACK_BUILD_TORCH_OPS=ON "-DTOKPACK_TORCH_DIR=$torch")
if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p "$build"
if ! { cmake -G Ninja -S . -B "$build" "${options[@]}" && cmake --build "$build"; } >"$build/build.log" 2>&1; then
  tail -n 40 "$build/build.log" >&2
  echo "bench: the build failed; all of its output is in $build/build.log" >&2
  exit 1
fi

trap 'rm -rf /dev/shm/tokpack_bench_peers' EXIT
programs=("$@")
[[ ${#programs[@]} -gt 0 ]] || programs=(loaders masks stored_masks)
for name in "${programs[@]}"; do
  printf '\n== %s\n' "$name"
  TOKPACK_BUILD=$build "$venv/bin/python" "bench/peers/$name.py"
done
