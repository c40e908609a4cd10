"""Masks in the slowest, plainest way, from the words of the conventions: what the operators are compared with."""

import torch

PADS = ["segment", "self", "none", "last"]
FAMILIES = ["causal", "bidirectional", "sliding_window", "prefix_lm"]


def int32(values, device="cpu"):
    return torch.tensor(values, dtype=torch.int32, device=device)


def boundaries(lengths):
    total, cu = 0, [0]
    for length in lengths:
        total += length
        cu.append(total)
    return cu


def mask(lengths, positions, family="causal", pads="segment", window=0, prefixes=None):
    """bool [S,S] of one row, cell by cell."""
    sequence, local, prefix = [], [], []
    for s, length in enumerate(lengths):
        sequence += [s] * length
        local += range(length)
        prefix += [prefixes[s] if prefixes else 0] * length
    tokens = len(sequence)
    count = len(lengths)
    for pad in range(positions - tokens):
        if pads == "last" and lengths:
            sequence.append(count - 1)
            local.append(lengths[-1] + pad)
            prefix.append(prefixes[-1] if prefixes else 0)
        else:
            sequence.append(count + (pad if pads in ("self", "none") else 0))
            local.append(0 if pads in ("self", "none") else pad)
            prefix.append(0)
    out = torch.zeros(positions, positions, dtype=torch.bool)
    for r in range(positions):
        for c in range(positions):
            if sequence[r] != sequence[c] or (pads == "none" and r >= tokens):
                continue
            if c >= tokens > r:  # real rows never attend a pad
                continue
            i, j = local[r], local[c]
            out[r, c] = {
                "causal": j <= i,
                "bidirectional": True,
                "sliding_window": i - window < j <= i,
                "prefix_lm": j < prefix[r] or j <= i,
            }[family]
    return out


def rows_of(mask_2d):
    """"100/110/111" of a bool or int [S,S]."""
    return "/".join("".join(str(int(cell)) for cell in row) for row in mask_2d.tolist())
