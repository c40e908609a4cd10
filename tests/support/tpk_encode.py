"""Encodes .tpk files from spec/format.md, independently of the C++ writer, with a hook at every step that a test
may want to make wrong.

    file = dataset([[seq([10, 11, 12]), seq([20, 21])]], capacity=8)
    data, notes = file.build()
"""
import dataclasses
import json
import math
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "ctypes_xxhash"))  # where PyPI's is not installed
import xxhash

PAGE, BLOCK = 4096, 1 << 20
TYPES = {"u8": (1, 1, "B"), "u16": (2, 2, "H"), "u32": (3, 4, "I"), "u64": (4, 8, "Q"), "i32": (5, 4, "i"),
         "i64": (6, 8, "q"), "f16": (7, 2, "e"), "bf16": (8, 2, None), "f32": (9, 4, "f"), "bytes": (10, 1, None)}
SCOPES = {"file": 1, "pack": 2, "sequence": 3, "token": 4}
KINDS = {"tokens": 1, "pack_token_offsets": 2, "pack_sequence_offsets": 3, "cu_seqlens": 4, "loss_bits": 5,
         "labels": 6, "targets": 7, "sources": 8, "first_token_positions": 9, "tail_labels": 10, "column": 11,
         "column_offsets": 12, "column_values": 13, "metadata": 14, "checksums": 15}
REQUIRED_KINDS = {1, 2, 3, 4, 5, 6, 7, 8, 10}
LABEL_KINDS = {"all": 0, "loss_mask": 1, "explicit": 2}
HEADER = [  # name, struct code; in file order, without gaps
    ("magic", "8s"), ("version_major", "H"), ("version_minor", "H"), ("header_bytes", "I"),
    ("required_features", "Q"), ("ignorable_features", "Q"), ("file_size", "Q"), ("packs", "Q"),
    ("sequences", "Q"), ("tokens", "Q"), ("samples", "Q"), ("targets", "Q"), ("capacity", "I"),
    ("alignment", "I"), ("token_type", "B"), ("label_kind", "B"), ("section_count", "H"), ("ignore_index", "i"),
    ("pad_id", "I"), ("vocab_size", "I"), ("longest_sequence", "I"), ("most_sequences_in_pack", "I"),
    ("content_digest", "16s"), ("reserved", "128s")]


