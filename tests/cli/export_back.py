#!/usr/bin/env python3
"""What an export gives back, what it cannot give back and says so, and how long it takes.

    export_back.py build/tools/tokpack
"""
import json
import subprocess

from support import TOKPACK, main, records, run


def exported(path):
    """(records, standard error)."""
    done = subprocess.run([str(TOKPACK), "export", str(path)], capture_output=True, check=True, timeout=60)
    return records(done.stdout.decode()), done.stderr.decode()


def pack(folder, lines, *options, name="in"):
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return json.loads(run("pack", folder / f"{name}.jsonl", "-o", folder / f"{name}.tpk", "--json", *options))


def a_pack_of_many_sequences_takes_time_by_their_number(folder):
    # By its square this takes minutes.
    count = 200_000
    pack(folder, [{"input_ids": [i % 60_000]} for i in range(count)], "--capacity", 262144)
    out, _ = exported(folder / "in.tpk")
    assert len(out) == count
    assert all(record == {"input_ids": [i % 60_000]} for i, record in enumerate(out))


def a_last_token_restored_from_another_label_is_warned_of(folder):
    # No stored label differs from its token, so the file has a loss mask; the tail label does differ.
    pack(folder, [{"input_ids": [1, 2, 3], "labels": [-100, 2, 50000]}], "--capacity", 8, "--tail", "input-target")
    out, errors = exported(folder / "in.tpk")
    assert out == [{"input_ids": [1, 2, 50000], "labels": [-100, 2, 50000]}], out
    assert "the last token of 1 sample is restored from its label, and is another id wherever" in errors, errors
    pack(folder, [{"input_ids": [1, 2, 3]}], "--capacity", 8, "--tail", "input-target", name="plain")
    out, errors = exported(folder / "plain.tpk")
    assert out == [{"input_ids": [1, 2, 3]}] and errors == "", (out, errors)


main([a_pack_of_many_sequences_takes_time_by_their_number, a_last_token_restored_from_another_label_is_warned_of])
