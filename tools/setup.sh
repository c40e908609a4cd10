#!/usr/bin/env bash
# Installs the Debian packages that tokpack needs, and only those that are missing.
#
#   tools/setup.sh build    what building the tokpack command and the benchmarks needs
#   tools/setup.sh test     the same, and what tests/run.sh needs
#   tools/setup.sh torch    what `build` installs, and .venv with PyTorch, NumPy and pytest (5 GB)
#   tools/setup.sh --list test   print the names and install nothing
#
# As root on Debian or Ubuntu it installs. Elsewhere it changes nothing: it says the one command to run and
# exits 1.
set -euo pipefail

build=(g++ cmake ninja-build libboost-dev libxxhash-dev libzstd-dev libfmt-dev libsimdjson-dev
  nlohmann-json3-dev libcli11-dev)
test=(doctest-dev python3 python3-numpy python3-xxhash zstd ccache shellcheck
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev)

torch=(python3 python3-venv)

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

list_only=false
if [[ ${1:-} == --list ]]; then
  list_only=true
  shift
fi
mode=${1:-build}
case $mode in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  torch) wanted=("${build[@]}" "${torch[@]}") ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
if $list_only; then
  printf '%s\n' "${wanted[@]}"
  exit 0
fi

# .venv beside this script's folder: made anew unless it has a PyTorch. A folder that is not what it seems is left.
make_torch_environment() {
  local root venv usable='import torch, numpy, pytest; assert tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 10)'
  root=$(cd "$(dirname "$0")/.." && pwd)
  venv=$root/.venv
  if [[ -x $venv/bin/python ]] && "$venv/bin/python" -c "$usable" 2>/dev/null; then return; fi
  echo "setup: PyTorch, NumPy and pytest into .venv (a download of about 3 GB; one to three minutes)" >&2
  [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check uv
  # setuptools: torch.compile needs it in some versions and does not ask for it.
  "$venv/bin/uv" pip install -q --python "$venv/bin/python" 'torch>=2.10' numpy pytest setuptools
}
finish() {
  [[ $mode != torch ]] || make_torch_environment
  exit 0
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat >&2 <<'SAY'
setup: this system has no apt, so nothing was installed. tokpack needs g++ 12 or clang 14 (C++20), CMake 3.25,
Ninja, Boost 1.74, xxHash 0.8, zstd, fmt 9, simdjson 3, nlohmann-json 3.11 and CLI11 2.1, with their headers.
On Fedora:
  sudo dnf install gcc-c++ cmake ninja-build boost-devel xxhash-devel libzstd-devel fmt-devel simdjson-devel json-devel cli11-devel
Where they are installed already, run the script that called this one with --skip-setup.
SAY
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ii* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || finish

if [[ $(id -u) != 0 ]]; then
  {
    echo "setup: ${#missing[@]} packages are missing and only root can install them. Run this, then start again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    echo "Where they are installed by other means, run the script that called this one with --skip-setup."
  } >&2
  exit 1
fi

echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup: apt-get failed; its words are above" >&2
  exit 1
fi
finish
