"""How an invalid vector is made: a right file, one fault, and everything else right again."""
import dataclasses

from tpk_encode import Column, pack_values
from vectors_valid import two_packs

ALL = {}


@dataclasses.dataclass
class Invalid:
    comments: list
    build: object  # -> bytes, notes
    open: str = "ok"
    verify: list = dataclasses.field(default_factory=list)
    pack_errors: dict = dataclasses.field(default_factory=dict)


def refused(error, name, comment, build):
    """A file that is refused at open. The vector is called ERROR or ERROR__NAME."""
    key = error + (f"__{name}" if name else "")
    assert key not in ALL, key
    ALL[key] = Invalid([comment], build, open=error, verify=[error])


def found(errors, name, comment, model, pack_errors=None):
    """A file that opens and has `errors` inside."""
    errors = errors.split()
    key = errors[0] + (f"__{name}" if name else "")
    assert key not in ALL, key
    build = model.file.build if not callable(model) else model
    ALL[key] = Invalid([comment], build, verify=errors, pack_errors=pack_errors or {})


def literal(data):
    return lambda: (data, [(0, min(len(data), 64), "")])


def header(model=None, **fields):
    """A file with these header fields written instead of the right ones."""
    model = model or two_packs()
    model.file.header_override.update(fields)
    return model.file.build


def entry(section, model=None, **fields):
    model = model or two_packs()
    model.file.section(section).override.update(fields)
    return model.file.build


def changed(function, model=None):
    """The model's file after `function(file)`."""
    model = model or two_packs()
    function(model.file)
    return model.file.build


def cut(size, model=None):
    def build():
        data, notes = (model or two_packs()).file.build()
        return data[:size], [n for n in notes if n[0] + n[1] <= size]
    return build


def longer(count, model=None):
    def build():
        data, notes = (model or two_packs()).file.build()
        return data + bytes(count), notes
    return build


def magic(new):
    def edit(data):
        data[:8] = b""
        data[0:0] = new
    return changed(lambda file: setattr(file, "edit_sealed", edit))


def content(section, type_name, index, value, model=None):
    """One element of a section replaced; checksums, hashes and digest are right for it."""
    model = model or two_packs()
    s = model.file.section(section)
    data = bytearray(s.data)
    piece = pack_values(type_name, [value])
    data[index * len(piece):(index + 1) * len(piece)] = piece
    s.data = bytes(data)
    return model


def ragged(**options):
    return two_packs(columns=[Column("extra", "u16", "sequence", [[1], [2, 3], []], ragged=True, **options)])


def ragged_sections(file):
    """Indices of the ragged column's two sections."""
    i = next(i for i, s in enumerate(file.sections) if s.kind == 12)
    return i, i + 1
