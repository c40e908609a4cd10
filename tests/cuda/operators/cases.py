"""Packed rows of every kind, and their masks by PyTorch's formula: broadcast comparisons of what each position
is, from the words of the conventions, without intervals."""

import random

import torch

FAMILIES = ["causal", "bidirectional", "sliding_window", "prefix_lm"]
PADS = ["segment", "self", "none", "last"]
# What lies around and between cells: bytes that no form has.
POISON = 0xA5
# dtype, options, an integer of its width, the bits of an attended cell and of a masked one.
FORMS = [
    (torch.bool, {}, torch.uint8, 1, 0),
    (torch.bool, {"inverted": True}, torch.uint8, 0, 1),
    (torch.float32, {}, torch.int32, 0, 0xFF800000 - (1 << 32)),
    (torch.float32, {"lowest": True}, torch.int32, 0, 0xFF7FFFFF - (1 << 32)),
    (torch.bfloat16, {}, torch.int16, 0, 0xFF80 - (1 << 16)),
    (torch.bfloat16, {"lowest": True}, torch.int16, 0, 0xFF7F - (1 << 16)),
    (torch.float16, {}, torch.int16, 0, 0xFC00 - (1 << 16)),
    (torch.float16, {"lowest": True}, torch.int16, 0, 0xFBFF - (1 << 16)),
]


def int32(values, device):
    return torch.tensor(values, dtype=torch.int32, device=device)


def boundaries(lengths):
    cu = [0]
    for length in lengths:
        cu.append(cu[-1] + length)
    return cu


class Case:
    """A batch of rows: `lengths` of each one's sequences, in `positions`."""

    def __init__(self, lengths, positions, family="causal", pads="segment", window=0, prefixes=None):
        self.lengths, self.positions, self.family, self.pads = lengths, positions, family, pads
        self.window, self.prefixes = window, prefixes

    def __str__(self):
        return f"S = {self.positions}, {self.family}, pads {self.pads}"

    def cu_seqlens(self, device):
        rows = [boundaries(row) for row in self.lengths]
        most = max(len(row) for row in rows)
        return int32([row + row[-1:] * (most - len(row)) for row in rows], device)

    def options(self, device):
        options = {"family": self.family, "pads": self.pads}
        if self.family == "sliding_window":
            options["window"] = self.window
        if self.family == "prefix_lm":
            most = max(len(row) for row in self.lengths)
            options["prefixes"] = int32([row + [0] * (most - len(row)) for row in self.prefixes], device)
        return options

    def intervals(self, operators, device):
        return operators.row_intervals(self.cu_seqlens(device), self.positions, **self.options(device))


