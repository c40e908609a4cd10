"""Runs kernels from nvcc's PTX on the CPU, thread by thread: what the compiler made of them, not what was meant.

Each kernel becomes a Python function with a block of statements per basic block, so that a few million
instructions take seconds. Whatever is not known raises Unknown when the kernel is read. Memory is what was
allocated and nothing else: an access outside of it, a misaligned one, a write to what is read-only or to what
this launch has written already raises Fault. Instructions are counted as a thread issues them: one that its
predicate turns off counts as well.

    memory = Memory()
    cells = memory.allocate(bytes(64))
    kernel = Kernel(ptx_text, "write_mask_rows", memory)
    kernel.launch(parameter_bytes, grid=(1, 1), block=(8, 32))
    kernel.instructions, memory.stores, memory.contents(cells)
"""

import re

from ptx_memory import Fault, Memory
from ptx_statements import Statements, Unknown

__all__ = ["Fault", "Kernel", "Memory", "Unknown", "entries"]


def entries(ptx):
    """Names of all kernels."""
    return re.findall(r"\.entry\s+(\w+)", ptx)


class Kernel(Statements):
    def __init__(self, ptx, fragment, memory):
        names = [name for name in entries(ptx) if fragment in name]
        if len(names) != 1:
            raise Unknown(f"{len(names)} kernels have {fragment} in their names")
        self.name = names[0]
        self.memory = memory
        self.instructions = 0
        ptx = re.sub(r"//.*|/\*.*?\*/", "", ptx)
        header, body = re.search(rf"\.entry\s+{self.name}\s*\((.*?)\)(?:\s*\.[^{{]*)?\s*\{{(.*?)\n\}}", ptx, re.S).groups()
        parameters = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.b8\s+(\w+)\[(\d+)\]", header)
        if len(parameters) != 1 or header.count(".param") != 1:
            raise Unknown("parameters that are not one struct")
        self._parameter, self.parameter_bytes = parameters[0][0], int(parameters[0][1])
        self._read(body)
        self._run = self._compile()

    def launch(self, parameter, grid, block):
        if len(parameter) != self.parameter_bytes:
            raise Fault(f"a parameter of {len(parameter)} bytes, expected {self.parameter_bytes}")
        self.memory.begin_launch()
        for y in range(grid[1]):
            for x in range(grid[0]):
                self.run_block(parameter, grid, block, (x, y))

    def run_block(self, parameter, grid, block, index):
        for tid_y in range(block[1]):
            for tid_x in range(block[0]):
                self.instructions += self._run(
                    parameter, self.memory.load, self.memory.store,
                    (tid_x, tid_y, 0), (*block, 1), (*index, 0), (*grid, 1))

    def _read(self, body):
        """Basic blocks as lists of (predicate, negated, opcode, operands), and the block of each label."""
        self._blocks, self._labels = [[]], {}
        for statement in body.split(";"):
            statement = statement.strip()
            while True:
                label = re.match(r"(\$\w+):\s*", statement)
                if label:
                    if self._blocks[-1]:
                        self._blocks.append([])
                    self._labels[label[1]] = len(self._blocks) - 1
                    statement = statement[label.end():]
                elif statement[:1] in ("{", "}"):  # a scope; vectors stand within statements
                    statement = statement[1:].lstrip()
                else:
                    break
            if not statement or re.match(r"\.(reg|pragma|loc)\b", statement):
                continue
            parts = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([\w.:]+)\s*(.*)", statement, re.S)
            if not parts:
                raise Unknown(statement)
            operands = [o.strip() for o in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", parts[4])]
            self._blocks[-1].append((parts[2], parts[1] == "!", parts[3], operands))
            if parts[3].split(".")[0] in ("bra", "ret"):
                self._blocks.append([])

    def _compile(self):
        lines = ["def run(parameter, load, store, tid, ntid, ctaid, nctaid):",
                 *(f"  {n}_x, {n}_y, {n}_z = {n}" for n in ("tid", "ntid", "ctaid", "nctaid")),
                 "  count = at = 0", "  while True:"]

        def choose(first, last, indent):
            if last - first > 1:
                middle = (first + last) // 2
                lines.append(f"{indent}if at < {middle}:")
                choose(first, middle, indent + " ")
                lines.append(f"{indent}else:")
                choose(middle, last, indent + " ")
                return
            block = self._blocks[first]
            lines.append(f"{indent}count += {len(block)}")
            for predicate, negated, opcode, operands in block:
                text = self._statement(opcode, operands)
                if predicate:
                    text = f"if {'not ' if negated else ''}{self._value(predicate)}: {text}"
                lines.append(indent + text)
            lines.append(f"{indent}at = {first + 1}")

        choose(0, len(self._blocks), "    ")
        names = {}
        exec(compile("\n".join(lines), self.name, "exec"), names)  # text that this class has put together
        return names["run"]
