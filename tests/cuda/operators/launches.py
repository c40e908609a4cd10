"""How the operators behave as launches: streams, threads, CUDA graphs, a device that is not current, refusals."""

import threading

import torch
from cases import POISON, Case, expect_equal
from report import NotRun

from tokpack import torch_ops

POSITIONS = 200
FIRST = Case([[20, 70, 1, 89]], POSITIONS, "bidirectional")
SECOND = Case([[64, 64]], POSITIONS, "bidirectional")
CYCLES = 200_000_000  # some 100 ms


class Step:
    """What a trainer does for a batch, with everything that it writes: boundaries to intervals, masks, lists."""

    def __init__(self, device):
        blocks = -(-POSITIONS // 128)
        self.device = device
        self.cu = FIRST.cu_seqlens(device)
        self.mask = torch.full((1, 1, POSITIONS, POSITIONS), POISON, dtype=torch.uint8, device=device).view(torch.bool)
        shapes = ((1, 1, blocks), (1, 1, blocks, blocks)) * 2
        self.lists = tuple(torch.full(shape, 77, dtype=torch.int32, device=device) for shape in shapes)
        self.made = None

    def run(self):
        lo, hi = torch_ops.row_intervals(self.cu, POSITIONS, family="bidirectional")
        torch_ops.attention_mask(lo, hi, out=self.mask)
        torch_ops.block_lists(lo, hi, out=self.lists)
        additive = torch_ops.attention_mask(lo, hi, dtype=torch.bfloat16, lowest=True)
        self.made = (lo, hi, additive, *torch_ops.block_lists(lo, hi))

    def give(self, case):
        """Other boundaries in the same memory, the last one repeated; poison in what was written."""
        row = case.cu_seqlens("cpu")[0].tolist()
        self.cu.copy_(torch.tensor([row + row[-1:] * (self.cu.shape[1] - len(row))], dtype=torch.int32))
        self.mask.view(torch.uint8).fill_(POISON)
        for written in self.made or ():
            written.view(torch.uint8).fill_(POISON)
        for list_ in self.lists:
            list_.fill_(77)

    def expect(self, case, words):
        lo, hi = case.intervals(torch_ops, "cpu")
        additive = torch_ops.attention_mask(lo, hi, dtype=torch.bfloat16, lowest=True)
        fresh = torch_ops.block_lists(lo, hi)
        for made, expected in zip(self.made, (lo, hi, additive, *fresh)):
            expect_equal(made.cpu(), expected, words)
        expect_equal(self.mask.view(torch.uint8).cpu(), torch_ops.attention_mask(lo, hi).view(torch.uint8), words)
        given = torch_ops.block_lists(lo, hi, out=tuple(torch.full_like(list_, 77) for list_ in fresh))
        for made, expected in zip(self.lists, given):
            expect_equal(made.cpu(), expected, f"{words}, given lists")


def need_gpu(device):
    if torch.device(device).type != "cuda":
        raise NotRun("needs a GPU")


def replays(step, graph):
    """The graph over other boundaries, and over the first ones again."""
    for case in (FIRST, SECOND, FIRST):
        step.give(case)
        graph.replay()
        torch.cuda.synchronize(step.device)
        step.expect(case, f"replayed with {case.lengths}")
    return 3


def graph(device):
    need_gpu(device)
    step = Step(device)
    torch.cuda.synchronize(device)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step.run()
    return replays(step, captured)


def graph_on_a_stream(device):
    need_gpu(device)
    step = Step(device)
    side = torch.cuda.Stream(device)
    side.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(side):
        for _ in range(3):
            step.run()
    side.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, stream=side):
        step.run()
    return replays(step, captured)


def streams(device):
    """Work goes to the current stream, behind what stands there, and no call waits for it."""
    need_gpu(device)
    # Boundaries come late: whoever does not keep the stream's order reads those of the other case.
    step, late = Step(device), SECOND.cu_seqlens(device)
    late = torch.cat([late, late[:, -1:].expand(-1, step.cu.shape[1] - late.shape[1])], dim=1)
    side = torch.cuda.Stream(device)
    for round_ in range(3):  # the first one loads kernels and takes memory, which may wait
        step.give(FIRST)
        torch.cuda.synchronize(device)
        with torch.cuda.stream(side):
            torch.cuda._sleep(CYCLES)
            step.cu.copy_(late)
            step.run()
            waited = side.query()
        side.synchronize()
        step.expect(SECOND, "on a stream of its own")
        assert round_ == 0 or not waited, "a call waited for the stream"
    return 3


