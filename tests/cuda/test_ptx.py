"""cuda.ptx: the kernels as nvcc compiles them for each kind of GPU, run thread by thread.

    test_ptx.py ROOT NVCC LAUNCH_DUMP       exit code 77 and a word where there is no nvcc

Every access is in bounds and aligned, every byte is written once, the results are those of the conventions and of
the slow way, and a 16-byte store costs at most 20 instructions.
"""

import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest

import ptx_kernels
from ptx_interpreter import Fault, Kernel, Memory, Unknown, entries
from ptx_kernels import BIDIRECTIONAL, CAUSAL, LAST, NONE, POISON, PREFIX, SEGMENT, SELF, SLIDING, UNWRITTEN

ARCHITECTURES = (80, 90, 100)
MOST_INSTRUCTIONS = 20  # of a thread for each 16-byte store, S = 8192, bool
BOOL, BF16, F32 = (b"\0", b"\1"), (b"\x80\xff", b"\0\0"), (b"\xff\xff\x7f\xff", b"\0\0\0\0")  # masked, attended
PADS = (SEGMENT, SELF, NONE, LAST)
PROGRAM = {}


def place(cu_seqlens, pads, position):
    """(sequence, position in it); sequence -1 belongs to none."""
    tokens, sequences = cu_seqlens[-1], len(cu_seqlens) - 1
    for s in range(sequences):
        if cu_seqlens[s] <= position < cu_seqlens[s + 1]:
            return s, position - cu_seqlens[s]
    if pads == NONE:
        return -1, 0
    if pads == SELF:
        return sequences + position - tokens, 0
    if pads == SEGMENT or sequences == 0:
        return sequences, position - tokens
    return sequences - 1, position - cu_seqlens[-2]


def attends(cu_seqlens, family, pads, window, prefixes, query, key):
    if query < cu_seqlens[-1] <= key:
        return False
    (s, i), (other, j) = place(cu_seqlens, pads, query), place(cu_seqlens, pads, key)
    if s < 0 or s != other:
        return False
    if family == SLIDING:
        return i - window < j <= i
    prefix = prefixes[s] if family == PREFIX and s < len(prefixes) else 0
    return family == BIDIRECTIONAL or j <= i or j < prefix


def pictures(contents, positions):
    return "/".join("".join(map(str, contents[r : r + positions])) for r in range(0, len(contents), positions))


def boundaries_of(lengths):
    out = [0]
    for length in lengths:
        out.append(out[-1] + length)
    return out


