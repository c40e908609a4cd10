#!/usr/bin/env python3
"""What an export gives back, what it cannot give back and says so, and how long it takes.

    export_back.py build/tools/tokpack
"""
import json
import os
import subprocess
import sys

from support import SOURCE, TOKPACK, main, records, run

sys.path.insert(0, str(SOURCE / "tests/support"))
from tpk_encode import Column, dataset, seq  # noqa: E402

ROLE = Column("role", "u8", "sequence", [0, 1, 2])
BYTES = Column("b", "bytes", "sequence", ["c3ff", "c3bc", "00c3"], width=2)


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


def a_token_column_without_a_row_for_the_restored_token_is_warned_of(folder):
    pack(folder, [{"input_ids": [1, 2, 3], "x": [7, 8, 9]}, {"input_ids": [4, 5], "x": [1, 2]}], "--capacity", 8,
         "--tail", "input-target", "--column", "x:u8@token")
    out, errors = exported(folder / "in.tpk")
    assert out == [{"input_ids": [1, 2, 3], "x": [7, 8]}, {"input_ids": [4, 5], "x": [1]}], out
    assert "no row for the restored last token of 2 samples" in errors, errors


def bytes_columns_come_back_as_the_text_that_pack_read(folder):
    lines = [{"input_ids": [1, 2], "word": "a\u00fcb", "mark": ["\"\\", "\u0000\n"]},
             {"input_ids": [3], "word": "0x41", "mark": ["\u001b\u007f"]}]
    columns = ("--column", "word:bytesx4@sequence", "--column", "mark:bytesx2@token")
    first = pack(folder, lines, "--capacity", 8, *columns)
    out, errors = exported(folder / "in.tpk")
    assert out == lines and errors == "", (out, errors)
    assert pack(folder, out, "--capacity", 8, *columns, name="again")["digest"] == first["digest"]
    # The dump shows bytes as hex digits, whatever they are.
    shown = json.loads(run("dump", folder / "in.tpk", "--pack", 0, "--json"))
    assert shown["columns"]["word"][0] == "61c3bc62", shown


def a_dump_of_a_large_pack_takes_little_memory(folder):
    # As values the numbers of this pack would take about half a GB.
    count = 6_000_000
    (folder / "in.jsonl").write_text('{"input_ids":[%s]}\n' % ",".join(["7"] * count))
    run("pack", folder / "in.jsonl", "-o", folder / "in.tpk", "--capacity", count)
    for part in ("--pack", "--sequence"):
        with open(folder / "dump.json", "wb") as out:
            process = subprocess.Popen([str(TOKPACK), "dump", str(folder / "in.tpk"), part, "0", "--json"], stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        assert usage.ru_maxrss < 300_000, f"{usage.ru_maxrss} kB"
    shown = json.loads((folder / "dump.json").read_text())
    assert len(shown["tokens"]) == count and set(shown["tokens"]) == {7}


def unlike_what_pack_writes(folder, columns, metadata):
    """An export of one pack of three samples with the columns."""
    data, _ = dataset([[seq([1, 2]), seq([3]), seq([4, 5])]], capacity=8, columns=columns, metadata=metadata).file.build()
    (folder / "in.tpk").write_bytes(data)
    run("verify", folder / "in.tpk")
    return exported(folder / "in.tpk")


def a_role_of_more_than_256_bytes_comes_as_its_number(folder):
    # Its name would stand in every sample.
    roles = ["r" * 256, "s" * 257, "user"]
    out, errors = unlike_what_pack_writes(folder, [ROLE], {"roles": roles})
    assert [record["role"] for record in out] == ["r" * 256, 1, "user"], out
    assert errors == (f"tokpack: warning: {folder}/in.tpk: 1 role is longer than 256 bytes and comes as a number\n"), errors


def a_role_without_a_name_comes_as_its_number(folder):
    out, errors = unlike_what_pack_writes(folder, [ROLE], {"roles": ["r"]})
    assert [record["role"] for record in out] == ["r", 1, 2], out
    assert errors == "", errors


def bytes_that_are_no_utf_8_come_as_hex_digits(folder):
    out, errors = unlike_what_pack_writes(folder, [BYTES], {})
    assert [record["b"] for record in out] == ["c3ff", "\u00fc", "00c3"], out
    assert errors == (f"tokpack: warning: {folder}/in.tpk: 2 values of bytes columns are no UTF-8 and stand as hex digits, "
                      "which pack does not read\n"), errors


main([a_role_of_more_than_256_bytes_comes_as_its_number, a_role_without_a_name_comes_as_its_number,
      bytes_that_are_no_utf_8_come_as_hex_digits,
      a_pack_of_many_sequences_takes_time_by_their_number, a_last_token_restored_from_another_label_is_warned_of,
      a_token_column_without_a_row_for_the_restored_token_is_warned_of,
      bytes_columns_come_back_as_the_text_that_pack_read,
      a_dump_of_a_large_pack_takes_little_memory])
