#!/usr/bin/env python3
"""Files that `tokpack pack` does not write but that are right, and files that the system does not map.

    unusual.py build/tools/tokpack
"""
import resource
import subprocess
import sys

from support import SOURCE, TOKPACK, main, run

sys.path.insert(0, str(SOURCE / "tests/support"))
from tpk_encode import dataset, seq  # noqa: E402


def write(path, metadata):
    data, _ = dataset([[seq([1, 2, 3])]], capacity=8, metadata=metadata).file.build()
    path.write_bytes(data)
    return path


def a_file_without_an_account_shows_none(folder):
    # The word stands in the metadata all the same.
    path = write(folder / "a.tpk", {"user": {"account": "of a customer"}})
    text = run("dump", path)
    assert "account = of a customer" in text, text
    assert "  packed  " not in text, text


def an_account_is_shown_once(folder):
    account = {"samples_in": 1, "samples_packed": 1, "tokens_in": 3, "tokens_stored": 3, "sequences": 1}
    text = run("dump", write(folder / "a.tpk", {"account": account}))
    assert text.count("  packed ") == 1, text


def lost_targets_are_shown_whatever_lost_them(folder):
    account = {"samples_in": 1, "samples_packed": 1, "tokens_in": 3, "tokens_stored": 3, "sequences": 1}
    shown = {n: run("dump", write(folder / "a.tpk", {"account": {**account, "labels_lost": n}})) for n in (0, 1, 4000)}
    assert "lost" not in shown[0], shown[0]
    assert "\n  1 training target was lost\n" in shown[1], shown[1]
    assert "\n  4,000 training targets were lost\n" in shown[4000], shown[4000]


def limited(megabytes, *arguments):
    """tokpack with so much address space and no more."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return subprocess.run([str(TOKPACK), *map(str, arguments)], capture_output=True, preexec_fn=limit)


def what_cannot_be_mapped_is_read_with_a_warning(folder):
    if limited(70, "--version").returncode != 0:
        return "this build cannot run in 70 MB of address space"
    # 80 MB of tokens: 40 million of two bytes, in samples of 1000 and a separator.
    (folder / "a.bin").write_bytes((b"\1\0" * 999 + b"\2\0") * 40_000)
    run("pack", folder / "a.bin", "-o", folder / "a.tpk", "--capacity", 1000, "--array-type", "u16", "--document-end", 2)
    (folder / "a.bin").unlink()
    mapped, piecewise = (subprocess.run([str(TOKPACK), "stats", str(folder / "a.tpk")], capture_output=True),
                         limited(70, "stats", folder / "a.tpk"))
    assert mapped.returncode == piecewise.returncode == 0, piecewise
    assert mapped.stderr == b"", mapped.stderr
    assert piecewise.stdout == mapped.stdout
    assert piecewise.stderr.decode() == (f"tokpack: warning: {folder}/a.tpk: the system does not map this file; reading it "
                                         "piece by piece\n"), piecewise.stderr


main([a_file_without_an_account_shows_none, an_account_is_shown_once, lost_targets_are_shown_whatever_lost_them,
      what_cannot_be_mapped_is_read_with_a_warning])
