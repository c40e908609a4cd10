#!/usr/bin/env python3
"""Batches of 8 x 4096 on a warm file without worker processes, beside what people use today.

    loaders.py [--packs 2000]

Contenders, in alternating blocks of consecutive batches:
  tokpack, threads 0 and 1   ids, labels, position ids, int64, shuffled, from the file
  dataloader                 torch DataLoader, no workers, shuffled, over packs as torchtune keeps them: int64 in memory
  stack                      torch.stack of those packs, no loader at all
  trl                        TRL's packed dataset through its padding-free collator
  torchtune                  its PackedDataset form with the dense mask: padded_collate_packed
  tokpack with mask          the same rows, the mask written into a reused buffer
"""

import argparse
import itertools
import os

import numpy as np
import torch

import common

ROWS, CAPACITY = 8, 4096
os.environ.setdefault("TQDM_DISABLE", "1")


def torchtune_packs(path):
    """All packs of the file as torchtune 0.6.1's PackedDataset keeps them: three int64 tensors and the sequence
    lengths, the pads as one more sequence."""
    loader, packs = common.Loader(path, 1, CAPACITY, 0, shuffle=False), []
    for pack in range(loader.count):
        batch, cu_seqlens = loader.next(), loader.boundaries(pack)
        lengths, pads = np.diff(cu_seqlens).tolist(), CAPACITY - int(cu_seqlens[-1])
        lengths += [pads] if pads else []
        ids = batch["input_ids"][0].clone()
        labels = ids.clone()
        labels[CAPACITY - pads:] = -100
        packs.append({"tokens": ids, "labels": labels, "seq_lens": torch.tensor(lengths),
                      "input_pos": torch.from_numpy(np.concatenate([np.arange(n) for n in lengths]))})
    loader.close()
    return packs


def endless(make):
    """next() over and over: begins again at the end of an epoch."""
    iterator = itertools.chain.from_iterable(make() for _ in itertools.count())
    return lambda: next(iterator)


def trl_loader(lengths, tokens):
    """TRL's own packing of the same samples, its collator, a shuffled DataLoader without workers."""
    import datasets
    import pyarrow as pa
    from trl import pack_dataset
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    datasets.disable_progress_bars()
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    column = pa.ListArray.from_arrays(pa.array(offsets), pa.array(tokens.astype(np.int32)))
    packed = pack_dataset(datasets.Dataset(pa.table({"input_ids": column})), CAPACITY, "bfd")
    collate = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
    return torch.utils.data.DataLoader(packed, batch_size=ROWS, shuffle=True, collate_fn=collate, drop_last=True)


def check_same_work(path, packs, attention_mask):
    """One batch of ours beside the same packs of theirs: ids, positions, mask, and labels but for first tokens."""
    from torchtune.data import padded_collate_packed

    loader = common.Loader(path, ROWS, CAPACITY, 0, intervals=True)
    ours = loader.next()
    theirs = padded_collate_packed([packs[int(pack)] for pack in loader.packs])
    assert torch.equal(ours["input_ids"], theirs["tokens"])
    assert torch.equal(ours["position_ids"], theirs["input_pos"])
    trained = ours["labels"] != -100
    assert torch.equal(ours["labels"][trained], theirs["labels"][trained])
    assert torch.equal(attention_mask(ours["lo"]).squeeze(1), theirs["mask"])
    loader.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packs", type=int, default=2000, help="packs in memory and in the file, about")
    wanted = parser.parse_args().packs
    torch.set_num_threads(1)  # on a busy machine, threads that spin on each other cost torchtune up to 20 x
    from torchtune.data import padded_collate_packed
    from torchtune.modules import attention_utils

    assert not attention_utils._SUPPORTS_FLEX_ATTENTION  # on the CPU it makes the dense mask
    operators = common.operators()

    lengths = common.made_up_lengths(wanted * CAPACITY // 499, 500, seed=3)
    path, tokens = common.pack("loaders", lengths, CAPACITY)
    packs = torchtune_packs(path)
    check_same_work(path, packs, operators.attention_mask)

    ours = {threads: common.Loader(path, ROWS, CAPACITY, threads) for threads in (0, 1)}
    keys = ("tokens", "labels", "input_pos")

    def stack(batch):
        return {key: torch.stack([pack[key] for pack in batch]) for key in keys}

    def data_loader(collate):
        return endless(lambda: torch.utils.data.DataLoader(packs, batch_size=ROWS, shuffle=True, collate_fn=collate,
                                                           drop_last=True))

    random = np.random.default_rng(5)
    chosen = itertools.cycle([[packs[i] for i in random.integers(0, len(packs), ROWS)] for _ in range(500)])
    seconds = common.blocks({
        "tokpack, threads 0": ours[0].next,
        "tokpack, threads 1": ours[1].next,
        "dataloader": data_loader(stack),
        "stack": lambda: stack(next(chosen)),
    }, calls=400)

    trl_batches = trl_loader(lengths, tokens)
    trl = endless(lambda: trl_batches)
    seconds |= common.blocks({"trl": trl}, calls=24, count=3)
    trl_tokens = sum(trl()["input_ids"].numel() for _ in range(16)) / 16

    masked = common.Loader(path, ROWS, CAPACITY, 0, intervals=True)
    mask = torch.zeros(ROWS, 1, CAPACITY, CAPACITY, dtype=torch.bool)
    seconds |= common.blocks({
        "tokpack with mask": lambda: operators.attention_mask(masked.next()["lo"], out=mask),
        "torchtune with mask": data_loader(padded_collate_packed),
    }, calls=16, count=3)

    best = min(seconds["tokpack, threads 0"], seconds["tokpack, threads 1"])
    tokens_of_ours = int(lengths.sum()) / len(packs) * ROWS
    common.report("loaders", [{"name": name, "us_per_batch": taken * 1e6} for name, taken in seconds.items()] + [{
        "name": "ratios",
        "packs": len(packs),
        "over_dataloader": seconds["dataloader"] / best,
        "over_stack": seconds["stack"] / best,
        "over_trl_in_tokens_per_second": tokens_of_ours / best / (trl_tokens / seconds["trl"]),
        "over_torchtune_with_mask": seconds["torchtune with mask"] / seconds["tokpack with mask"],
    }])


if __name__ == "__main__":
    main()
