"""What each PTX instruction means, as a statement of Python; one that is not listed here raises Unknown.

Registers become local variables that hold unsigned numbers of the register's width, predicates bools. A subclass
has `_labels` (of basic blocks), `_parameter` and `parameter_bytes` (the kernel's one parameter).
"""

import re


class Unknown(Exception):
    """PTX that this interpreter has no meaning for."""


SPECIAL = {f"%{name}.{axis}": f"{name}_{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


def width_of(kind):
    if not re.fullmatch(r"[busf](8|16|32|64)", kind) or kind[0] == "f":
        raise Unknown(f"type .{kind}")
    return int(kind[1:])


class Statements:
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
            constant = {"0": "False", "-1": "True"}.get(source)
            return f"{self._value(target)} = {constant or self._value(source)}"
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