def page_up(n):
    return -(-n // PAGE) * PAGE


def blocks_of(data):
    return [data[i:i + BLOCK] for i in range(0, len(data), BLOCK)]


def hash128(data):
    value = xxhash.xxh3_128_intdigest(data)
    return struct.pack("<QQ", value & (1 << 64) - 1, value >> 64)


def hex128(stored):
    low, high = struct.unpack("<QQ", stored)
    return f"{high:016x}{low:016x}"


def pack_values(type_name, values):
    """Numbers (or, for bytes, hex strings) as stored."""
    if type_name == "bytes":
        return b"".join(bytes.fromhex(v) for v in values)
    if type_name == "bf16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack(f"<{len(values)}{TYPES[type_name][2]}", *values)


def canonical_json(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


@dataclasses.dataclass
class Section:
    name: str
    kind: int
    type: str
    scope: str
    data: bytes
    width: int = 1
    flags: int = 0
    override: dict = dataclasses.field(default_factory=dict)  # entry fields to write instead of the right ones
    offset: int = 0
    hash: bytes = b""

    def entry(self):
        right = {"kind": self.kind, "element_type": TYPES[self.type][0], "scope": SCOPES[self.scope],
                 "flags": self.flags, "width": self.width, "offset": self.offset, "length": len(self.data),
                 "hash": self.hash, "name": self.name.encode()}
        right.update(self.override)
        return struct.pack("<HBBHHQQ16s24s", *right.values())


def built_in(name, type_name, scope, data):
    kind = KINDS[name]
    return Section(name, kind, type_name, scope, data, flags=1 if kind in REQUIRED_KINDS else 0)


@dataclasses.dataclass
class TpkFile:
    header: dict
    sections: list  # all but checksums
    header_override: dict = dataclasses.field(default_factory=dict)
    edit_checksums: object = None  # called with the checksums' bytearray before it is hashed
    checksums_at: int = None  # index of the checksums section, the last by default
    edit: object = None  # called with the finished bytearray before page 0 is sealed (digest, checksum)
    edit_sealed: object = None  # called with the sealed bytearray
    drop_checksums: bool = False

    def section(self, name):
        return next(s for s in self.sections if s.name == name)

    def build(self):
        """The bytes and their notes for a vector file."""
        sums = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(b)) for s in self.sections
                        for b in blocks_of(s.data))
        for s in self.sections:
            s.hash = hash128(b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(b)) for b in blocks_of(s.data)))
        if self.edit_checksums:
            sums = bytearray(sums)
            self.edit_checksums(sums)
            sums = bytes(sums)
        checksums = built_in("checksums", "u64", "file", sums)
        checksums.hash = hash128(sums)
        self.all_sections = list(self.sections)
        if not self.drop_checksums:
            at = len(self.sections) if self.checksums_at is None else self.checksums_at
            self.all_sections.insert(at, checksums)
        h = dict(self.header)
        h["header_bytes"] = page_up(256 + 64 * len(self.all_sections) + 8)
        h["section_count"] = len(self.all_sections)
        h.update({k: v for k, v in self.header_override.items() if k == "header_bytes"})
        end, body = h["header_bytes"], bytearray()
        for s in self.all_sections:
            s.offset = page_up(end)
            body += bytes(s.offset - h["header_bytes"] - len(body)) + s.data
            end = s.offset + len(s.data)
        h["file_size"] = end
        h.update(self.header_override)
        entries = b"".join(s.entry() for s in self.all_sections)
        digest = b"".join(struct.pack("<" + code, h[name]) for name, code in [
            ("version_major", "H"), ("version_minor", "H"), ("packs", "Q"), ("sequences", "Q"), ("tokens", "Q"),
            ("capacity", "I"), ("alignment", "I"), ("token_type", "B"), ("label_kind", "B"), ("ignore_index", "i")])
        for i in range(0, len(entries), 64):
            if entries[i:i + 2] not in (b"\x0e\x00", b"\x0f\x00"):
                digest += entries[i:i + 8] + bytes(8) + entries[i + 16:i + 64]
        h.setdefault("content_digest", hash128(digest))
        self.final_header = h
        page0 = bytearray(b"".join(struct.pack("<" + code, h[name]) for name, code in HEADER) + entries)
        page0 += bytes(max(0, h["header_bytes"] - len(page0)))
        data = page0[:h["header_bytes"]] + body
        if self.edit:
            self.edit(data)
        data[h["header_bytes"] - 8:h["header_bytes"]] = struct.pack(
            "<Q", xxhash.xxh3_64_intdigest(bytes(data[:h["header_bytes"] - 8])))
        if self.edit_sealed:
            self.edit_sealed(data)
        return bytes(data), self.notes(data)

    def notes(self, data):
        notes, at = [], 0
        for name, code in HEADER:
            size = struct.calcsize("<" + code)
            value = "" if code.endswith("s") else f" = {self.final_header[name]}"
            notes.append((at, size, name + value))
            at += size
        at = 256
        for i, s in enumerate(self.all_sections):
            kind = next((k for k, v in KINDS.items() if v == s.kind), f"kind {s.kind}")
            notes += [(at, 8, f"entry {i}: {kind}, {s.type}, scope {s.scope}, flags {s.flags}, width {s.width}"),
                      (at + 8, 16, f"  offset {s.offset}, length {len(s.data)}"), (at + 24, 16, "  hash"),
                      (at + 40, 24, f"  name {s.name}")]
            at += 64
        end = self.final_header["header_bytes"]
        notes.append((end - 8, 8, "XXH3-64 of page 0"))
        notes += [(s.offset, len(s.data), s.name) for s in self.all_sections if s.data]
        return [n for n in notes if n[0] + n[1] <= len(data)]


