"""Times: masks against PyTorch's own ways to fill the same buffer and to make the same mask. Contenders take turns
in blocks of calls, each block between two CUDA events; what counts is the median of the blocks."""

import random
import statistics
import time

import torch
from cases import Case, expect_equal

from tokpack import torch_ops

BLOCKS = 9


def race(contenders, calls, device):
    """Microseconds of a call, of each block, by name of the contender."""
    gpu = torch.device(device).type == "cuda"

    def block(call):
        if not gpu:
            started = time.perf_counter()
            for _ in range(calls):
                call()
            return (time.perf_counter() - started) * 1e6 / calls
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / calls

    for call in contenders.values():
        block(call)  # warm
    times = {name: [] for name in contenders}
    for _ in range(BLOCKS if gpu else 2):
        for name, call in contenders.items():
            times[name].append(block(call))
    return times


def tell(report, times, **fields):
    """A line for each contender; of_memset compares with zero_, where that took part."""
    memset = statistics.median(times["zero_"]) if "zero_" in times else None
    for name, blocks in times.items():
        median = statistics.median(blocks)
        line = {"what": name, **fields, "us": median, "us_min": min(blocks), "us_max": max(blocks)}
        if "bytes" in fields:
            line["gb_per_s"] = fields["bytes"] / median / 1000
        if memset:
            line["of_memset"] = memset / median
        report.time(**{key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in line.items()})
    return len(times)


def rows_of(batch, positions):
    """Causal rows of sequences of some hundred tokens, the last positions pads."""
    rng = random.Random(7)
    lengths = []
    for _ in range(batch):
        row, left = [], positions - positions // 100
        while left > 0:
            row.append(min(left, rng.randint(50, 1500)))
            left -= row[-1]
        lengths.append(row)
    return Case(lengths, positions)


def documents_of(case, device):
    """int32 [B,S], as PyTorch's formula needs them; the pads are the last document."""
    rows = []
    for row in case.lengths:
        each = torch.tensor([*row, case.positions - sum(row)])
        rows.append(torch.arange(len(each), dtype=torch.int32).repeat_interleave(each))
    return torch.stack(rows).to(device)


def broadcast_formula(documents):
    at = torch.arange(documents.shape[1], device=documents.device)
    return ((documents[:, :, None] == documents[:, None, :]) & (at[:, None] >= at[None, :]))[:, None]


def masks(report, device, batch, positions):
    """bool masks; the formula's is compared as well, since both are here."""
    case = rows_of(batch, positions)
    lo, _ = case.intervals(torch_ops, device)
    documents = documents_of(case, device)
    out = torch.empty(batch, 1, positions, positions, dtype=torch.bool, device=device)
    expect_equal(torch_ops.attention_mask(lo, out=out), broadcast_formula(documents), "the mask to be timed")
    contenders = {
        "zero_": out.zero_,  # cudaMemsetAsync
        "fill_": lambda: out.fill_(True),
        "attention_mask, out=": lambda: torch_ops.attention_mask(lo, out=out),
        "attention_mask, a new tensor": lambda: torch_ops.attention_mask(lo),
        "PyTorch's formula, eager": lambda: broadcast_formula(documents),
    }
    times = race(contenders, 10, device)
    return tell(report, times, form="bool", batch=batch, positions=positions, bytes=out.numel())


def additive_masks(report, device, batch, positions):
    lo, _ = rows_of(batch, positions).intervals(torch_ops, device)
    out = torch.empty(batch, 1, positions, positions, dtype=torch.bfloat16, device=device)
    contenders = {"zero_": out.zero_, "attention_mask, out=": lambda: torch_ops.attention_mask(lo, out=out, lowest=True)}
    times = race(contenders, 10, device)
    return tell(report, times, form="bfloat16", batch=batch, positions=positions, bytes=2 * out.numel())


def made_on_the_cpu(report, device, batch, positions):
    """Wall time of the mask made by all threads of the CPU in pinned memory, and copied; and of the copy alone."""
    gpu = torch.device(device).type == "cuda"
    case = rows_of(batch, positions)
    lo, _ = case.intervals(torch_ops, "cpu")
    pinned = torch.empty(batch, 1, positions, positions, dtype=torch.bool, pin_memory=gpu)
    out = torch.empty_like(pinned, device=device)
    threads = torch.get_num_threads()
    times = {f"made on the CPU, {threads} threads, and copied from pinned memory": [], "copied from pinned memory": []}
    for round_ in range(6):
        for name, blocks in times.items():
            started = time.perf_counter()
            if name.startswith("made"):
                torch_ops.attention_mask(lo, out=pinned)
            out.copy_(pinned, non_blocking=True)
            if gpu:
                torch.cuda.synchronize(device)
            if round_ > 0:  # the first one touches the memory for the first time
                blocks.append((time.perf_counter() - started) * 1e6)
    expect_equal(out, torch_ops.attention_mask(lo.to(device)), "the copied mask")
    return tell(report, times, form="bool", batch=batch, positions=positions, bytes=out.numel())


def small_kernels(report, device, batch, positions):
    """Mostly the time that a call takes on the CPU: events see the device wait for it."""
    case = rows_of(batch, positions)
    cu = case.cu_seqlens(device)
    lo, hi = torch_ops.row_intervals(cu, positions)
    lists = torch_ops.block_lists(lo, hi)
    contenders = {
        "row_intervals": lambda: torch_ops.row_intervals(cu, positions),
        "block_lists": lambda: torch_ops.block_lists(lo, hi),
        "block_lists, out=": lambda: torch_ops.block_lists(lo, hi, out=lists),
    }
    return tell(report, race(contenders, 100, device), batch=batch, positions=positions)


def measure(report, device, quick):
    positions = 128 if quick else 8192  # 4 rows of 8192 are 256 MiB, 16 rows 1 GiB
    report.run("times of bool masks, 4 rows", masks, report, device, 4, positions)
    report.run("times of bool masks, 16 rows", masks, report, device, 16, positions)
    report.run("times of bfloat16 masks, 8 rows", additive_masks, report, device, 8, positions)
    report.run("times of a mask made on the CPU, 4 rows", made_on_the_cpu, report, device, 4, positions)
    report.run("times of a mask made on the CPU, 16 rows", made_on_the_cpu, report, device, 16, positions, needs=15)
    report.run("times of intervals and block lists", small_kernels, report, device, 8, positions)
    report.run("times of intervals and block lists, long rows", small_kernels, report, device, 8, 4 * positions)
