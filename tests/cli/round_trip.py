#!/usr/bin/env python3
"""What goes in comes out: the export of real samples equals the input in input_ids and labels.

    round_trip.py build/tools/tokpack
"""
import json
import subprocess

from support import SOURCE, main, records, run

SHIPPED = SOURCE / "examples/data"
SHARED = SOURCE.parent / "shared/data/samples"


def read_input(path):
    if path.suffix == ".zst":
        return records(subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout.decode())
    return records(path.read_text())


def same(found, expected):
    """Equal in input_ids and, where the input has them, labels; empty samples are not stored."""
    expected = [r for r in expected if r["input_ids"]]
    assert len(found) == len(expected), f"{len(found)} samples, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(found, expected)):
        assert a["input_ids"] == b["input_ids"], f"input_ids of sample {i} differ"
        assert a.get("labels") == b.get("labels"), f"labels of sample {i} differ"


def pack_and_compare(folder, path, *options):
    run("pack", path, "-o", folder / "out.tpk", "--force", *options)
    run("verify", folder / "out.tpk")
    same(records(run("export", folder / "out.tpk")), read_input(path))
    return json.loads(run("dump", folder / "out.tpk", "--json"))


def quickstart_sft(folder):
    dump = pack_and_compare(folder, SHIPPED / "quickstart_sft.jsonl", "--capacity", 2048)
    assert dump["label_kind"] == "loss_mask" and dump["token_type"] == "u16", dump
    assert dump["samples"] == 400 and dump["tokens"] == 59897, dump
    assert dump["account"]["samples_packed"] == 400, dump["account"]


def quickstart_docs_split(folder):
    dump = pack_and_compare(folder, SHIPPED / "quickstart_docs.jsonl", "--capacity", 1024, "--overlong", "split")
    assert dump["label_kind"] == "all" and dump["tokens"] == 83589, dump
    assert dump["account"]["samples_split"] > 0, dump["account"]
    # Every sample's tokens but its first are targets: fragments carry tail labels.
    assert dump["targets"] == 83589 - 158, dump["targets"]


def quickstart_docs_concat(folder):
    dump = pack_and_compare(folder, SHIPPED / "quickstart_docs.jsonl", "--capacity", 512, "--strategy", "concat")
    assert dump["packs"] == -(-83589 // 512), dump["packs"]
    assert dump["targets"] == 83589 - 158, dump["targets"]


def quickstart_docs_input_target(folder):
    dump = pack_and_compare(folder, SHIPPED / "quickstart_docs.jsonl", "--capacity", 1024, "--overlong", "split",
                            "--tail", "input-target")
    assert dump["account"]["tokens_target_only"] == 158, dump["account"]
    assert dump["tokens"] == 83589 - 158, dump["tokens"]


def quickstart_sft_all_strategies(folder):
    for options in (["--strategy", "next-fit"], ["--max-sequences", 3], ["--align", 16], ["--token-type", "u32"]):
        pack_and_compare(folder, SHIPPED / "quickstart_sft.jsonl", "--capacity", 2048, *options)


def several_inputs_and_repeats(folder):
    sft = SHIPPED / "quickstart_sft.jsonl"
    run("pack", f"{sft}@2", sft, "-o", folder / "out.tpk", "--capacity", 2048)
    same(records(run("export", folder / "out.tpk")), read_input(sft) * 3)
    inputs = json.loads(run("dump", folder / "out.tpk", "--json"))["metadata"]["inputs"]
    assert [(i["name"], i["first_sample"], i["samples"]) for i in inputs] == [
        ("quickstart_sft.jsonl", 0, 800), ("quickstart_sft.jsonl", 800, 400)], inputs


def an_export_packs_to_the_same_digest(folder):
    sft = SHIPPED / "quickstart_sft.jsonl"
    first = json.loads(run("pack", sft, "-o", folder / "a.tpk", "--capacity", 2048, "--json"))
    run("export", folder / "a.tpk", "-o", folder / "a.jsonl")
    second = json.loads(run("pack", folder / "a.jsonl", "-o", folder / "b.tpk", "--capacity", 2048, "--json"))
    assert first["digest"] == second["digest"], (first["digest"], second["digest"])


def shared_samples(folder):
    if not SHARED.is_dir():
        return f"{SHARED} is not here"
    dump = pack_and_compare(folder, SHARED / "docs.jsonl.zst", "--capacity", 4096, "--overlong", "split")
    assert dump["samples"] == 3322 and dump["tokens"] == 1003050, dump
    dump = pack_and_compare(folder, SHARED / "sft.jsonl.zst", "--capacity", 8192)
    assert dump["samples"] == 1637 and dump["token_type"] == "u32" and dump["tokens"] == 659928, dump
    pack_and_compare(folder, SHARED / "sft.jsonl.zst", "--capacity", 1024, "--overlong", "split")
    return None


main([quickstart_sft, quickstart_docs_split, quickstart_docs_concat, quickstart_docs_input_target,
      quickstart_sft_all_strategies, several_inputs_and_repeats, an_export_packs_to_the_same_digest, shared_samples])
