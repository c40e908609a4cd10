"""Memory for ptx_interpreter: what was allocated and nothing else, and every wrong access a Fault."""

import bisect
import collections


class Fault(Exception):
    """An access that a GPU would refuse, or that no kernel of ours may make."""


class Memory:
    PAGE = 1 << 16  # between two allocations

    def __init__(self):
        self._starts = []
        self._buffers = []
        self._next = 1 << 40
        self.stores = collections.Counter()  # by opcode
        self.loads = collections.Counter()

    def allocate(self, contents, offset=0, writable=False):
        """The address of a copy of `contents`, `offset` bytes past a multiple of 256."""
        address = self._next + offset
        self._starts.append(address)
        self._buffers.append((bytearray(contents), bytearray(len(contents)) if writable else None))
        self._next += (len(contents) + offset + 2 * self.PAGE) & -256
        return address

    def contents(self, address):
        return bytes(self._buffers[self._starts.index(address)][0])

    def begin_launch(self):
        for _, written in self._buffers:
            if written is not None:
                written[:] = bytes(len(written))

    def _find(self, address, size, what):
        if address % size:
            raise Fault(f"{what} of {size} bytes at the misaligned address {address:#x}")
        i = bisect.bisect_right(self._starts, address) - 1
        if i >= 0:
            at = address - self._starts[i]
            if at + size <= len(self._buffers[i][0]):
                return *self._buffers[i], at
        raise Fault(f"{what} of {size} bytes at {address:#x}, outside all memory")

    def load(self, opcode, address, size):
        contents, _, at = self._find(address, size, "load")
        self.loads[opcode] += 1
        return int.from_bytes(contents[at : at + size], "little")

    def store(self, opcode, address, size, value):
        contents, written, at = self._find(address, size, "store")
        if written is None:
            raise Fault(f"store at {address:#x}, which is read-only")
        if any(written[at : at + size]):
            raise Fault(f"store at {address:#x}, which was written before")
        written[at : at + size] = b"\1" * size
        contents[at : at + size] = value.to_bytes(size, "little")
        self.stores[opcode] += 1
