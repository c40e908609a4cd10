#!/usr/bin/env python3
"""The holdout: chosen by each sample's tokens alone, complete, disjoint, and both files or neither.

    holdout.py build/tools/tokpack
"""
import json
import random

from support import main, records, run


def make(path, samples):
    path.write_text("".join(json.dumps({"input_ids": s}) + "\n" for s in samples))
    return path


def samples_of(seed, n):
    rng = random.Random(seed)
    return [[rng.randrange(1000) for _ in range(rng.randrange(1, 40))] for _ in range(n)]


def split(folder, path, *options, percent=10):
    train, held = folder / "train.tpk", folder / "held.tpk"
    out = json.loads(run("pack", path, "-o", train, "--capacity", 64, "--holdout", percent, "--holdout-out", held,
                         "--json", "--force", *options))
    run("verify", train, held)
    return out, *([r["input_ids"] for r in records(run("export", f))] for f in (train, held))


def the_two_files_share_out_all_samples_and_count_each_other(folder):
    samples = samples_of(1, 3000)
    out, train, held = split(folder, make(folder / "a.jsonl", samples))
    assert sorted(train + held) == sorted(samples)
    assert out["samples_packed"] == len(train) and out["samples_held_out"] == len(held), out
    assert out["holdout"]["samples_packed"] == len(held), out
    assert out["holdout"]["samples_held_out"] == len(train), out
    assert out["tokens_held_out"] == sum(map(len, held)), out
    # 10 % of 3000 within five standard deviations of the binomial distribution.
    assert abs(len(held) - 300) < 5 * 16.5, len(held)


def the_choice_stays_when_data_grows_moves_or_is_stored_wider(folder):
    samples = samples_of(2, 1000)
    _, _, held = split(folder, make(folder / "a.jsonl", samples))
    chosen = {tuple(s) for s in held}
    more = samples + samples_of(3, 500)
    random.Random(4).shuffle(more)
    _, _, held = split(folder, make(folder / "b.jsonl", more), "--token-type", "u32", "--strategy", "next-fit")
    assert {tuple(s) for s in held} & {tuple(s) for s in samples} == chosen


def a_larger_share_contains_the_smaller_one(folder):
    path = make(folder / "a.jsonl", samples_of(5, 1000))
    _, _, small = split(folder, path, percent=5)
    _, _, large = split(folder, path, percent="12.5")
    assert {tuple(s) for s in small} < {tuple(s) for s in large}


def groups_stay_whole(folder):
    rng = random.Random(6)
    lines = []
    for g in range(600):
        for role in ("chosen", "rejected"):
            lines.append({"input_ids": [rng.randrange(1000) for _ in range(rng.randrange(1, 20))], "group": f"g{g}",
                          "role": role})
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    split(folder, path, percent=20)
    for name in ("train.tpk", "held.tpk"):
        found = records(run("export", folder / name))
        sizes = {}
        for record in found:
            sizes[record["group"]] = sizes.get(record["group"], 0) + 1
        assert found and set(sizes.values()) == {2}, name


def both_files_number_samples_as_the_input_does(folder):
    samples = samples_of(7, 200)
    split(folder, make(folder / "a.jsonl", samples), percent=30)
    for name in ("train.tpk", "held.tpk"):
        dump = json.loads(run("dump", folder / name, "--json"))
        for p in range(dump["packs"]):
            pack = json.loads(run("dump", folder / name, "--pack", p, "--json"))
            for s, source in enumerate(pack["sources"]):
                tokens = pack["tokens"][pack["cu_seqlens"][s]:pack["cu_seqlens"][s + 1]]
                assert tokens == samples[source], (name, p, s)


def neither_file_appears_when_one_cannot_be_made(folder):
    path = make(folder / "a.jsonl", samples_of(8, 100) + [[1] * 65])
    for options in (["-o", folder / "t.tpk", "--holdout-out", folder / "h.tpk"],
                    ["-o", folder / "t.tpk", "--holdout-out", folder / "none/h.tpk"],
                    ["-o", folder / "none/t.tpk", "--holdout-out", folder / "h.tpk"]):
        run("pack", path, "--capacity", 64, "--holdout", 10, *options, code=3)
        assert [p.name for p in folder.iterdir()] == ["a.jsonl"], list(folder.iterdir())


def an_old_holdout_survives_the_failure_of_the_main_file(folder):
    path = make(folder / "a.jsonl", samples_of(9, 100) + [[1] * 65])
    (folder / "h.tpk").write_text("old")
    run("pack", path, "--capacity", 64, "--holdout", 10, "-o", folder / "t.tpk", "--holdout-out", folder / "h.tpk",
        "--force", code=3)
    assert sorted(p.name for p in folder.iterdir()) == ["a.jsonl", "h.tpk"]
    assert (folder / "h.tpk").read_text() == "old"


def one_file_for_both_is_refused(folder):
    path = make(folder / "a.jsonl", samples_of(10, 10))
    run("pack", path, "--capacity", 64, "--holdout", 10, "-o", folder / "t.tpk", "--holdout-out",
        f"{folder}/./t.tpk", code=2)


def the_share_of_a_known_sample_is_decided_by_its_hash(folder):
    # XXH3-64 (libxxhash 0.8.1) of the ids as u32 LE, over 2^64, in per cent: [1] 85.5502, [2] 44.1247,
    # [1, 2, 3] 42.0890, [7] 34.2503.
    path = make(folder / "a.jsonl", [[1], [2], [1, 2, 3], [7]])
    for percent, expected in ((34.2, []), (34.3, [[7]]), (42, [[7]]), (42.1, [[1, 2, 3], [7]]),
                              (85.55, [[2], [1, 2, 3], [7]]), (85.551, [[1], [2], [1, 2, 3], [7]])):
        _, _, held = split(folder, path, percent=percent)
        assert held == expected, (percent, held)


main([the_two_files_share_out_all_samples_and_count_each_other,
      the_choice_stays_when_data_grows_moves_or_is_stored_wider, a_larger_share_contains_the_smaller_one,
      groups_stay_whole, both_files_number_samples_as_the_input_does, neither_file_appears_when_one_cannot_be_made,
      an_old_holdout_survives_the_failure_of_the_main_file, one_file_for_both_is_refused,
      the_share_of_a_known_sample_is_decided_by_its_hash])
