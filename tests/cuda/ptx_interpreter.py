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

import bisect
import collections
import re


class Unknown(Exception):
    """PTX that this interpreter has no meaning for."""


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


SPECIAL = {f"%{name}.{axis}": f"{name}_{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


def width_of(kind):
    if not re.fullmatch(r"[busf](8|16|32|64)", kind) or kind[0] == "f":
        raise Unknown(f"type .{kind}")
    return int(kind[1:])


def entries(ptx):
    """Names of all kernels."""
    return re.findall(r"\.entry\s+(\w+)", ptx)


class Kernel:
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

    def _value(self, operand, width=None, signed=False):
        """A Python expression. Registers hold unsigned numbers; a predicate a bool."""
        if operand in SPECIAL:
            return SPECIAL[operand]
        if re.fullmatch(r"%?[A-Za-z]\w*", operand):
            name = operand.lstrip("%") if operand.startswith("%") else f"local_{operand}"
            sign = 1 << (width - 1) if signed else 0
            return f"(({name} ^ {sign}) - {sign})" if signed else name
        if not re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)U?", operand) or width is None:
            raise Unknown(f"operand {operand}")
        value = int(operand.rstrip("U"), 0) & ((1 << width) - 1)
        if signed and value >> (width - 1):
            value -= 1 << width
        return f"({value})"

    def _address(self, operand):
        parts = re.fullmatch(r"\[\s*(%?\w+)\s*(?:\+\s*(-?\d+))?\s*\]", operand)
        if not parts:
            raise Unknown(f"address {operand}")
        return parts[1], int(parts[2] or 0)

    def _vector(self, operand):
        return [part.strip() for part in operand.strip("{}").split(",")]

    def _statement(self, opcode, operands):
        family, *options = opcode.split(".")
        handler = getattr(self, f"_op_{family}", None)
        if not handler:
            raise Unknown(f"opcode {opcode}")
        return handler(opcode, options, operands)

    def _expect(self, condition, opcode):
        if not condition:
            raise Unknown(f"opcode {opcode}")

    def _op_bra(self, opcode, options, operands):
        self._expect(options in ([], ["uni"]), opcode)
        return f"at = {self._labels[operands[0]]}; continue"

    def _op_ret(self, opcode, options, operands):
        self._expect(not options, opcode)
        return "return count"

    def _op_ld(self, opcode, options, operands):
        space, kind = options[0], options[-1]
        self._expect(space in ("param", "global") and len(options) - 2 == (len(operands[0]) > 0 and operands[0][0] == "{"), opcode)
        size = width_of(kind) // 8
        base, offset = self._address(operands[1])
        targets = self._vector(operands[0])
        if len(targets) > 1:
            self._expect(options[1] == f"v{len(targets)}", opcode)
        if space == "param":
            if base != self._parameter or offset % size or offset + size * len(targets) > self.parameter_bytes:
                raise Unknown(f"parameter {operands[1]}")
            loaded = f"int.from_bytes(parameter[{offset}:{offset + size * len(targets)}], 'little')"
        else:
            address = f"{self._value(base)} + {offset}"
            loaded = f"load('{opcode}', {address}, {size * len(targets)})"
        mask = (1 << 8 * size) - 1
        text = [f"loaded = {loaded}"]
        for i, target in enumerate(targets):
            value = f"loaded >> {8 * size * i} & {mask}"
            if kind[0] == "s":  # extended to the register
                sign = 1 << (8 * size - 1)
                value = f"((({value}) ^ {sign}) - {sign}) & {(1 << self._register_width(target)) - 1}"
            text.append(f"{self._value(target)} = {value}")
        return "; ".join(text)

    def _register_width(self, register):
        for prefix, width in (("%rd", 64), ("%rs", 16), ("%r", 32)):
            if re.fullmatch(prefix + r"\d+", register):
                return width
        raise Unknown(f"register {register}")

    def _op_st(self, opcode, options, operands):
        values = self._vector(operands[1])
        vector = [f"v{len(values)}"] if len(values) > 1 else []
        self._expect(options[0] == "global" and options[1:-1] in (vector, ["cs", *vector]), opcode)
        width = width_of(options[-1])
        base, offset = self._address(operands[0])
        mask = (1 << width) - 1
        value = " | ".join(f"({self._value(v, width)} & {mask}) << {width * i}" for i, v in enumerate(values))
        return f"store('{opcode}', {self._value(base)} + {offset}, {width // 8 * len(values)}, {value})"

    def _op_mov(self, opcode, options, operands):
        self._expect(len(options) == 1, opcode)
        target, source = operands
        if options[0] == "pred":
            return f"{self._value(target)} = {self._value(source)}"
        width = width_of(options[0])
        if target[0] == "{":
            parts = self._vector(target)
            part = width // len(parts)
            return "; ".join(f"{self._value(p)} = {self._value(source)} >> {part * i} & {(1 << part) - 1}"
                             for i, p in enumerate(parts) if p != "_")
        if source[0] == "{":
            parts = self._vector(source)
            part = width // len(parts)
            return f"{self._value(target)} = " + " | ".join(f"{self._value(p, part)} << {part * i}" for i, p in enumerate(parts))
        return f"{self._value(target)} = {self._value(source, width)}"

    def _op_cvta(self, opcode, options, operands):
        self._expect(options == ["to", "global", "u64"], opcode)
        return f"{self._value(operands[0])} = {self._value(operands[1])}"

    def _op_cvt(self, opcode, options, operands):
        self._expect(len(options) == 2, opcode)
        to, source = options
        width = width_of(source)
        value = f"({self._value(operands[1], width)} & {(1 << width) - 1})"
        if source[0] == "s":
            sign = 1 << (width - 1)
            value = f"(({value} ^ {sign}) - {sign})"
        return f"{self._value(operands[0])} = {value} & {(1 << width_of(to)) - 1}"

    def _arithmetic(self, opcode, options, operands, write, allowed=((),)):
        """`write` makes the expression of operands that are signed or not as the type says."""
        self._expect(tuple(options[:-1]) in allowed, opcode)
        width = width_of(options[-1])
        signed = options[-1][0] == "s"
        values = [self._value(o, width, signed) for o in operands[1:]]
        result = 2 * width if "wide" in options else width
        return f"{self._value(operands[0])} = ({write(*values)}) & {(1 << result) - 1}"

    def _op_add(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a, b: f"{a} + {b}")

    def _op_sub(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a, b: f"{a} - {b}")

    def _op_neg(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a: f"-{a}")

    def _op_mul(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a, b: f"{a} * {b}", (("lo",), ("wide",)))

    def _op_mad(self, opcode, options, operands):
        self._expect(options[0] == "lo", opcode)
        return self._arithmetic(opcode, options, operands, lambda a, b, c: f"{a} * {b} + {c}", (("lo",),))

    def _op_min(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a, b: f"min({a}, {b})")

    def _op_max(self, opcode, options, operands):
        return self._arithmetic(opcode, options, operands, lambda a, b: f"max({a}, {b})")

    def _op_div(self, opcode, options, operands):
        self._expect(options[-1][0] == "u", opcode)
        return self._arithmetic(opcode, options, operands, lambda a, b: f"{a} // {b}")

    def _op_rem(self, opcode, options, operands):
        self._expect(options[-1][0] == "u", opcode)
        return self._arithmetic(opcode, options, operands, lambda a, b: f"{a} % {b}")

    def _shift(self, opcode, options, operands, write):
        # The distance has 32 bits whatever the type, and is cut to the width.
        self._expect(len(options) == 1, opcode)
        width = width_of(options[0])
        value = self._value(operands[1], width, options[0][0] == "s")
        distance = f"min({self._value(operands[2], 32)}, {width})"
        return f"{self._value(operands[0])} = ({write(value, distance)}) & {(1 << width) - 1}"

    def _op_shl(self, opcode, options, operands):
        return self._shift(opcode, options, operands, lambda a, n: f"{a} << {n}")

    def _op_shr(self, opcode, options, operands):
        return self._shift(opcode, options, operands, lambda a, n: f"{a} >> {n}")

    def _op_bfe(self, opcode, options, operands):
        self._expect(options == ["u32"], opcode)
        value, first, count = (self._value(o, 32) for o in operands[1:])
        return f"{self._value(operands[0])} = {value} >> min({first} & 255, 32) & (1 << min({count} & 255, 32)) - 1"

    def _bitwise(self, opcode, options, operands, sign):
        self._expect(len(options) == 1, opcode)
        width = None if options[0] == "pred" else width_of(options[0])
        return f"{self._value(operands[0])} = {self._value(operands[1], width)} {sign} {self._value(operands[2], width)}"

    def _op_and(self, opcode, options, operands):
        return self._bitwise(opcode, options, operands, "&")

    def _op_or(self, opcode, options, operands):
        return self._bitwise(opcode, options, operands, "|")

    def _op_xor(self, opcode, options, operands):
        return self._bitwise(opcode, options, operands, "^")

    def _op_not(self, opcode, options, operands):
        self._expect(len(options) == 1, opcode)
        if options[0] == "pred":
            return f"{self._value(operands[0])} = not {self._value(operands[1])}"
        width = width_of(options[0])
        return f"{self._value(operands[0])} = ~{self._value(operands[1], width)} & {(1 << width) - 1}"

    def _op_selp(self, opcode, options, operands):
        self._expect(len(options) == 1, opcode)
        width = width_of(options[0])
        yes, no = (self._value(o, width) for o in operands[1:3])
        return f"{self._value(operands[0])} = {yes} if {self._value(operands[3])} else {no}"

    def _op_setp(self, opcode, options, operands):
        self._expect(len(options) == 2 and options[0] in COMPARE, opcode)
        width = width_of(options[1])
        left, right = (self._value(o, width, options[1][0] == "s") for o in operands[1:])
        return f"{self._value(operands[0])} = {left} {COMPARE[options[0]]} {right}"
