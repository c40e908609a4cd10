"""What the operators write, on one device: against their CPU implementation and against PyTorch's formula."""

import itertools

import torch
from cases import FORMS, PADS, Case, Strided, bits_of, cases_of, expect_equal, formula, name_of, poison
from report import NotRun

from tokpack import torch_ops

# Above it the CPU's masks are compared for one choice of pads alone: they take long to make and to copy.
CPU_POSITIONS = 2000
BLOCK_SIZES = [128, (64, 32), (128, 256), 16]
INT = torch.int32


def intervals_equal_the_cpus(device, sizes):
    count = 0
    for case in itertools.chain.from_iterable(map(cases_of, sizes)):
        shape = (len(case.lengths), case.positions)
        poison((shape, INT, device), (shape, INT, device))
        made = case.intervals(torch_ops, device)
        for ours, cpus, name in zip(made, case.intervals(torch_ops, "cpu"), ("lo", "hi")):
            assert ours.dtype == torch.int32 and ours.device == torch.device(device), f"{case}: {name} is {ours.device}"
            expect_equal(ours.cpu(), cpus, f"{case}: {name}")
        # Boundaries of one dimension are one row.
        alone = Case(case.lengths[:1], case.positions, case.family, case.pads, case.window, case.prefixes[:1])
        options = alone.options(device)
        if "prefixes" in options:
            options["prefixes"] = options["prefixes"][0]
        lo, hi = torch_ops.row_intervals(alone.cu_seqlens(device)[0], case.positions, **options)
        expect_equal(lo, made[0][:1], f"{case}: lo of one dimension")
        expect_equal(hi, made[1][:1], f"{case}: hi of one dimension")
        count += 2
    return count


def masks_equal_the_formula(device, sizes):
    """Every form into poisoned memory with cells apart, and as a new tensor; with and without hi."""
    count = 0
    layouts = itertools.cycle(Strided.LAYOUTS)
    for turn, case in enumerate(itertools.chain.from_iterable(map(cases_of, sizes))):
        attended = formula(case, device)
        lo, hi = case.intervals(torch_ops, device)
        his = [hi, None] if case.family in ("causal", "sliding_window") else [hi]
        batch = len(case.lengths)
        for number, form in enumerate(FORMS):
            dtype, options, integer, *_ = form
            bits = bits_of(attended, form)
            layout, given = next(layouts), his[(number + turn) % len(his)]
            target = Strided(form, batch, case.positions, layout, device, dimensions=3 + (number + turn // 2) % 2)
            returned = torch_ops.attention_mask(lo, given, out=target.out, **options)
            assert returned is target.out
            target.fault(bits, f"{case}, {name_of(form)}, layout {layout}, hi {given is not None}")
            del target
            shape = (batch, 1, case.positions, case.positions)
            poison((shape, dtype, device))
            made = torch_ops.attention_mask(lo, given, dtype=dtype, **options)
            assert made.dtype == dtype and made.shape == shape and made.device == lo.device
            expect_equal(made.view(integer)[:, 0], bits, f"{case}, {name_of(form)}, a new tensor")
            count += 2
    return count


def masks_equal_the_cpus(device, sizes):
    count = 0
    for case in itertools.chain.from_iterable(map(cases_of, sizes)):
        large = case.positions > CPU_POSITIONS
        if large and case.pads != PADS[0]:
            continue
        here, there = case.intervals(torch_ops, device), case.intervals(torch_ops, "cpu")
        for form in FORMS if case.family == "causal" or not large else FORMS[:1]:
            dtype, options, integer, *_ = form
            made = torch_ops.attention_mask(*here, dtype=dtype, **options)
            cpus = torch_ops.attention_mask(*there, dtype=dtype, **options)
            expect_equal(made.view(integer), cpus.view(integer).to(device), f"{case}, {name_of(form)}")
            count += 1
    return count


def lists_by_formula(attended, query, key):
    """Of each block, whether it is listed in part, and whether it is attended throughout."""
    batch, positions, _ = attended.shape
    queries, keys = -(-positions // query), -(-positions // key)
    padded = torch.zeros(batch, queries * query, keys * key, dtype=torch.bool, device=attended.device)
    padded[:, :positions, :positions] = attended
    blocks = padded.view(batch, queries, query, keys, key)
    whole = blocks.all(4).all(2)
    return blocks.any(4).any(2) & ~whole, whole


def expect_lists(numbers, indices, listed, words):
    expect_equal(numbers[:, 0], listed.sum(-1).to(torch.int32), f"{words}: numbers")
    # A stable sort puts the listed blocks first, ascending.
    order = listed.to(torch.int8).argsort(dim=-1, descending=True, stable=True).to(torch.int32)
    behind = torch.arange(listed.shape[-1], device=listed.device) >= listed.sum(-1, keepdim=True)
    expect_equal(indices[:, 0], order.masked_fill(behind, 0), f"{words}: indices")


def block_lists_equal_both(device, sizes):
    count = 0
    for case in itertools.chain.from_iterable(map(cases_of, sizes)):
        attended = formula(case, device)
        here, there = case.intervals(torch_ops, device), case.intervals(torch_ops, "cpu")
        for size in BLOCK_SIZES:
            query, key = (size, size) if isinstance(size, int) else size
            words = f"{case}, blocks {size}"
            cpus = torch_ops.block_lists(*there, block_size=size)
            poison(*((list_.shape, INT, device) for list_ in cpus))
            made = torch_ops.block_lists(*here, block_size=size)
            for ours, theirs in zip(made, cpus):
                expect_equal(ours.cpu(), theirs, f"{words}, against the CPU's")
            for (numbers, indices), listed in zip((made[:2], made[2:]), lists_by_formula(attended, query, key)):
                expect_lists(numbers, indices, listed, words)
            given = tuple(torch.full_like(list_, 77) for list_ in made)
            torch_ops.block_lists(*here, block_size=size, out=given)
            for numbers, indices, fresh in ((given[0], given[1], made[1]), (given[2], given[3], made[3])):
                behind = torch.arange(indices.shape[-1], device=device) >= numbers[..., None]
                expect_equal(indices, fresh.masked_fill(behind, 77), f"{words}, given lists")
            count += 2
    return count


def masks_of_more_than_4_gib(device):
    """Cells beyond 2^32 bytes, sampled; refused unless forced."""
    positions = 65_600
    case = Case([[30_000, 35_000]], positions, "bidirectional", "self")
    lo, hi = case.intervals(torch_ops, device)
    try:
        torch_ops.attention_mask(lo, hi)
    except RuntimeError as error:
        assert "tokpack: " in str(error), error
    else:
        raise AssertionError("a mask of 4.3 GB was made without force")
    if torch.device(device).type != "cuda":
        return 1
    if torch.cuda.mem_get_info(device)[0] < (12 << 30):
        raise NotRun("less than 12 GiB are free on the device; without force it was refused, as it must be")
    made = torch_ops.attention_mask(lo, hi, force=True)[0, 0]
    at = torch.arange(positions, device=device)
    rows = [0, 1, 29_999, 30_000, 32_736, 65_470, 65_471, 65_472, 65_599]
    for row in rows:
        expect_equal(made[row], (at >= lo[0, row]) & (at <= hi[0, row]), f"row {row} of {positions}")
    # Every row's number of cells, so that no row is left as it was.
    expect_equal(made.sum(-1, dtype=torch.int32), hi[0] - lo[0] + 1, "attended cells of a row")
    return 1 + len(rows) + positions
