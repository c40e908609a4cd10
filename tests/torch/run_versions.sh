#!/usr/bin/env bash
# Runs the operators' tests with other versions of PyTorch than the one whose headers they were built with: one
# build must serve every version from 2.10 on.
#
#   tests/torch/run_versions.sh FOLDER VERSION...     FOLDER has libtokpack_ops.so; VERSION such as 2.10.0
#
# Each version gets an environment of its own, kept and used again: build/torch-VERSION, or what TOKPACK_TORCH_VENVS
# names in place of build. A version that cannot be installed is a line `SKIPPED: ...`. Exit: 0 passed, 1 failed,
# 77 nothing could be run.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit
if [[ $# -lt 2 || ! -f $1/libtokpack_ops.so ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
export TOKPACK_TORCH_OPS
TOKPACK_TORCH_OPS=$(realpath "$1")
shift
home=${TOKPACK_TORCH_VENVS:-build}
ran=0 failed=0
for version in "$@"; do
  venv=$home/torch-$version
  python=$venv/bin/python
  if ! "$python" -c "import torch, pytest, sys; sys.exit(torch.__version__.split('+')[0] != '$version')" 2>/dev/null; then
    mkdir -p "$home"
    if ! { python3 -m venv "$venv" && "$python" -m pip install -q --disable-pip-version-check uv &&
      "$venv/bin/uv" pip install -q --python "$python" "torch==$version" numpy pytest setuptools; }; then
      echo "SKIPPED: torch $version cannot be installed here"
      rm -rf "$venv"
      continue
    fi
  fi
  ran=$((ran + 1))
  if "$python" -m pytest -q -p no:cacheprovider --show-capture=no tests/torch; then
    echo "PASSED: torch $version"
  else
    failed=$((failed + 1))
    echo "FAILED: torch $version"
  fi
done
[[ $ran -gt 0 ]] || exit 77
[[ $failed -eq 0 ]]
