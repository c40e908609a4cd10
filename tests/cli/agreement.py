#!/usr/bin/env python3
"""`tokpack dump --json` and spec/reference_reader.py, written from the specification alone, print the same bytes.

    agreement.py build/tools/tokpack
"""
import subprocess
import sys

from support import SOURCE, TOKPACK, main, run

sys.path.insert(0, str(SOURCE / "tests/support"))
from vector_file import read_vector  # noqa: E402

DATA = SOURCE / "examples/data"


def reference(*arguments):
    return subprocess.run([sys.executable, str(SOURCE / "spec/reference_reader.py"), *map(str, arguments)],
                          capture_output=True, check=True).stdout.decode()


def agree(path, packs):
    assert run("dump", path, "--json") == reference(path), path
    for pack in packs:
        assert run("dump", path, "--pack", pack, "--json") == reference(path, "--pack", pack), (path, pack)


def loss_mask_and_metadata(folder):
    run("pack", DATA / "quickstart_sft.jsonl", "-o", folder / "a.tpk", "--capacity", 2048, "--meta", "k=\u00fc\u2028\"\\",
        "--tokenizer", "gpt2", "--eos-id", 50256, "--window", "all")
    agree(folder / "a.tpk", [0, 1, 5])


def fragments_and_tail_labels(folder):
    run("pack", DATA / "quickstart_docs.jsonl", "-o", folder / "a.tpk", "--capacity", 512, "--overlong", "split")
    agree(folder / "a.tpk", range(0, 160, 20))


def concat_and_input_target(folder):
    run("pack", DATA / "quickstart_docs.jsonl", "-o", folder / "a.tpk", "--capacity", 512, "--strategy", "concat",
        "--tail", "input-target")
    agree(folder / "a.tpk", [0, 7])


def groups_and_columns(folder):
    (folder / "a.jsonl").write_text(
        '{"input_ids":[1,2],"group":"a","role":"chosen","weight":0.1,"score":[1e-7,3.5e20],"h":[0.333,65504],'
        '"b":[1e-40,-2.5],"box":[[1,-2],[3,4]]}\n'
        '{"input_ids":[3,70000],"group":"a","role":"rejected","weight":16777217,"score":[1e15,123456789],"h":[6e-8,0],'
        '"b":[1,2],"box":[[5,6],[7,8]]}\n')
    run("pack", folder / "a.jsonl", "-o", folder / "a.tpk", "--capacity", 8, "--column", "score:f32@token", "--column",
        "h:f16@token", "--column", "b:bf16@token", "--column", "box:i32x2@token")
    agree(folder / "a.tpk", [0])


def explicit_labels(folder):
    (folder / "a.jsonl").write_text('{"input_ids":[1,2,3],"labels":[-100,9,3]}\n')
    run("pack", folder / "a.jsonl", "-o", folder / "a.tpk", "--capacity", 8)
    agree(folder / "a.tpk", [0])


def no_packs(folder):
    (folder / "a.jsonl").write_text("")
    run("pack", folder / "a.jsonl", "-o", folder / "a.tpk", "--capacity", 8)
    agree(folder / "a.tpk", [])


def valid_vectors(folder):
    for path in sorted((SOURCE / "spec/vectors/valid").glob("*.txt")):
        vector = read_vector(path)
        file = folder / (path.stem + ".tpk")
        file.write_bytes(vector.data)
        assert run("dump", file, "--json") == vector.dump, path.name
        for pack, text in vector.packs.items():
            assert run("dump", file, "--pack", pack, "--json") == text, (path.name, pack)
        run("verify", file)


def refused_vectors(folder):
    for path in sorted((SOURCE / "spec/vectors/invalid").glob("*.txt")):
        vector = read_vector(path)
        if vector.open == "ok":
            continue
        file = folder / (path.stem + ".tpk")
        file.write_bytes(vector.data)
        done = subprocess.run([str(TOKPACK), "dump", str(file), "--json"], capture_output=True)
        assert done.returncode == 3 and done.stdout == b"", (path.name, done)
        assert done.stderr.decode().startswith(f"tokpack: error: {vector.open}: "), (path.name, done.stderr)
        assert f": {vector.open} " in run("verify", file, code=1), path.name


main([valid_vectors, refused_vectors, loss_mask_and_metadata, fragments_and_tail_labels, concat_and_input_target, groups_and_columns, explicit_labels,
      no_packs])