def threads(device):
    """A thread that torch has not seen: its current device and stream are the defaults."""
    faults = []

    def work():
        try:
            step = Step(device)
            step.run()
            step.expect(FIRST, "in a thread")
        except Exception as error:
            faults.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if faults:
        raise faults[0]
    return len(workers)


def refused(words, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except RuntimeError as error:
        assert "tokpack: " in str(error) and words in str(error), f"refused with other words than '{words}': {error}"
        return 1
    raise AssertionError(f"not refused; expected '{words}'")


def mixed_devices(here, there, name):
    """Tensors on `here`, each beside one on `there`, where the message calls it `name`."""
    lo, hi = FIRST.intervals(torch_ops, here)
    lo_there, hi_there = lo.to(there), hi.to(there)
    out, lists = torch.zeros(1, POSITIONS, POSITIONS, device=there), torch_ops.block_lists(lo, hi)
    prefixes = {"family": "prefix_lm", "prefixes": torch.zeros(1, 4, dtype=torch.int32, device=there)}
    count = 0
    for call in (torch_ops.attention_mask, torch_ops.block_lists):
        count += refused(f"hi is on {name} and lo on", call, lo, hi_there)
        count += refused(f"and lo on {name}; move one", call, lo_there, hi)
    count += refused(f"out is on {name} and lo on", torch_ops.attention_mask, lo, hi, out=out)
    count += refused(f"and lo on {name}", torch_ops.attention_mask, lo_there, hi_there, out=out.to(here))
    count += refused(f"is on {name}", torch_ops.block_lists, lo, hi, out=(*lists[:3], lists[3].to(there)))
    count += refused(f"prefixes is on {name}", torch_ops.row_intervals, FIRST.cu_seqlens(here), POSITIONS, **prefixes)
    return count


def refusals(device):
    lo, hi = FIRST.intervals(torch_ops, device)
    count = refused("lo is Long, expected int32", torch_ops.attention_mask, lo.long())
    count += refused("expected one shape", torch_ops.attention_mask, lo, hi[:, :7].contiguous())
    square = torch.zeros(1, POSITIONS, POSITIONS, device=device)
    count += refused("out has the strides", torch_ops.attention_mask, lo, hi, out=square.transpose(1, 2))
    if torch.device(device).type == "cuda":
        count += mixed_devices(device, "cpu", "the CPU")
    # A refusal leaves nothing behind that breaks what comes next.
    step = Step(device)
    step.run()
    step.expect(FIRST, "after refusals")
    return count + 1


def other_device(device):
    """Tensors on a device that is not the current one, which stays current."""
    need_gpu(device)
    if torch.cuda.device_count() < 2:
        raise NotRun("one device here")
    torch.cuda.set_device(0)
    for number in range(1, torch.cuda.device_count()):
        there, here = Step(f"cuda:{number}"), Step("cuda:0")
        side = torch.cuda.Stream(there.device)
        side.wait_stream(torch.cuda.current_stream(there.device))
        for case in (FIRST, SECOND, FIRST):
            for step in (there, here, there):  # both copies of the runtime must agree on who is current
                step.give(case)
                step.run()
                assert torch.cuda.current_device() == 0, f"device {torch.cuda.current_device()} became current"
                assert (torch.ones(1000, device="cuda").sum() == 1000).item(), "a kernel of torch's own went astray"
                step.expect(case, f"on {step.device}, device 0 current")
        there.give(SECOND)
        torch.cuda.synchronize(there.device)
        with torch.cuda.stream(side):
            there.run()
        side.synchronize()
        there.expect(SECOND, f"on a stream of {there.device}")
        mixed_devices("cuda:0", there.device, f"CUDA device {number}")
        mixed_devices(there.device, "cpu", "the CPU")
    return torch.cuda.device_count() - 1