def random_row(rng, positions, family):
    """cu_seqlens and prefixes of one row: short, long or no sequences, with pads or without."""
    tokens = rng.choice((positions, rng.randint(0, positions)))
    longest = rng.choice((1, 1 + positions // 5, positions))
    cu_seqlens, prefixes = [0], []
    while cu_seqlens[-1] < tokens:
        length = min(tokens - cu_seqlens[-1], rng.randint(1, longest))
        cu_seqlens.append(cu_seqlens[-1] + length)
        prefixes.append(rng.randint(0, length) if family == PREFIX else 0)
    return cu_seqlens, prefixes


class OnEveryArchitecture(unittest.TestCase):
    def devices(self):
        for architecture in ARCHITECTURES:
            with self.subTest(architecture=architecture):
                yield PROGRAM[architecture]


class Conventions(OnEveryArchitecture):
    E = [[0, 3, 5]]

    def test_intervals_of_the_example(self):
        causal = {SEGMENT: [0, 0, 0, 3, 3, 5, 5, 5], SELF: [0, 0, 0, 3, 3, 5, 6, 7],
                  NONE: [0, 0, 0, 3, 3, 8, 8, 8], LAST: [0, 0, 0, 3, 3, 3, 3, 3]}
        sliding = {SEGMENT: [0, 0, 1, 3, 3, 5, 5, 6], SELF: [0, 0, 1, 3, 3, 5, 6, 7],
                   NONE: [0, 0, 1, 3, 3, 8, 8, 8], LAST: [0, 0, 1, 3, 3, 4, 5, 6]}
        both = {SEGMENT: [2, 2, 2, 4, 4, 7, 7, 7], SELF: [2, 2, 2, 4, 4, 5, 6, 7],
                NONE: [2, 2, 2, 4, 4, 5, 6, 7], LAST: [2, 2, 2, 4, 4, 7, 7, 7]}
        own = list(range(8))
        for device in self.devices():
            for pads in PADS:
                build = lambda **options: device.build_row_intervals(self.E, 8, pads=pads, **options)
                self.assertEqual(build(), (causal[pads], own))
                self.assertEqual(build(family=SLIDING, window=2), (sliding[pads], own))
                self.assertEqual(build(family=BIDIRECTIONAL), (causal[pads], both[pads]))
                self.assertEqual(build(family=PREFIX, prefixes=[[2, 1]]), (causal[pads], [1, 1, 2, 3, 4, 5, 6, 7]))

    def test_masks_of_the_example(self):
        real = {CAUSAL: "10000000/11000000/11100000/00010000/00011000/",
                SLIDING: "10000000/11000000/01100000/00010000/00011000/",
                BIDIRECTIONAL: "11100000/11100000/11100000/00011000/00011000/"}
        rows = {(CAUSAL, SEGMENT): "00000100/00000110/00000111", (CAUSAL, LAST): "00011100/00011110/00011111",
                (SLIDING, SEGMENT): "00000100/00000110/00000011", (SLIDING, LAST): "00001100/00000110/00000011",
                (BIDIRECTIONAL, SEGMENT): "00000111/00000111/00000111",
                (BIDIRECTIONAL, LAST): "00011111/00011111/00011111"}
        for device in self.devices():
            for family in real:
                for pads in PADS:
                    lo, hi = device.build_row_intervals(self.E, 8, family, pads, 2 if family == SLIDING else 0)
                    contents, _ = device.write_mask(lo, hi, 8, 1, *BOOL)
                    others = "00000100/00000010/00000001" if pads == SELF else "00000000/00000000/00000000"
                    self.assertEqual(pictures(contents, 8), real[family] + rows.get((family, pads), others))

    def test_additive_forms_of_the_example(self):
        lo = [0, 0, 0, 3, 3, 5, 5, 5]
        picture = "0XXXXXXX/00XXXXXX/000XXXXX/XXX0XXXX/XXX00XXX/XXXXX0XX/XXXXX00X/XXXXX000".replace("/", "")
        forms = [(4, bits) for bits in (0xFF800000, 0xFF7FFFFF)] + [(2, b) for b in (0xFF80, 0xFF7F, 0xFC00, 0xFBFF)]
        for device in self.devices():
            for size, bits in forms:
                contents, _ = device.write_mask(lo, None, 8, size, bits.to_bytes(size, "little"), bytes(size))
                cells = struct.unpack(f"<64{'HI'[size == 4]}", contents)
                self.assertEqual(cells, tuple(bits if letter == "X" else 0 for letter in picture))

    def test_block_lists(self):
        values = [([384], 128, 128, [1, 1, 1], [[0], [1], [2]], [0, 1, 2], [[], [0], [0, 1]]),
                  ([100, 156], 128, 128, [1, 2], [[0], [0, 1]], [0, 0], [[], []]),
                  ([130, 126], 128, 128, [1, 2], [[0], [0, 1]], [0, 0], [[], []]),
                  ([128, 256], 128, 128, [1, 1, 1], [[0], [1], [2]], [0, 0, 1], [[], [], [1]]),
                  ([100, 28, 128], 128, 128, [1, 1], [[0], [1]], [0, 0], [[], []]),
                  ([384], 256, 128, [2, 3], [[0, 1], [0, 1, 2]], [0, 0], [[], []]),
                  ([384], 128, 256, [1, 1, 1], [[0], [0], [1]], [0, 0, 1], [[], [], [0]])]
        for device in self.devices():
            for lengths, query, key, *expected in values:
                cu_seqlens = boundaries_of(lengths)
                lo, _ = device.build_row_intervals([cu_seqlens], cu_seqlens[-1], hi=False)
                (num, kv), (full_num, full) = device.make_block_lists(lo, None, cu_seqlens[-1], query, key)
                written = lambda rows: [[k for k in row if k != UNWRITTEN] for row in rows]
                self.assertEqual([num, written(kv), full_num, written(full)], expected)


class Random(OnEveryArchitecture):
    def test_intervals_masks_and_block_lists_are_those_of_every_cell_looked_at(self):
        for device in self.devices():
            rng = random.Random(1)
            for number in range(80):
                positions, batch = rng.randint(1, 40), rng.randint(1, 2)
                family, pads = rng.randrange(4), rng.randrange(4)
                window = rng.randint(1, 9) if family == SLIDING else 0
                rows = [random_row(rng, positions, family) for _ in range(batch)]
                sequences = max(len(p) for _, p in rows) + rng.randint(0, 2)
                padded = [c + c[-1:] * (sequences + 1 - len(c)) for c, _ in rows]
                prefixes = [p + [7] * (sequences - len(p)) for _, p in rows] if family == PREFIX else None
                lo, hi = device.build_row_intervals(padded, positions, family, pads, window, prefixes)
                cells = [[[attends(c, family, pads, window, p, q, k) for k in range(positions)] for q in range(positions)]
                         for c, p in rows]
                found = [[[lo[b * positions + q] <= k <= hi[b * positions + q] for k in range(positions)]
                          for q in range(positions)] for b in range(batch)]
                self.assertEqual(found, cells, f"case {number}")

                contents, _ = device.write_mask(lo, hi, positions, 1, *BOOL)
                self.assertEqual(list(contents), [int(c) for mask in cells for row in mask for c in row])

                query, key = rng.randint(1, 20), rng.randint(1, 20)
                self.check_lists(device, lo, hi, cells, positions, query, key)

    def check_lists(self, device, lo, hi, cells, positions, query, key):
        (num, kv), (full_num, full) = device.make_block_lists(lo, hi, positions, query, key)
        row = 0
        for mask in cells:
            for q in range(0, positions, query):
                partial, whole = [], []
                for k in range(0, positions, key):
                    block = [c for r in mask[q : q + query] for c in r[k : k + key]]
                    if all(block) and q + query <= positions and k + key <= positions:
                        whole.append(k // key)
                    elif any(block):
                        partial.append(k // key)
                for count, found, blocks in ((num, kv, partial), (full_num, full, whole)):
                    self.assertEqual(count[row], len(blocks))
                    self.assertEqual(found[row], blocks + [UNWRITTEN] * (len(found[row]) - len(blocks)))
                row += 1

    def test_masks_at_any_offset_and_stride_leave_what_lies_between(self):
        for device in self.devices():
            rng = random.Random(2)
            for number in range(80):
                element, (masked, attended) = rng.choice(((1, BOOL), (2, BF16), (4, F32)))
                positions, batch = rng.randint(1, 70), rng.randint(1, 2)
                row_stride = positions + rng.choice((0, 0, rng.randint(1, 40)))
                batch_stride = row_stride * positions + rng.choice((0, rng.randint(1, 40)))
                extremes = (-(1 << 31), -1, 0, positions, (1 << 31) - 1)
                any_number = lambda: rng.choice((*extremes, *[rng.randint(-2, positions + 1)] * 15))
                lo = [any_number() for _ in range(batch * positions)]
                hi = [any_number() for _ in lo] if number % 3 else None
                contents, _ = device.write_mask(lo, hi, positions, element, masked, attended, row_stride, batch_stride,
                                                rng.randint(0, 15), streams=number % 2 == 0)
                expected = bytearray([POISON]) * len(contents)
                for i, least in enumerate(lo):
                    b, r = divmod(i, positions)
                    most = hi[i] if hi else r
                    at = (b * batch_stride + r * row_stride) * element
                    row = b"".join(attended if least <= c <= most else masked for c in range(positions))
                    expected[at : at + len(row)] = row
                self.assertEqual(contents, bytes(expected), f"case {number}")

    def test_any_boundaries_and_intervals_stay_in_bounds(self):
        for device in self.devices():
            rng = random.Random(3)
            for number in range(80):
                positions, sequences = rng.randint(1, 30), rng.randint(0, 6)
                extremes = (-(1 << 31), -(1 << 31) + 1, (1 << 31) - 1)
                wild = lambda n: [rng.choice((*extremes, *[rng.randint(-2, positions + 2)] * 9)) for _ in range(n)]
                family = number % 4
                device.build_row_intervals([wild(sequences + 1)], positions, family, number // 4 % 4,
                                           3 if family == SLIDING else 0, [wild(sequences)] if family == PREFIX else None)
                device.make_block_lists(wild(positions), wild(positions), positions, rng.randint(1, 6), rng.randint(1, 6))


class Instructions(OnEveryArchitecture):
    def test_a_16_byte_store_costs_at_most_20_instructions_at_8192_positions(self):
        for architecture in ARCHITECTURES:
            device, positions, costs = PROGRAM[architecture], 8192, []
            lengths = [1000, 3000, 96, 4000, 96]
            starts = [s for s, n in zip(boundaries_of(lengths), lengths) for _ in range(n)]
            lo = [starts[r] for r in range(positions)]
            kernel, memory, cells, parameter, (grid, block) = device.mask_launch(lo, None, positions, 1, *BOOL)
            for row in (0, 999, 2500, 4096, 8100, 8191):  # a block of rows each
                x = row // block[1]
                before, stores = kernel.instructions, memory.stores["st.global.cs.v4.u32"]
                kernel.run_block(parameter, grid, block, (x, 0))
                stored = memory.stores["st.global.cs.v4.u32"] - stores
                self.assertEqual(stored, block[1] * positions // 16)
                costs.append((kernel.instructions - before) / stored)
            print(f"sm_{architecture}: {block[0]} lanes a row; instructions per 16-byte store in 6 blocks of "
                  f"{block[1]} rows: {', '.join(f'{c:.1f}' for c in costs)}")
            self.assertEqual(sum(memory.stores.values()), memory.stores["st.global.cs.v4.u32"])
            self.assertLessEqual(max(costs), MOST_INSTRUCTIONS)

    def test_what_is_wide_is_stored_wide(self):
        for device in self.devices():
            for streams, opcode in ((True, "st.global.cs.v4.u32"), (False, "st.global.v4.u32")):
                _, memory = device.write_mask([0] * 64, None, 64, 2, *BF16, streams=streams)
                self.assertEqual(dict(memory.stores), {opcode: 64 * 64 * 2 // 16})


class Interpreter(unittest.TestCase):
    def kernel(self, body, memory=None):
        text = f".visible .entry k(\n.param .align 8 .b8 p[8]\n)\n{{\n.reg .b64 %rd<3>;\n{body}\nret;\n\n}}\n"
        return Kernel(text, "k", memory or Memory())

    def test_an_opcode_without_a_meaning_is_refused(self):
        for body in ("foo.u32 %r1, %r2;", "add.sat.s32 %r1, %r2, %r3;", "ld.shared.u32 %r1, [%rd1];", "bar.sync 0;",
                     "add.f32 %f1, %f2, %f3;", "st.global.v4.b128 [%rd1], {%r1};", "setp.lt.and.u32 %p1, %r1, 2, %p2;"):
            with self.assertRaises(Unknown, msg=body):
                self.kernel(body)

    def run_store(self, address_of, writable=True, times=1):
        memory = Memory()
        at = memory.allocate(bytes(16), writable=writable)
        store = "st.global.u32 [%rd1], 7;" * times
        kernel = self.kernel(f"ld.param.u64 %rd1, [p];\n{store}", memory)
        kernel.launch(address_of(at).to_bytes(8, "little"), (1, 1), (1, 1))
        return memory.contents(at)

    def test_a_store_outside_misaligned_to_what_is_read_only_or_twice_is_a_fault(self):
        self.assertEqual(self.run_store(lambda at: at + 12), bytes(12) + b"\7\0\0\0")
        for offset in (-4, 16, 1, 2):
            with self.assertRaises(Fault):
                self.run_store(lambda at, o=offset: at + o)
        with self.assertRaises(Fault):
            self.run_store(lambda at: at, writable=False)
        with self.assertRaises(Fault):
            self.run_store(lambda at: at, times=2)


def main():
    root, nvcc, launch_dump = sys.argv[1:4]
    if not os.access(nvcc, os.X_OK):
        print("skipped: there is no nvcc here")
        return 77
    PROGRAM["launches"] = ptx_kernels.Launches(launch_dump)
    with tempfile.TemporaryDirectory() as folder:
        for architecture in ARCHITECTURES:
            ptx = ptx_kernels.compile_ptx(nvcc, pathlib.Path(root), architecture, f"{folder}/{architecture}.ptx")
            if len(entries(ptx)) != 4:
                raise SystemExit(f"expected 4 kernels, found {entries(ptx)}")
            PROGRAM[architecture] = ptx_kernels.Device(ptx, PROGRAM["launches"])
    try:
        result = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False).result
    finally:
        PROGRAM["launches"].close()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
