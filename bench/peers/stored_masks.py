#!/usr/bin/env python3
"""The failure that tokpack began with: 2 million samples in packs of 4096, with a mask stored beside every pack.

    stored_masks.py [--samples 2000000]

Four ways to keep the same samples, bytes a pack computed and measured in a process of its own:
  masks stored    ids, labels and positions as int64 and a bool mask [4096, 4096]: measured on 64 packs, the whole computed
  no masks        torchtune 0.6.1's PackedDataset: measured on a part, the whole computed
  tokpack         the file, all of it; memory of 4 processes that read every pack
and what a batch of masks costs when it is made instead.
"""

import argparse
import json
import multiprocessing
import os
import pathlib

import numpy as np
import torch

import common

CAPACITY, MEAN, SEED = 4096, 116, 5
os.environ.setdefault("TQDM_DISABLE", "1")


def next_fit_packs(lengths):
    """Packs that a packer makes which closes a pack when the next sample does not fit, as torchtune does."""
    packs, room = 0, 0
    for length in lengths.tolist():
        if length > room:
            packs, room = packs + 1, CAPACITY
        room -= length
    return packs


def in_own_process(work, *arguments):
    """work(*arguments) in a fresh process: memory that it measures is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def stored_masks(count):
    """Anonymous MiB that `count` packs with masks take."""
    torch.set_num_threads(1)
    before, packs = common.memory_mib()[0], []
    tril = torch.ones(CAPACITY, CAPACITY, dtype=torch.bool).tril()
    for _ in range(count):
        ids = torch.ones(CAPACITY, dtype=torch.int64)
        packs.append({"tokens": ids, "labels": ids.clone(), "input_pos": ids.clone(), "mask": tril.clone()})
    return common.memory_mib()[0] - before


class Samples(torch.utils.data.Dataset):
    def __init__(self, lengths):
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, i):
        tokens = list(range(int(self.offsets[i + 1] - self.offsets[i])))
        return {"tokens": tokens, "labels": tokens}


def torchtune_packs(samples):
    """(packs, anonymous MiB, bytes of their tensors) of torchtune's PackedDataset over that many samples."""
    from torchtune.datasets import PackedDataset

    lengths = common.made_up_lengths(samples, MEAN, SEED)
    before = common.memory_mib()[0]
    dataset = PackedDataset(Samples(lengths), max_seq_len=CAPACITY)
    grown = common.memory_mib()[0] - before
    tensors = sum(value.numel() * value.element_size() for pack in dataset.packs for value in pack.values())
    return len(dataset.packs), grown, tensors


def pss_mib():
    """Proportional anonymous and file MiB of this process."""
    fields = {}
    for line in pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        fields[name] = int(value.split()[0]) / 1024
    return fields["Pss_Anon"], fields["Pss_File"] + fields["Pss_Shmem"]


def read_all(path, ready, go):
    """Reads every pack of the file; MiB that this added, while the others have it mapped as well."""
    loader = common.Loader(path, 1, CAPACITY, 0, shuffle=False)
    loader.next()
    before = pss_mib()
    for _ in range(loader.count - 1):
        loader.next()
    ready.wait()
    grown = tuple(now - then for now, then in zip(pss_mib(), before))
    go.wait()
    loader.close()
    return grown


def ours(path, ranks):
    """Per rank, (anonymous, file) proportional MiB grown by reading the whole file in `ranks` processes at once."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        ready, go = manager.Barrier(ranks), manager.Barrier(ranks)
        with context.Pool(ranks) as pool:
            return pool.starmap(read_all, [(path, ready, go)] * ranks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2_000_000)
    samples = parser.parse_args().samples
    torch.set_num_threads(1)
    lengths = common.made_up_lengths(samples, MEAN, SEED)
    theirs = next_fit_packs(lengths)

    on_part, part = 64, min(samples, 100_000)
    masked_mib = in_own_process(stored_masks, on_part)
    part_packs, part_mib, part_bytes = in_own_process(torchtune_packs, part)

    path, _ = common.pack("stored_masks", lengths, CAPACITY)
    file_bytes = path.stat().st_size
    packs = common.Loader(path, 1, CAPACITY, 0).count
    ranks = 4
    grown = ours(path, ranks)

    operators = common.operators()
    batch = common.Loader(path, 8, CAPACITY, 0, intervals=True)
    mask = torch.zeros(8, 1, CAPACITY, CAPACITY, dtype=torch.bool)
    seconds = common.blocks({"mask": lambda: operators.attention_mask(batch.next()["lo"], out=mask),
                             "fill": lambda: mask.fill_(True)}, calls=16, count=3)

    masked_bytes = 3 * 8 * CAPACITY + CAPACITY * CAPACITY
    common.report("stored_masks", [
        {"name": "masks stored", "packs": theirs, "bytes_per_pack": masked_bytes,
         "resident_bytes_per_pack": masked_mib * 2**20 / on_part, "whole_gb": masked_bytes * theirs / 1e9},
        {"name": "no masks (torchtune)", "packs": theirs, "bytes_per_pack": part_bytes / part_packs,
         "resident_bytes_per_pack": part_mib * 2**20 / part_packs,
         "whole_gb": part_mib * 2**20 / part_packs * theirs / 1e9},
        {"name": "tokpack", "packs": packs, "bytes_per_pack": file_bytes / packs, "whole_gb": file_bytes / 1e9,
         "bytes_per_token": file_bytes / float(lengths.sum()), "ranks": ranks,
         "anonymous_mib_per_rank": max(anonymous for anonymous, _ in grown),
         "file_mib_all_ranks": sum(file for _, file in grown)},
        {"name": "a batch of 8 masks of 4096 x 4096", "ms": seconds["mask"] * 1e3,
         "fill_with_a_constant_ms": seconds["fill"] * 1e3},
    ])


if __name__ == "__main__":
    main()