@dataclasses.dataclass
class Seq:
    tokens: list
    source: int = None  # None = one more than the sequence before
    mask: list = None
    labels: list = None
    tail: int = None
    first: int = 0


seq = Seq


@dataclasses.dataclass
class Column:
    name: str
    type: str
    scope: str
    rows: list  # numbers, or lists where width > 1; ragged: lists of those; bytes: hex strings
    width: int = 1
    ragged: bool = False

    def sections(self):
        def flat(rows):
            if self.width == 1 or self.type == "bytes":
                return list(rows)
            return [v for row in rows for v in row]

        if not self.ragged:
            return [Section(self.name, 11, self.type, self.scope, pack_values(self.type, flat(self.rows)), self.width)]
        offsets, values = [0], []
        for row in self.rows:
            if self.type == "bytes":
                offsets.append(offsets[-1] + len(bytes.fromhex(row)) // self.width)
                values.append(row)
            else:
                offsets.append(offsets[-1] + len(row))
                values += flat(row)
        return [Section(self.name, 12, "u64", self.scope, pack_values("u64", offsets)),
                Section(self.name, 13, self.type, self.scope, pack_values(self.type, values), self.width)]


def shown(rows):
    """Rows as the dump prints them: values that are not finite are strings."""
    if isinstance(rows, list):
        return [shown(r) for r in rows]
    if isinstance(rows, float) and not math.isfinite(rows):
        return "nan" if math.isnan(rows) else "inf" if rows > 0 else "-inf"
    return rows


def stored_labels(s, label_kind, ignore):
    if label_kind == "all":
        return list(s.tokens)
    if label_kind == "loss_mask":
        return [t if bit else ignore for t, bit in zip(s.tokens, s.mask, strict=True)]
    return list(s.labels)


@dataclasses.dataclass
class Model:
    """What a dataset holds, kept to say what a dump of it must show."""
    file: TpkFile
    packs: list
    columns: list
    label_kind: str
    token_type: str
    metadata: object

    def expected_dump(self):
        h = self.file.final_header
        names = {v: k for k, v in KINDS.items()}
        out = {k: h[k] for k in ("alignment", "capacity", "file_size", "ignore_index", "longest_sequence",
                                 "most_sequences_in_pack", "packs", "pad_id", "samples", "sequences", "targets",
                                 "tokens", "vocab_size")}
        out["account"] = (self.metadata or {}).get("account")
        out["columns"] = [{"name": c.name, "type": c.type, "scope": c.scope, "width": c.width, "ragged": c.ragged}
                          for c in self.columns]
        out["digest"] = hex128(h["content_digest"])
        out["format_version"] = "0.1"
        out["label_kind"] = self.label_kind
        out["metadata"] = self.metadata or {}
        out["sections"] = [{"name": s.name, "kind": names.get(s.kind, f"unknown_{s.kind}"), "element_type": s.type,
                            "scope": s.scope, "width": s.width, "offset": s.offset, "length": len(s.data),
                            "hash": hex128(s.hash)} for s in self.file.all_sections]
        out["token_type"] = self.token_type
        out["utilization"] = round(h["tokens"] / (h["packs"] * h["capacity"]), 6) if h["packs"] else 0.0
        return out

    def expected_pack(self, p):
        pack, ignore = self.packs[p], self.file.header["ignore_index"]
        before = [s for q in self.packs[:p] for s in q]
        begin = {"pack": p, "sequence": len(before), "token": sum(len(s.tokens) for s in before)}
        count = {"pack": 1, "sequence": len(pack), "token": sum(len(s.tokens) for s in pack)}
        bounds = [0]
        for s in pack:
            bounds.append(bounds[-1] + len(s.tokens))
        return {
            "pack": p, "tokens": [t for s in pack for t in s.tokens],
            "stored_labels": [v for s in pack for v in stored_labels(s, self.label_kind, ignore)],
            "cu_seqlens": bounds, "sources": [s.source for s in pack],
            "first_token_positions": [s.first for s in pack],
            "tail_labels": [ignore if s.tail is None else s.tail for s in pack],
            "columns": {c.name: shown(c.rows[begin[c.scope]:begin[c.scope] + count[c.scope]])
                        for c in self.columns if c.scope != "file"}}


def dataset(packs, *, capacity, token_type="u16", label_kind="all", alignment=1, ignore_index=-100, pad_id=0,
            vocab_size=0, samples=None, columns=(), metadata=None):
    """A Model of these packs (lists of Seq) with every section in the order in which a writer puts it."""
    source = -1
    for s in (s for pack in packs for s in pack):
        s.source = source + 1 if s.source is None else s.source
        source = s.source
    flat = [s for pack in packs for s in pack]
    if samples is None:
        samples = max((s.source for s in flat), default=-1) + 1
    counts = [sum(len(s.tokens) for s in pack) for pack in packs]
    token_offsets, sequence_offsets, bounds, bits, targets = [0], [0], [], bytearray(), []
    for p, pack in enumerate(packs):
        at = 0
        bounds.append(0)
        begin = (token_offsets[p] >> 3) + p
        bits += bytes(begin - len(bits))
        pack_bits = bytearray(((token_offsets[p] + counts[p]) >> 3) + p + 1 - begin)
        count = 0
        for s in pack:
            labels = stored_labels(s, label_kind, ignore_index)
            count += sum(v != ignore_index for v in labels[1:])
            count += s.tail is not None and s.tail != ignore_index
            if label_kind == "loss_mask":
                for i, bit in enumerate(s.mask):
                    pack_bits[(at + i) // 8] |= bit << (at + i) % 8
            at += len(s.tokens)
            bounds.append(at)
        bits += pack_bits
        targets.append(count)
        token_offsets.append(token_offsets[-1] + counts[p])
        sequence_offsets.append(sequence_offsets[-1] + len(pack))
    wide = "u64" if samples >= 1 << 32 else "u32"
    sections = [built_in("tokens", token_type, "token", pack_values(token_type, [t for s in flat for t in s.tokens])),
                built_in("pack_token_offsets", "u64", "file", pack_values("u64", token_offsets)),
                built_in("pack_sequence_offsets", "u64", "file", pack_values("u64", sequence_offsets)),
                built_in("cu_seqlens", "i32", "file", pack_values("i32", bounds))]
    if label_kind == "loss_mask":
        sections.append(built_in("loss_bits", "bytes", "file", bytes(bits)))
    if label_kind == "explicit":
        sections.append(built_in("labels", "i32", "token", pack_values("i32", [v for s in flat for v in s.labels])))
    sections.append(built_in("targets", "u32", "pack", pack_values("u32", targets)))
    sections.append(built_in("sources", wide, "sequence", pack_values(wide, [s.source for s in flat])))
    if any(s.first for s in flat):
        sections.append(built_in("first_token_positions", "u32", "sequence",
                                 pack_values("u32", [s.first for s in flat])))
    if any(s.tail is not None for s in flat):
        sections.append(built_in("tail_labels", "i32", "sequence", pack_values(
            "i32", [ignore_index if s.tail is None else s.tail for s in flat])))
    for c in columns:
        sections += c.sections()
    if metadata is not None:
        sections.append(built_in("metadata", "bytes", "file", canonical_json(metadata)))
    header = {"magic": b"\x89TPK\r\n\x1a\n", "version_major": 0, "version_minor": 1, "required_features": 0,
              "ignorable_features": 0, "packs": len(packs), "sequences": len(flat), "tokens": sum(counts),
              "samples": samples, "targets": sum(targets), "capacity": capacity, "alignment": alignment,
              "token_type": TYPES[token_type][0], "label_kind": LABEL_KINDS[label_kind],
              "ignore_index": ignore_index, "pad_id": pad_id, "vocab_size": vocab_size,
              "longest_sequence": max((len(s.tokens) for s in flat), default=0),
              "most_sequences_in_pack": max((len(pack) for pack in packs), default=0), "reserved": b""}
    return Model(TpkFile(header, sections), packs, list(columns), label_kind, token_type, metadata)
