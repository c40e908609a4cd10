"""Reads and writes the text form of a test vector (spec/vectors/README.md)."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Vector:
    name: str
    data: bytes
    comments: list = dataclasses.field(default_factory=list)
    open: str = "ok"
    verify: list = dataclasses.field(default_factory=list)  # [] = nothing said, ["ok"], or error names
    dump: str = ""  # "" = nothing said
    packs: dict = dataclasses.field(default_factory=dict)  # pack number -> JSON text
    pack_errors: dict = dataclasses.field(default_factory=dict)  # pack number -> error name


def decode_hex(lines):
    """The bytes of hex lines: `OFFSET: BYTES # comment` and `@OFFSET zero N`."""
    data = bytearray()
    for line in lines:
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        if text.startswith("@"):
            offset, word, count = text[1:].split()
            if word != "zero":
                raise ValueError(f"unknown fill {word!r}")
            piece = bytes(int(count))
        else:
            offset, digits = text.split(":")
            piece = bytes.fromhex(digits)
        if int(offset, 16) != len(data):
            raise ValueError(f"line says offset {offset}, {len(data):08x} bytes came before: {line!r}")
        data += piece
    return bytes(data)


def read_vector(path):
    path = pathlib.Path(path)
    vector = Vector(path.stem, b"")
    hex_lines, block = None, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if hex_lines is not None:
            if line.startswith("end "):
                vector.data = decode_hex(hex_lines)
                if len(vector.data) != int(line.split()[1]):
                    raise ValueError(f"{path}: {len(vector.data)} bytes, but {line!r}")
                hex_lines = None
            else:
                hex_lines.append(line)
        elif line == "bytes":
            hex_lines = []
        elif line.startswith("expect-"):
            key, _, value = line.partition(":")
            value = value.strip()
            block = None
            if key == "expect-open":
                vector.open = value
            elif key == "expect-verify":
                vector.verify = value.split()
            elif key == "expect-pack-error":
                number, name = value.split()
                vector.pack_errors[int(number)] = name
            elif key == "expect-dump":
                block = "dump"
            elif key == "expect-pack":
                block = int(value)
                vector.packs[block] = ""
            else:
                raise ValueError(f"{path}: unknown {line!r}")
        elif block == "dump":
            vector.dump += line + "\n"
        elif block is not None:
            vector.packs[block] += line + "\n"
        elif line.startswith("#"):
            vector.comments.append(line[1:].strip())
        elif line.strip():
            raise ValueError(f"{path}: stray line {line!r}")
    if hex_lines is not None:
        raise ValueError(f"{path}: no end line")
    return vector


def read_all(folder):
    """Every vector of a folder, by name."""
    return [read_vector(path) for path in sorted(pathlib.Path(folder).glob("*.txt"))]


def _hex_line(offset, piece, comment):
    left = f"{offset:08x}: {piece.hex(' ')}"
    return f"{left:<57}  # {comment}" if comment else left


def encode_hex(data, notes):
    """Hex lines of `data`; `notes` are (offset, length, comment), ascending. Long zero runs are elided."""
    lines, at = [], 0
    for offset, length, comment in [*notes, (len(data), 0, "")]:
        at = _plain(data, at, offset, lines, "")
        if length:
            at = _plain(data, offset, offset + length, lines, comment)
    return lines


def _plain(data, at, end, lines, comment):
    while at < end:
        zeros = at
        while zeros < end and data[zeros] == 0:
            zeros += 1
        if zeros - at >= 32:
            line = f"@{at:08x} zero {zeros - at}"
            lines.append(f"{line:<57}  # {comment}" if comment else line)
            at = zeros
        else:
            # A long zero run inside the piece gets a line of its own.
            stop = min(end, at + 16)
            lines.append(_hex_line(at, data[at:stop], comment))
            at = stop
        comment = ""
    return at


def write_vector(path, vector, notes):
    out = [f"# {line}".rstrip() for line in vector.comments]
    out.append("bytes")
    out += encode_hex(vector.data, notes)
    out.append(f"end {len(vector.data)}")
    out.append(f"expect-open: {vector.open}")
    if vector.verify:
        out.append("expect-verify: " + " ".join(vector.verify))
    for number, name in vector.pack_errors.items():
        out.append(f"expect-pack-error: {number} {name}")
    text = "\n".join(out) + "\n"
    if vector.dump:
        text += "expect-dump:\n" + vector.dump
    for number, pack in vector.packs.items():
        text += f"expect-pack: {number}\n" + pack
    pathlib.Path(path).write_text(text, encoding="utf-8")
