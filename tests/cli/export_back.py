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


main([a_pack_of_many_sequences_takes_time_by_their_number])
