#!/usr/bin/env bash
# From a machine with nothing installed to a packed, verified and readable dataset, from the real samples in
# examples/data. Installs what is missing, builds the tokpack command in build/quickstart, packs, verifies,
# shows. May be run again at any time.
#
#   tools/quickstart.sh                 all of it
#   tools/quickstart.sh --train         and trains a small GPT on it with LibTorch, stops, resumes (examples/train.cpp)
#   tools/quickstart.sh --skip-setup    without looking for missing packages
set -euo pipefail

cd "$(dirname "$0")/.."
build=build/quickstart
out=$build/out
started=$SECONDS

setup=true train=false
for option in "$@"; do
  case $option in
    --skip-setup) setup=false ;;
    --train) train=true ;;
    -h | --help)
      sed -n '2,8s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "quickstart: unknown option $option; try --help" >&2
      exit 2
      ;;
  esac
done
if $setup; then
  if $train; then tools/setup.sh torch; else tools/setup.sh build; fi
fi

say() { printf '\n== %s\n' "$*"; }
# Shows a command as a person would type it, then runs it.
show() {
  printf '\n$ %s\n' "tokpack $*"
  "$build/tools/tokpack" "$@"
}

say "Building the tokpack command in $build"
mkdir -p "$build" "$out"
# For a short first build: shared headers precompiled, the command's own sources in few files, since half of their
# time is headers; and -O2, a quarter quicker to compile than -O3.
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DTOKPACK_BUILD_TESTS=OFF
  -DTOKPACK_PRECOMPILE=ON -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=7)
targets=(tokpack)
if $train; then
  options+=(-DTOKPACK_BUILD_CUDA=AUTO -DTOKPACK_BUILD_TORCH=ON)
  targets+=(train)
else
  options+=(-DTOKPACK_BUILD_CUDA=OFF -DTOKPACK_BUILD_TORCH=OFF)
fi
log=$build/build.log
echo "This takes one to two minutes on two cores; all output goes to $log"
compile() { cmake -G Ninja -S . -B "$build" "${options[@]}" && cmake --build "$build" --target "${targets[@]}"; }
# Shown is only how far it is: ninja's lines, [done/all] and what.
if ! compile 2>&1 | tee "$log" | sed -u -n '/^\[[0-9]*\/[0-9]*\] /p'; then
  tail -n 40 "$log" >&2
  echo "quickstart: the build failed; all of its output is in $log" >&2
  exit 1
fi
echo "done after $((SECONDS - started)) s"

say "Packing 400 questions and answers with loss labels, 2048 tokens a pack"
show pack examples/data/quickstart_sft.jsonl -o "$out/sft.tpk" --capacity 2048 \
  --tokenizer gpt2 --vocab-size 50257 --eos-id 50256 --force

say "Packing 158 documents, the long ones split"
show pack examples/data/quickstart_docs.jsonl -o "$out/docs.tpk" --capacity 2048 --overlong split \
  --tokenizer gpt2 --vocab-size 50257 --eos-id 50256 --force

say "Checking every byte of both"
show verify "$out/sft.tpk" "$out/docs.tpk"

say "How full the packs are"
show stats "$out/docs.tpk"

say "What is in the first file, and its first pack"
show dump "$out/sft.tpk"
show dump "$out/sft.tpk" --pack 0

if $train; then
  say "Training a small GPT on the documents, in packs of 256 tokens"
  show pack examples/data/quickstart_docs.jsonl -o "$out/train.tpk" --capacity 256 --overlong split --force
  trained() { # log options...
    local lines=$1
    shift
    printf '\n$ train %s\n' "$out/train.tpk $*"
    "$build/examples/train" "$out/train.tpk" "$@" | tee "$lines"
  }
  trained "$out/straight.txt" --steps 300 --every 50
  say "The same, stopped after 150 steps and resumed"
  trained "$out/first.txt" --steps 150 --every 50 --save "$out/checkpoint.pt"
  trained "$out/second.txt" --steps 300 --every 50 --resume "$out/checkpoint.pt"
  printf '\nat once:  %s\nresumed:  %s\n' "$(tail -n 1 "$out/straight.txt")" "$(tail -n 1 "$out/second.txt")"
  if [[ $(cat "$out/first.txt" "$out/second.txt") != $(cat "$out/straight.txt") ]]; then
    echo "quickstart: the losses of the resumed run differ; on a GPU their last digits may" >&2
    exit 1
  fi
  echo "all losses are equal to the last digit"
fi

cat <<SAY

== Done in $((SECONDS - started)) s
The files are $out/sft.tpk and $out/docs.tpk; the command is $build/tools/tokpack.
Try next:
  $build/tools/tokpack dump $out/docs.tpk --pack 3 --tokens
  $build/tools/tokpack export $out/sft.tpk -o $out/sft.jsonl
  $build/tools/tokpack pack YOUR.jsonl -o YOUR.tpk --capacity 4096
  $build/tools/tokpack --help
SAY
if $train; then echo "  $build/examples/train --help"; fi
