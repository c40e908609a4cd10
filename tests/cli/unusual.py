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


main([a_file_without_an_account_shows_none, an_account_is_shown_once, lost_targets_are_shown_whatever_lost_them])