def random_lengths(rng, positions, full):
    """Lengths of a row with pads behind them, or of a full one; short and long ones."""
    target = positions if full else rng.randint(positions // 2, positions - positions // 8)
    lengths = []
    while (left := target - sum(lengths)) > 0:
        lengths.append(min(left, rng.choice([1, 2, rng.randint(1, 16), rng.randint(1, max(1, positions // 3))])))
    return lengths


def cases_of(positions):
    """All families and pads: a row with pads, a full one, one of pads alone."""
    for family in FAMILIES:
        for pads in PADS:
            rng = random.Random(f"{positions} {family} {pads}")
            lengths = [random_lengths(rng, positions, False), random_lengths(rng, positions, True), []]
            prefixes = [[rng.randint(0, length) for length in row] for row in lengths]
            yield Case(lengths, positions, family, pads, rng.randint(1, max(1, positions // 5)), prefixes)


def formula(case, device):
    """bool [B,S,S] on the device."""
    sequence, local, prefix = [], [], []
    for lengths, prefixes in zip(case.lengths, case.prefixes or [[0] * len(row) for row in case.lengths]):
        each = torch.tensor(lengths, dtype=torch.int64)
        tokens, count = sum(lengths), len(lengths)
        pads = torch.arange(case.positions - tokens)
        begins = torch.tensor(boundaries(lengths)[:-1], dtype=torch.int64)
        here = torch.arange(tokens) - begins.repeat_interleave(each)
        of_pads = torch.zeros_like(pads)
        if case.pads == "last" and lengths:
            of_pads, place, seen = of_pads + count - 1, pads + lengths[-1], of_pads + prefixes[-1]
        elif case.pads in ("self", "none"):
            of_pads, place, seen = pads + count, of_pads, of_pads
        else:
            of_pads, place, seen = of_pads + count, pads, of_pads
        sequence.append(torch.cat([torch.arange(count).repeat_interleave(each), of_pads]))
        local.append(torch.cat([here, place]))
        prefix.append(torch.cat([torch.tensor(prefixes, dtype=torch.int64).repeat_interleave(each), seen]))
    sequence, local, prefix = (torch.stack(rows).to(torch.int32).to(device) for rows in (sequence, local, prefix))
    tokens = int32([sum(row) for row in case.lengths], device)
    real = torch.arange(case.positions, device=device) < tokens[:, None]

    attended = sequence[:, :, None] == sequence[:, None, :]
    if case.family == "prefix_lm":
        attended &= (local[:, None, :] < prefix[:, :, None]) | (local[:, None, :] <= local[:, :, None])
    elif case.family != "bidirectional":
        attended &= local[:, None, :] <= local[:, :, None]
    if case.family == "sliding_window":
        attended &= local[:, None, :] > (local - case.window)[:, :, None]
    attended &= ~real[:, :, None] | real[:, None, :]  # real rows never attend a pad
    if case.pads == "none":
        attended &= real[:, :, None]
    return attended


def bits_of(attended, form):
    """The mask's cells as integers."""
    _, _, integer, kept, masked = form
    return torch.full_like(attended, masked, dtype=integer).masked_fill_(attended, kept)


def name_of(form):
    dtype, options, *_ = form
    return " ".join([str(dtype).removeprefix("torch."), *options])


class Strided:
    """[B,1,S,S] or [B,S,S] in poisoned memory: `before` elements first, `apart` behind each row, `between`
    behind each batch, and some at the end."""

    LAYOUTS = [(0, 0, 0), (1, 1, 0), (3, 13, 5), (0, 16, 64), (7, 0, 3)]

    def __init__(self, form, batch, positions, layout, device, dimensions=4):
        dtype, _, integer, *_ = form
        before, apart, between = layout
        row = positions + apart
        of_batch = positions * row + between
        count = before + batch * of_batch + 64
        width = torch.empty(0, dtype=integer).element_size()
        self.memory = torch.full((count * width,), POISON, dtype=torch.uint8, device=device).view(integer)
        self.shape = (batch, 1, positions, positions) if dimensions == 4 else (batch, positions, positions)
        strides = (of_batch, of_batch, row, 1) if dimensions == 4 else (of_batch, row, 1)
        self.strides, self.before = strides, before
        self.out = self.cells(self.memory).view(dtype)

    def cells(self, memory):
        return memory.as_strided(self.shape, self.strides, self.before)

    def fault(self, bits, words):
        """Raises unless the cells are `bits` and everything else is poison still."""
        expected = torch.full_like(self.memory.view(torch.uint8), POISON).view(self.memory.dtype)
        self.cells(expected).copy_(bits.view(self.shape))
        expect_equal(self.memory, expected, words)


def poison(*shapes_and_dtypes):
    """Leaves poison in the memory that the next allocations of these sizes will have from torch's allocator."""
    held = []
    for shape, dtype, device in shapes_and_dtypes:
        width = torch.empty(0, dtype=dtype).element_size()
        cells = torch.Size(shape).numel()
        held.append(torch.full((cells * width,), POISON, dtype=torch.uint8, device=device))
    del held


def expect_equal(made, expected, words):
    if torch.equal(made, expected):
        return
    assert made.shape == expected.shape, f"{words}: shape {tuple(made.shape)}, expected {tuple(expected.shape)}"
    differs = (made != expected).nonzero()
    at = tuple(differs[0].tolist())
    raise AssertionError(
        f"{words}: {len(differs)} cells differ, the first at {at}: {made[at].item()}, expected {expected[at].item()}"
    )
