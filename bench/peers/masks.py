#!/usr/bin/env python3
"""Masks on the CPU beside PyTorch's and torchtune's, one thread, documents of gamma lengths (mean 100), rows full.

    masks.py

Dense bool masks, B = 4, S = 2048 / 4096 / 8192: tokpack's operator into a reused buffer, PyTorch's broadcast
formula, torchtune's create_block_causal_mask as it is. FlexAttention, B = 1, S = 32768: the four lists, and a
BlockMask from them, beside a compiled create_block_mask.
"""

import torch
from torch.nn.attention.flex_attention import create_block_mask

import common


def rows_of_documents(batch, positions, seed=1):
    """For each row its document lengths, which sum to `positions`."""
    lengths = iter(common.made_up_lengths(batch * positions // 20, 100, seed).tolist())
    rows = []
    for _ in range(batch):
        row = []
        while sum(row) < positions:
            row.append(min(next(lengths), positions - sum(row)))
        rows.append(row)
    return rows


def boundaries(rows):
    """int32 [B, N + 1], the last repeated to the row's end."""
    longest = max(map(len, rows))
    return torch.stack([torch.nn.functional.pad(torch.tensor(row), (1, longest - len(row))).cumsum(0)
                        for row in rows]).to(torch.int32)


def document_ids(rows):
    return torch.stack([torch.repeat_interleave(torch.arange(len(row), dtype=torch.int32), torch.tensor(row))
                        for row in rows])


def dense(operators, positions):
    from torchtune.modules.attention_utils import create_block_causal_mask

    rows = rows_of_documents(4, positions)
    ids, lengths = document_ids(rows), [torch.tensor(row) for row in rows]
    lo, _ = operators.row_intervals(boundaries(rows), positions)
    mask = torch.zeros(4, 1, positions, positions, dtype=torch.bool)

    def formula():
        tril = torch.ones(positions, positions, dtype=torch.bool).tril()
        return ((ids[:, :, None] == ids[:, None, :]) & tril)[:, None]

    operators.attention_mask(lo, out=mask)
    assert torch.equal(mask, formula())
    assert torch.equal(mask.squeeze(1), create_block_causal_mask(lengths))
    seconds = common.blocks({
        "tokpack": lambda: operators.attention_mask(lo, out=mask),
        "formula": formula,
        "torchtune": lambda: create_block_causal_mask(lengths),
    }, calls=16, count=3)
    return {"name": f"bool mask, B = 4, S = {positions}", "ms": seconds["tokpack"] * 1e3,
            "formula_ms": seconds["formula"] * 1e3, "torchtune_ms": seconds["torchtune"] * 1e3,
            "over_formula": seconds["formula"] / seconds["tokpack"],
            "over_torchtune": seconds["torchtune"] / seconds["tokpack"]}


def blocks(operators, positions=32768):
    rows = rows_of_documents(1, positions)
    ids = document_ids(rows)
    lo, _ = operators.row_intervals(boundaries(rows), positions)
    lists = operators.block_lists(lo)

    def same_document(b, h, q, k):
        return (q >= k) & (ids[b, q] == ids[b, k])

    compiled_maker = torch.compile(create_block_mask)

    def compiled():
        return compiled_maker(same_document, 1, None, positions, positions, device="cpu")

    def from_lists():
        return operators.block_mask(lo, out=lists)

    assert torch.equal(compiled().to_dense(), from_lists().to_dense())
    seconds = common.blocks({
        "lists": lambda: operators.block_lists(lo, out=lists),
        "block mask": from_lists,
        "compiled": compiled,
    }, calls=16, count=3)
    return {"name": f"block lists, B = 1, S = {positions}", "lists_us": seconds["lists"] * 1e6,
            "block_mask_ms": seconds["block mask"] * 1e3, "compiled_ms": seconds["compiled"] * 1e3,
            "lists_over_compiled": seconds["compiled"] / seconds["lists"],
            "block_mask_over_compiled": seconds["compiled"] / seconds["block mask"]}


def main():
    torch.set_num_threads(1)
    operators = common.operators()
    common.report("masks", [dense(operators, positions) for positions in (2048, 4096, 8192)] + [blocks(operators)])


if __name__ == "__main__":
    main()
