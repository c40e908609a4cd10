"""lib/cuda's kernels in the interpreter: PTX by nvcc, parameters and launch shapes as the library has them."""

import json
import pathlib
import struct
import subprocess

from ptx_interpreter import Kernel, Memory

CAUSAL, BIDIRECTIONAL, SLIDING, PREFIX = range(4)
SEGMENT, SELF, NONE, LAST = range(4)
POISON = 0xA5
UNWRITTEN = -9


def compile_ptx(nvcc, root, architecture, output):
    """The text of the kernels' PTX."""
    roots = ("format/include", "lib/core/include", "lib/cuda/include", "lib/cuda/src")
    subprocess.run(
        [nvcc, "-std=c++20", "-O3", "-ptx", f"-arch=compute_{architecture}", *(f"-I{root / r}" for r in roots),
         "-o", output, root / "lib/cuda/src/kernels.cu"], check=True)
    return pathlib.Path(output).read_text(encoding="utf-8")


class Launches:
    """Layouts and launch shapes, asked of the C++ that the library uses."""

    def __init__(self, program):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._layouts = json.loads(self._process.stdout.readline())

    def close(self):
        self._process.communicate()

    def shape(self, *question):
        """((grid_x, grid_y), (lanes, rows))"""
        self._process.stdin.write(" ".join(map(str, question)) + "\n")
        self._process.stdin.flush()
        numbers = [int(n) for n in self._process.stdout.readline().split()]
        return (numbers[0], numbers[1]), (numbers[2], numbers[3])

    def parameter(self, job, **values):
        layout = self._layouts[job]
        if set(layout) - {""} != set(values):
            raise ValueError(f"{job} has the fields {sorted(layout)}")
        out = bytearray(b"\xee" * layout[""][1])  # what lies between the fields is nobody's
        for name, value in values.items():
            offset, size = layout[name]
            out[offset : offset + size] = value.to_bytes(size, "little")
        return bytes(out)


def ints(values):
    return struct.pack(f"<{len(values)}i", *values)


def from_ints(contents):
    return list(struct.unpack(f"<{len(contents) // 4}i", contents))


class Device:
    """One kind of GPU: every call runs a kernel over memory of its own and returns what it wrote."""

    def __init__(self, ptx, launches):
        self.ptx = ptx
        self.launches = launches

    def build_row_intervals(self, cu_seqlens, positions, family=CAUSAL, pads=SEGMENT, window=0, prefixes=None, hi=True):
        """`cu_seqlens`: a list of rows of equal length. lo, hi as lists of B x S."""
        memory = Memory()
        batch, sequences = len(cu_seqlens), len(cu_seqlens[0]) - 1
        blank = ints([UNWRITTEN] * (batch * positions))
        lo_at = memory.allocate(blank, writable=True)
        hi_at = memory.allocate(blank, writable=True) if hi else 0
        parameter = self.launches.parameter(
            "IntervalJob", cu_seqlens=memory.allocate(ints(sum(cu_seqlens, []))),
            prefixes=memory.allocate(ints(sum(prefixes, []))) if prefixes else 0, lo=lo_at, hi=hi_at, batch=batch,
            positions=positions, sequences=sequences, window=window, family=family, pads=pads)
        Kernel(self.ptx, "build_interval_rows", memory).launch(parameter, *self.launches.shape("intervals", batch, positions))
        return from_ints(memory.contents(lo_at)), from_ints(memory.contents(hi_at)) if hi else None

    def mask_launch(self, lo, hi, positions, element, masked, attended, row_stride=0, batch_stride=0, offset=0, streams=True):
        """Strides and offset in elements. (kernel, memory, address of the cells, parameter, shape)"""
        memory = Memory()
        batch = len(lo) // positions
        row_stride = row_stride or positions
        batch_stride = batch_stride or row_stride * positions
        count = (batch - 1) * batch_stride + (positions - 1) * row_stride + positions
        cells = memory.allocate(bytes([POISON]) * (count * element), offset=offset * element, writable=True)
        parameter = self.launches.parameter(
            "MaskJob", lo=memory.allocate(ints(lo)), hi=memory.allocate(ints(hi)) if hi else 0, cells=cells, batch=batch,
            positions=positions, row_stride=row_stride * element, batch_stride=batch_stride * element,
            element_shift=element.bit_length() - 1, masked=int.from_bytes(masked * (4 // element), "little"),
            attended=int.from_bytes(attended * (4 // element), "little"))
        kernel = Kernel(self.ptx, f"write_mask_rowsILb{int(streams)}E", memory)
        return kernel, memory, cells, parameter, self.launches.shape("mask", batch, positions, element)

    def write_mask(self, *arguments, **options):
        """All bytes of the buffer, and the memory for what it counted."""
        kernel, memory, cells, parameter, shape = self.mask_launch(*arguments, **options)
        kernel.launch(parameter, *shape)
        return memory.contents(cells), memory

    def make_block_lists(self, lo, hi, positions, query, key):
        """(counts, index rows) of the partial blocks, and of the full ones, UNWRITTEN where nothing was written."""
        memory = Memory()
        batch, queries, keys = len(lo) // positions, -(-positions // query), -(-positions // key)
        numbers, indices = ints([UNWRITTEN] * (batch * queries)), ints([UNWRITTEN] * (batch * queries * keys))
        at = [memory.allocate(a, writable=True) for a in (numbers, indices, numbers, indices)]
        parameter = self.launches.parameter(
            "BlockJob", lo=memory.allocate(ints(lo)), hi=memory.allocate(ints(hi)) if hi else 0, kv_num_blocks=at[0],
            kv_indices=at[1], full_kv_num_blocks=at[2], full_kv_indices=at[3], batch=batch, positions=positions,
            query_blocks=queries, key_blocks=keys, query_size=query, key_size=key)
        Kernel(self.ptx, "list_mask_blocks", memory).launch(parameter, *self.launches.shape("blocks", batch, queries))
        num, kv, full_num, full = (from_ints(memory.contents(a)) for a in at)
        rows = lambda flat: [flat[i : i + keys] for i in range(0, len(flat), keys)]
        return (num, rows(kv)), (full_num, rows(full))
