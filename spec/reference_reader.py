#!/usr/bin/env python3
"""Reads .tpk files: written from format.md alone, with Python's standard library, for clarity and not for speed.

    reference_reader.py FILE            what `tokpack dump FILE --json` prints
    reference_reader.py FILE --pack P   what `tokpack dump FILE --json --pack P` prints
    reference_reader.py FILE --verify   the names of all errors found by section 13, one a line; nothing = none

A refusal is a line on standard error that begins with the error's name of section 14, and exit status 3
(--verify: the name on standard output, status 1). XXH3 is checked where the module `xxhash` can be imported.
Clauses of format.md stand in brackets. Public domain (CC0 1.0).
"""
import argparse
import itertools
import json
import math
import mmap
import os
import re
import struct
import sys

from reference_layout import KIND_NAMES, LABEL_KINDS, TYPES, Layout, Refused, hex128, need, xxhash
from reference_metadata import parse_metadata


class TpkFile(Layout):
    """A file and what it holds."""

    # ---- values ----

    def values(self, s, begin, end):
        """Elements [begin, end) of a section."""
        name, size, code = TYPES[s.element_type]
        raw = self.data[s.offset + begin * size:s.offset + end * size]
        numbers = struct.unpack(f"<{end - begin}{code}", raw)
        if name == "bf16":
            return [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in numbers]
        return list(numbers)

    def array(self, kind, begin, end):
        return self.values(self.by_kind[kind], begin, end)

    def bounds(self, p):
        """Token and sequence ranges of pack p, checked (B-1 to B-3)."""
        h = self.header
        need(0 <= p < h["packs"], "pack_range", f"pack {p} of {h['packs']}")
        out = []
        for kind, total in ((2, h["tokens"]), (3, h["sequences"])):
            a, b = self.array(kind, p, p + 2)
            most = out[1] - out[0] if out else h["capacity"]
            need(a < b <= total and b - a <= most and (p > 0 or a == 0) and (p < h["packs"] - 1 or b == total),
                 KIND_NAMES[kind], f"pack {p} is {a} to {b} of {total}")
            out += [a, b]
        return out

    def cu_seqlens(self, p, tokens, first, last):
        """The pack's boundaries, checked (B-4)."""
        values = self.array(4, first + p, last + p + 1)
        need(values[0] == 0 and values[-1] == tokens and all(a < b for a, b in itertools.pairwise(values)),
             "cu_seqlens", f"boundaries of pack {p} are not ascending from 0 to {tokens}")
        return values

    def stored_labels(self, p, begin, end):
        """L-2, for tokens [begin, end) of pack p."""
        kind = self.header["label_kind"]
        if kind == 2:
            return self.array(6, begin, end)
        tokens = self.array(1, begin, end)
        if kind == 0:
            return tokens
        first = (begin >> 3) + p
        bits = self.array(5, first, first + (end - begin + 7) // 8)
        return [t if bits[i // 8] >> i % 8 & 1 else self.header["ignore_index"] for i, t in enumerate(tokens)]

    def per_sequence(self, kind, begin, end, default):
        return self.array(kind, begin, end) if kind in self.by_kind else [default] * (end - begin)

    def column_rows(self, c, begin, end):
        """Rows [begin, end) as the dump prints them (section 20); ragged offsets are checked (B-5)."""
        s = c.values
        limit = s.length // s.row_bytes
        offsets = list(range(begin, end + 1))
        if c.offsets:
            total = self.rows(c.scope)
            offsets = self.values(c.offsets, begin, end + 1)
            need(all(a <= b for a, b in itertools.pairwise(offsets)) and offsets[-1] <= limit
                 and (begin > 0 or offsets[0] == 0) and (end < total or offsets[-1] == limit), "ragged_offsets",
                 f"offsets of column {c.name}, rows {begin} to {end}, are not ascending within {limit}")
        flat = self.values(s, offsets[0] * s.width, offsets[-1] * s.width)
        flat = [v if not isinstance(v, float) or math.isfinite(v) else
                "nan" if math.isnan(v) else "inf" if v > 0 else "-inf" for v in flat]
        rows = []
        for a, b in itertools.pairwise(offsets):
            part = flat[(a - offsets[0]) * s.width:(b - offsets[0]) * s.width]
            if s.type_name == "bytes":
                rows.append(bytes(part).hex())
                continue
            if s.width > 1:
                part = [part[i:i + s.width] for i in range(0, len(part), s.width)]
            rows.append(part if c.offsets else part[0])
        return rows

    def metadata_text(self):
        s = self.by_kind.get(14)
        return bytes(self.data[s.offset:s.offset + s.length]) if s else b"{}"

    # ---- section 20: the dump ----

    def dump(self):
        h = self.header
        try:
            metadata = parse_metadata(self.metadata_text())
        except Refused as error:
            print(f"{error.name}: {error}", file=sys.stderr)
            metadata = None
        out = {k: h[k] for k in ("alignment capacity file_size ignore_index longest_sequence most_sequences_in_pack "
                                 "packs pad_id samples sequences targets tokens vocab_size").split()}
        out.update(
            account=(metadata or {}).get("account"),
            columns=[{"name": c.name, "type": c.values.type_name, "scope": c.scope, "width": c.values.width,
                      "ragged": c.offsets is not None} for c in self.columns],
            digest=hex128(h["content_digest"]), format_version=f"{h['version_major']}.{h['version_minor']}",
            label_kind=LABEL_KINDS[h["label_kind"]], metadata=metadata,
            sections=[{"name": s.name, "kind": KIND_NAMES.get(s.kind, f"unknown_{s.kind}"),
                       "element_type": s.type_name, "scope": s.scope_name, "width": s.width, "offset": s.offset,
                       "length": s.length, "hash": hex128(s.hash)} for s in self.sections],
            token_type=TYPES[h["token_type"]][0],
            utilization=round(h["tokens"] / (h["packs"] * h["capacity"]), 6) if h["packs"] else 0.0)
        return out

    def dump_pack(self, p):
        t0, t1, s0, s1 = self.bounds(p)
        ranges = {"pack": (p, p + 1), "sequence": (s0, s1), "token": (t0, t1)}
        return {"pack": p, "cu_seqlens": self.cu_seqlens(p, t1 - t0, s0, s1), "tokens": self.array(1, t0, t1),
                "stored_labels": self.stored_labels(p, t0, t1), "sources": self.array(8, s0, s1),
                "first_token_positions": self.per_sequence(9, s0, s1, 0),
                "tail_labels": self.per_sequence(10, s0, s1, self.header["ignore_index"]),
                "columns": {c.name: self.column_rows(c, *ranges[c.scope]) for c in self.columns
                            if c.scope != "file"}}


def to_json(value, terminal=False):
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False)
    return re.sub("[\x7f-\x9f]", lambda m: f"\\u{ord(m[0]):04x}", text) if terminal else text


def open_file(path):
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")


def main():
    parser = argparse.ArgumentParser(description="Reads a .tpk file as spec/format.md says.")
    parser.add_argument("file")
    parser.add_argument("--pack", type=int, help="print this pack")
    parser.add_argument("--verify", action="store_true", help="print the names of all errors found")
    options = parser.parse_args()
    if not xxhash:
        print("reference_reader: no module xxhash: checksums, hashes and digest are not checked", file=sys.stderr)
    if options.verify:
        import reference_verify
        names = reference_verify.verify(open_file(options.file))
        print("\n".join(names), end="\n" if names else "")
        return 1 if names else 0
    try:
        file = TpkFile(open_file(options.file))
        value = file.dump() if options.pack is None else file.dump_pack(options.pack)
        print(to_json(value, sys.stdout.isatty()))
    except Refused as error:
        print(f"{error.name}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
