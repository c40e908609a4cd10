#!/usr/bin/env python3
"""Writes spec/vectors: every vector is built here from the spec, by tpk_encode.py, and committed as text.

    python3 tests/support/make_vectors.py [FOLDER]

The expectations come from the models below, not from a reader. Running it again changes nothing.
"""
import pathlib
import re
import sys

import reference_json
import vector_file
import vectors_invalid
import vectors_valid

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_valid(folder, name, vector):
    data, notes = vector.model.file.build()
    out = vector_file.Vector(name, data, vector.comments)
    out.verify = ["ok"]
    out.dump = reference_json.text(vector.model.expected_dump())
    for p in vector.packs if vector.packs is not None else range(len(vector.model.packs)):
        out.packs[p] = reference_json.text(vector.model.expected_pack(p))
    out.pack_errors[len(vector.model.packs)] = "pack_range"
    vector_file.write_vector(folder / f"{name}.txt", out, notes)
    return vector_file.encode_hex(data, notes)


def write_invalid(folder, name, vector):
    data, notes = vector.build()
    out = vector_file.Vector(name, data, vector.comments, open=vector.open, verify=vector.verify,
                             pack_errors=vector.pack_errors)
    vector_file.write_vector(folder / f"{name}.txt", out, notes)


def print_in_spec(lines, name):
    """Puts the vector's hex lines into format.md under its mark."""
    path = ROOT / "spec" / "format.md"
    text = path.read_text(encoding="utf-8")
    mark = f"<!-- hex: {name} -->\n```\n"
    pattern = re.compile(re.escape(mark) + r".*?```\n", re.DOTALL)
    path.write_text(pattern.sub(lambda _: mark + "\n".join(lines) + "\n```\n", text), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "spec" / "vectors"
    for kind in ("valid", "invalid"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for old in (folder / kind).glob("*.txt"):
            old.unlink()
    for name, vector in vectors_valid.all_vectors().items():
        lines = write_valid(folder / "valid", name, vector)
        if name == "spec_example" and len(sys.argv) == 1:
            print_in_spec(lines, name)
    for name, vector in vectors_invalid.all_vectors().items():
        write_invalid(folder / "invalid", name, vector)


if __name__ == "__main__":
    main()
