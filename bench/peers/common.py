"""What the programs of bench/peers share: data, contenders timed in blocks, tokpack's loader, a JSON report."""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TOKPACK_BUILD", ROOT / "build/bench"))
WORK = pathlib.Path(os.environ.get("TOKPACK_BENCH_WORK", "/dev/shm/tokpack_bench_peers"))
COMMAND = BUILD / "tools/tokpack"


def made_up_lengths(count, mean, seed):
    """Gamma-distributed sample lengths of that mean, shape 5: int64 [count]."""
    draw = np.random.default_rng(seed).gamma(5, mean / 5, count)
    return np.clip(draw.round().astype(np.int64), 4, 5 * mean)


def pack(name, lengths, capacity, seed=1):
    """Packs random u16 tokens of these lengths with the command; returns the file's path and its tokens."""
    WORK.mkdir(parents=True, exist_ok=True)
    tokens = np.random.default_rng(seed).integers(0, 32000, int(lengths.sum()), dtype=np.uint16)
    raw, sizes, out = WORK / f"{name}.bin", WORK / f"{name}.lengths.npy", WORK / f"{name}.tpk"
    tokens.tofile(raw)
    np.save(sizes, lengths)
    subprocess.run([COMMAND, "pack", raw, "--array-type", "u16", "--lengths", sizes, "-o", out, "--capacity",
                    str(capacity), "--force"], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    raw.unlink()
    return out, tokens


def blocks(contenders, calls, count=5):
    """Times {name: function} in alternating blocks of `calls` consecutive calls, the first half of each block
    discarded: {name: median seconds a call}."""
    seconds = {name: [] for name in contenders}
    for _ in range(count):
        for name, work in contenders.items():
            for call in range(calls):
                start = time.perf_counter()
                work()
                took = time.perf_counter() - start
                if call >= calls // 2:
                    seconds[name].append(took)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


class Loader:
    """tokpack's loader, filling torch tensors [rows, capacity]: next() gives a dict of them, int64, and `lo`,
    int32, when intervals are wanted."""

    def __init__(self, path, rows, capacity, threads, shuffle=True, intervals=False, ahead=1):
        import torch

        self.lib = ctypes.CDLL(BUILD / "bench/libtokpack_bench_abi.so")
        for name, result in (("open", ctypes.c_void_p), ("error", ctypes.c_char_p), ("boundaries", ctypes.c_int64),
                             ("packs", ctypes.c_uint64)):
            getattr(self.lib, f"tokpack_bench_{name}").restype = result
        slots = ahead + 1
        types = {"input_ids": torch.int64, "labels": torch.int64, "position_ids": torch.int64}
        if intervals:
            types["lo"] = torch.int32
        self.ring = [{name: torch.zeros(rows, capacity, dtype=of) for name, of in types.items()} for _ in range(slots)]
        pointers = [slot[name].data_ptr() if name in slot else None for slot in self.ring
                    for name in ("input_ids", "labels", "position_ids", "lo")]
        self.handle = ctypes.c_void_p(self.lib.tokpack_bench_open(
            os.fsencode(path), ctypes.c_uint32(rows), ctypes.c_int(shuffle), ctypes.c_uint(threads),
            (ctypes.c_void_p * len(pointers))(*pointers), ctypes.c_size_t(slots)))
        if not self.handle:
            raise RuntimeError(self.lib.tokpack_bench_error().decode())
        self.count = self.lib.tokpack_bench_packs(self.handle)
        self.packs = np.zeros(rows, np.uint64)
        self._packs = ctypes.c_void_p(self.packs.ctypes.data)
        self._next = self.lib.tokpack_bench_next

    def next(self):
        slot = self._next(self.handle, self._packs)
        if slot < 0:
            raise RuntimeError(self.lib.tokpack_bench_error().decode())
        return self.ring[slot]

    def boundaries(self, pack, room=1 << 16):
        entries = np.zeros(room, np.int32)
        count = self.lib.tokpack_bench_boundaries(self.handle, ctypes.c_uint64(int(pack)),
                                                  ctypes.c_void_p(entries.ctypes.data), ctypes.c_int64(room))
        if count < 0:
            raise RuntimeError(self.lib.tokpack_bench_error().decode())
        return entries[:count]

    def close(self):
        self.lib.tokpack_bench_close(self.handle)
        self.handle = None


def operators():
    """The module python/tokpack/torch_ops.py with the operators of BUILD loaded."""
    import sys

    os.environ["TOKPACK_TORCH_OPS"] = str(BUILD / "lib/torch/ops")
    sys.path.insert(0, str(ROOT / "python"))
    from tokpack import torch_ops

    return torch_ops


def memory_mib():
    """Resident MiB of this process: (anonymous, of files)."""
    fields = {}
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "RssFile", "RssShmem"):
            fields[name] = int(value.split()[0]) / 1024
    return fields["RssAnon"], fields["RssFile"] + fields["RssShmem"]


def report(name, rows):
    """Prints one line a row and writes them as JSON to bench/results/peers_NAME.json, with the versions."""
    import importlib.metadata as installed
    import platform

    versions = {"python": platform.python_version(), "libc": " ".join(platform.libc_ver())}
    for package in ("torch", "numpy", "torchtune", "torchao", "trl", "transformers", "datasets"):
        try:
            versions[package] = installed.version(package)
        except installed.PackageNotFoundError:
            pass
    rows = [{key: round(value, 7) if isinstance(value, float) else value for key, value in row.items()} for row in rows]
    for row in rows:
        print(json.dumps(row))
    out = ROOT / f"bench/results/peers_{name}.json"
    out.write_text(json.dumps({"versions": versions, "results": rows}, indent=2) + "\n")
