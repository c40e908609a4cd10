#!/usr/bin/env python3
"""Compares PyTorch's operators of tokpack on a GPU with the CPU and with PyTorch's formula, and times them.

    gpu_operators.py [--part PART] [--device cuda|cpu] [--quick] [--seconds N] [--json FILE]

Parts: graphs (CUDA graphs, the first of them before any kernel is loaded), checks (values, streams, devices,
errors, attention), times, compiled (torch.compile, FlexAttention, and times of what is compiled); default: all. Each
is best run in a process of its own, as run_on_gpu.sh does: what breaks a CUDA context then breaks no other part.

TOKPACK_TORCH_OPS names the folder of the operators. A line per check goes to standard error, JSON to FILE, whole
after every check. --quick: fewer cases; with --device cpu the same checks run without a GPU, but for those of
streams, graphs and devices. --seconds: what may take longer than what is left of it is not begun.
Exit code 0 when all passed, 1 when a check failed, 77 without a GPU, 3 when torch or the operators cannot be loaded.
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent / "operators"), str(HERE.parents[2] / "python")]

SIZES = [1, 7, 127, 128, 1000, 1234, 4096, 8193]
QUICK_SIZES = [1, 7, 127, 128, 300]
PARTS = ["graphs", "checks", "times", "compiled"]


def head_of(torch, device):
    head = {"torch": torch.__version__, "torch_cuda": torch.version.cuda, "device": device}
    if device == "cuda":
        found = torch.cuda.get_device_properties(0)
        head.update(device=found.name, devices=torch.cuda.device_count(), capability=f"{found.major}.{found.minor}")
    return head


def run_checks(report, device, quick):
    import attention
    import launches
    import torch
    import values

    count = torch.cuda.device_count() if device == "cuda" else 1
    for number in range(count):
        on = f"cuda:{number}" if device == "cuda" else "cpu"
        # All of it on the first device; the others are of its kind.
        sizes = QUICK_SIZES if quick or number > 0 else SIZES
        report.run(f"{on}: row_intervals against the CPU", values.intervals_equal_the_cpus, on, sizes)
        report.run(f"{on}: attention_mask against the formula", values.masks_equal_the_formula, on, sizes)
        report.run(f"{on}: attention_mask against the CPU", values.masks_equal_the_cpus, on, sizes, needs=10)
        report.run(f"{on}: block_lists against both", values.block_lists_equal_both, on, sizes)
        report.run(f"{on}: masks above 4 GiB", values.masks_of_more_than_4_gib, on)
        report.run(f"{on}: streams", launches.streams, on)
        report.run(f"{on}: threads", launches.threads, on)
        report.run(f"{on}: refusals", launches.refusals, on)
        report.run(f"{on}: a packed row's attention is its sequences' alone", attention.packed_equals_alone, on)
        report.run(f"{on}: a sequence changes no other's attention", attention.nothing_leaks, on)
    report.run("a device that is not current", launches.other_device, device)


def run_part(name, report, device, quick):
    on = "cuda:0" if device == "cuda" else "cpu"
    if name == "graphs":
        import launches

        report.run("captured in a CUDA graph as first use", launches.graph, on)
        report.run("captured in a CUDA graph once more, on a stream of its own", launches.graph_on_a_stream, on)
    elif name == "checks":
        run_checks(report, device, quick)
    elif name == "times":
        import times

        times.measure(report, on, quick)
    else:
        import compiled

        compiled.run(report, on, quick)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--json")
    options = parser.parse_args()
    try:
        import torch

        if options.device == "cuda" and not torch.cuda.is_available():
            print(f"gpu_operators.py: no GPU for torch {torch.__version__}, CUDA {torch.version.cuda}", file=sys.stderr)
            return 77
        from tokpack import torch_ops  # noqa: F401
    except (ImportError, OSError) as error:
        print(f"gpu_operators.py: {error}", file=sys.stderr)
        return 3
    if options.device == "cuda" and not torch._C._dispatch_has_kernel_for_dispatch_key("tokpack::attention_mask", "CUDA"):
        print("gpu_operators.py: no libtokpack_ops_cuda.so beside libtokpack_ops.so", file=sys.stderr)
        return 3
    from report import Report

    if options.device == "cpu" and options.quick:
        torch.set_num_threads(1)  # tensors are small, and the machine is shared with other tests
    report = Report(options.part, options.json, options.seconds, head_of(torch, options.device))
    for name in PARTS if options.part == "all" else [options.part]:
        run_part(name, report, options.device, options.quick)
    return 1 if report.document["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
