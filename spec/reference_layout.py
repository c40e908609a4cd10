"""Sections 3 to 6 and 11 of format.md, for reference_reader.py: page 0 and what it refuses.

Public domain (CC0 1.0).
"""
import re
import struct

try:
    import xxhash
except ImportError:
    xxhash = None

MAGIC = bytes.fromhex("89 54 50 4b 0d 0a 1a 0a")
PAGE, BLOCK, CAP = 4096, 1 << 20, 1 << 62
MAX_ID = (1 << 31) - 1

HEADER = struct.Struct("<8sHHIQQQQQQQQIIBBHiIIII16s128s")
HEADER_FIELDS = ("magic version_major version_minor header_bytes required_features ignorable_features file_size "
                 "packs sequences tokens samples targets capacity alignment token_type label_kind section_count "
                 "ignore_index pad_id vocab_size longest_sequence most_sequences_in_pack content_digest "
                 "reserved").split()
ENTRY = struct.Struct("<HBBHHQQ16s24s")
ENTRY_FIELDS = "kind element_type scope flags width offset length hash name".split()

# Element types: number -> name, bytes, struct code.
TYPES = {1: ("u8", 1, "B"), 2: ("u16", 2, "H"), 3: ("u32", 4, "I"), 4: ("u64", 8, "Q"), 5: ("i32", 4, "i"),
         6: ("i64", 8, "q"), 7: ("f16", 2, "e"), 8: ("bf16", 2, "H"), 9: ("f32", 4, "f"), 10: ("bytes", 1, "B")}
SCOPES = {1: "file", 2: "pack", 3: "sequence", 4: "token"}
LABEL_KINDS = {0: "all", 1: "loss_mask", 2: "explicit"}
KIND_NAMES = {1: "tokens", 2: "pack_token_offsets", 3: "pack_sequence_offsets", 4: "cu_seqlens", 5: "loss_bits",
              6: "labels", 7: "targets", 8: "sources", 9: "first_token_positions", 10: "tail_labels",
              11: "column", 12: "column_offsets", 13: "column_values", 14: "metadata", 15: "checksums"}
COLUMN_KINDS = (11, 12, 13)
BUILT_IN_NAMES = {name for kind, name in KIND_NAMES.items() if kind not in COLUMN_KINDS}
RESERVED_COLUMNS = {"group": "u32", "role": "u8", "weight": "f32", "domain": "u32", "prefix_len": "u32",
                    "doc_id": "u64", "truncated": "u8"}


class Refused(Exception):
    """A file, or a part of it, that breaks a clause."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


def need(condition, name, message):
    if not condition:
        raise Refused(name, message)


def page_up(n):
    return (n + PAGE - 1) // PAGE * PAGE


def block_count(length):
    return (length + BLOCK - 1) // BLOCK


def hash128(data):
    value = xxhash.xxh3_128_intdigest(data)
    return struct.pack("<QQ", value & (1 << 64) - 1, value >> 64)


def hex128(stored):
    low, high = struct.unpack("<QQ", stored)
    return f"{high:016x}{low:016x}"


def guess_kind(start):
    for magic, kind in ((b"MMIDIDX", "a Megatron or fairseq index"), (b"\x93NUMPY", "a NumPy array"),
                        (b"GGUF", "a GGUF file"), (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
                        (b"\x1f\x8b", "gzip-compressed data"), (b"PAR1", "a Parquet file")):
        if start.startswith(magic):
            return kind
    if not start:
        return "an empty file"
    if start[8:9] == b"{" or start.lstrip()[:1] == b"{":
        return "JSON or safetensors"
    return "text" if all(32 <= c < 127 or c in b"\t\r\n" for c in start) else "another kind of file"


class Section:
    """One entry of the section table (section 4)."""

    def __init__(self, index, raw):
        self.index = index
        self.__dict__.update(zip(ENTRY_FIELDS, ENTRY.unpack(raw)))
        self.raw, self.raw_name = bytes(raw), self.name
        self.name = self.name.rstrip(b"\0").decode("latin-1")

    type_name = property(lambda self: TYPES[self.element_type][0])
    element = property(lambda self: TYPES[self.element_type][1])
    row_bytes = property(lambda self: self.element * self.width)
    scope_name = property(lambda self: SCOPES[self.scope])


class Column:
    """A column (section 6): its values and, when ragged, its offsets."""

    def __init__(self, values, offsets=None):
        self.values, self.offsets = values, offsets
        self.name, self.scope = values.name, values.scope_name


class Layout:
    """A file opened by the rules of section 11: its header, its sections, its columns."""

    def __init__(self, data):
        self.data = data
        self.check_start()
        self.check_header()
        self.read_sections()
        self.check_relations()
        self.check_digest()

    # ---- section 11: page 0 ----

    def check_start(self):
        size, start = len(self.data), bytes(self.data[:64])
        if size < PAGE:
            need(start.startswith(MAGIC), "not_tokpack", f"this is {guess_kind(start)}, not a tokpack file")
            raise Refused("too_short", f"{size} bytes; page 0 alone has {PAGE}")
        if not start.startswith(MAGIC):
            need(start[:4] not in (b"\x89TPK", b"\x09TPK"), "text_mode_damage",
                 "a text-mode or 7-bit copy changed the magic; copy the file again in binary")
            raise Refused("not_tokpack", f"this is {guess_kind(start)}, not a tokpack file")
        major, minor, header_bytes = struct.unpack_from("<HHI", start, 8)
        need((major, minor) == (0, 1), "unsupported_version", f"version {major}.{minor}; this reader reads 0.1")
        need(header_bytes % PAGE == 0 and PAGE <= header_bytes <= 1 << 20 and header_bytes <= size, "header_bytes",
             f"header_bytes is {header_bytes} in a file of {size} bytes")
        if xxhash:
            stored, = struct.unpack_from("<Q", self.data, header_bytes - 8)
            need(xxhash.xxh3_64_intdigest(self.data[:header_bytes - 8]) == stored, "header_checksum",
                 "page 0 does not match its checksum")

    def check_header(self):
        h = dict(zip(HEADER_FIELDS, HEADER.unpack_from(self.data)))
        self.header = h
        need(h["file_size"] == len(self.data), "file_size",
             f"the header says {h['file_size']} bytes, the file has {len(self.data)}")
        need(h["required_features"] == 0, "required_feature", f"unknown bits {h['required_features']:#x}")
        need(not any(h["reserved"]), "reserved_not_zero", "reserved bytes of the header are not zero")
        need(h["token_type"] in (2, 3), "token_type", f"token_type is {h['token_type']}")
        need(h["label_kind"] in LABEL_KINDS, "label_kind", f"label_kind is {h['label_kind']}")
        capacity, alignment = h["capacity"], h["alignment"]
        need(1 <= capacity <= 1 << 24, "capacity", f"capacity is {capacity}")
        need(1 <= alignment <= capacity, "alignment", f"alignment is {alignment}, capacity {capacity}")
        need(capacity % alignment == 0, "capacity", f"capacity {capacity} is no multiple of {alignment}")
        need(h["pad_id"] <= (65535 if h["token_type"] == 2 else MAX_ID), "id_range", f"pad_id is {h['pad_id']}")
        need(h["vocab_size"] <= 1 << 31, "id_range", f"vocab_size is {h['vocab_size']}")
        packs, sequences, tokens = h["packs"], h["sequences"], h["tokens"]
        need(packs <= sequences <= tokens <= packs * capacity and tokens <= CAP, "counts",
             f"{packs} packs, {sequences} sequences, {tokens} tokens, capacity {capacity}")
        need((packs == 0) == (sequences == 0) == (tokens == 0), "counts", "some counts are 0 and some are not")
        need(h["samples"] <= CAP, "counts", f"samples is {h['samples']}")
        need(h["targets"] <= tokens + sequences, "counts", f"targets is {h['targets']}")
        longest, most = h["longest_sequence"], h["most_sequences_in_pack"]
        need(longest <= min(capacity, tokens) and (longest == 0) == (tokens == 0), "counts",
             f"longest_sequence is {longest}")
        need(most <= sequences and (most == 0) == (packs == 0), "counts", f"most_sequences_in_pack is {most}")

    def read_sections(self):
        h = self.header
        count, end = h["section_count"], h["header_bytes"]
        need(1 <= count <= (end - 256 - 8) // 64, "section_count", f"section_count is {count}")
        self.sections = [Section(i, self.data[256 + 64 * i:320 + 64 * i]) for i in range(count)]
        need(not any(self.data[256 + 64 * count:end - 8]), "reserved_not_zero",
             "bytes after the section table are not zero")
        for s in self.sections:
            self.check_entry(s, end)
            end = s.offset + s.length
        self.end = end

    def check_entry(self, s, end):
        where = f"section {s.index}"
        known = s.kind in KIND_NAMES
        need(s.kind != 0, "section_kind", f"{where} has kind 0")
        need(known or not s.flags & 1, "unknown_required", f"{where} is of unknown kind {s.kind} and required")
        need(s.element_type in TYPES, "element_type", f"{where} has element type {s.element_type}")
        need(s.scope in SCOPES, "scope", f"{where} has scope {s.scope}")
        if known:
            types, scopes = self.prescribed(s.kind)
            need(types is None or s.type_name == types, "element_type", f"{where} has element type {s.type_name}")
            need(s.scope_name in scopes, "scope", f"{where} has scope {s.scope_name}")
        need(not s.flags & 0xfe, "section_flags", f"{where} has reserved flags {s.flags & 0xfe:#x}")
        need(s.width >= 1 and (s.width == 1 or not known or s.kind in (11, 13)), "section_width",
             f"{where} has width {s.width}")
        need(re.fullmatch(rb"[a-z0-9_]{1,24}\0*", s.raw_name), "section_name", f"{where} has name {s.raw_name!r}")
        if known and s.kind not in COLUMN_KINDS:
            need(s.name == KIND_NAMES[s.kind], "section_name", f"{where}, {KIND_NAMES[s.kind]}, is named {s.name}")
        else:
            need(s.name not in BUILT_IN_NAMES, "section_name", f"{where} has the name of a built-in section")
        need(s.offset % PAGE == 0, "section_unaligned", f"{where} starts at {s.offset}")
        need(s.offset >= page_up(end), "section_overlap", f"{where} starts at {s.offset}, before {page_up(end)}")
        need(s.offset == page_up(end), "section_gap", f"{where} starts at {s.offset}, after {page_up(end)}")
        need(s.offset + s.length <= len(self.data), "section_past_end", f"{where} ends behind the file's end")

    def prescribed(self, kind):
        """Element type (None = any) and scopes that a known kind has (section 5)."""
        h = self.header
        types = {1: TYPES[h["token_type"]][0], 2: "u64", 3: "u64", 4: "i32", 5: "bytes", 6: "i32", 7: "u32",
                 8: "u32" if h["samples"] < 1 << 32 else "u64", 9: "u32", 10: "i32", 12: "u64", 14: "bytes",
                 15: "u64"}
        scopes = {1: ("token",), 6: ("token",), 7: ("pack",), 8: ("sequence",), 9: ("sequence",), 10: ("sequence",),
                  11: SCOPES.values(), 12: ("pack", "sequence", "token"), 13: ("pack", "sequence", "token")}
        return types.get(kind), scopes.get(kind, ("file",))

    def rows(self, scope):
        return {"pack": self.header["packs"], "sequence": self.header["sequences"],
                "token": self.header["tokens"]}[scope]

    def check_relations(self):
        self.check_lengths()
        seen = set()
        for s in self.sections:
            key = ("built-in", s.kind) if s.kind in KIND_NAMES else (s.kind, s.name)
            if s.kind in COLUMN_KINDS:
                key = ("column", s.kind == 13, s.name)
            need(key not in seen, "section_duplicate", f"two sections {s.name}")
            seen.add(key)
        kinds = {s.kind for s in self.sections}
        present = {1, 2, 3, 4, 7, 8, 15} | {1: {5}, 2: {6}}.get(self.header["label_kind"], set())
        for kind in sorted(present):
            need(kind in kinds, "section_missing", f"there is no section {KIND_NAMES[kind]}")
        for kind in {5, 6} - present:
            need(kind not in kinds, "section_unexpected", f"the label kind rules out {KIND_NAMES[kind]}")
        need(self.sections[-1].kind == 15, "section_order", "checksums are not the last section")
        self.columns = []
        for before, s in zip([None, *self.sections], self.sections):
            if before and (before.kind == 12 or s.kind == 13):
                need(before.kind == 12 and s.kind == 13 and (before.name, before.scope) == (s.name, s.scope),
                     "section_order", f"ragged values do not follow their offsets at section {s.index}")
                self.columns.append(Column(s, before))
            elif s.kind == 13:
                raise Refused("section_order", "ragged values stand first")
            elif s.kind == 11:
                self.columns.append(Column(s))
        for c in self.columns:
            if c.name in RESERVED_COLUMNS:
                v = c.values
                need((v.type_name, c.scope, v.width, c.offsets) == (RESERVED_COLUMNS[c.name], "sequence", 1, None),
                     "reserved_column", f"column {c.name} has another type, scope or width, or is ragged")
        self.by_kind = {s.kind: s for s in self.sections if s.kind in KIND_NAMES and s.kind not in COLUMN_KINDS}
        need(self.end == len(self.data), "file_end", f"the last section ends at {self.end}")

    def check_lengths(self):
        h, blocks = self.header, sum(block_count(s.length) for s in self.sections if s.kind != 15)
        fixed = {2: (h["packs"] + 1) * 8, 3: (h["packs"] + 1) * 8, 4: (h["sequences"] + h["packs"]) * 4,
                 5: (h["tokens"] >> 3) + h["packs"], 15: 8 * blocks}
        for s in self.sections:
            message = f"section {s.index} ({s.name}) has {s.length} bytes"
            if s.kind in fixed:
                need(s.length == fixed[s.kind], "section_length", f"{message}, expected {fixed[s.kind]}")
            elif s.kind == 14:
                need(s.length <= 16 << 20, "metadata_size", message)
            elif s.kind == 12:
                need(s.length == 8 * (self.rows(s.scope_name) + 1), "section_length", message)
            elif s.kind == 13 or s.kind == 11 and s.scope_name == "file":
                need(s.length % s.row_bytes == 0, "section_length", message)
            elif s.kind in KIND_NAMES:
                need(s.length == self.rows(s.scope_name) * s.row_bytes, "section_length", message)

    def check_digest(self):
        if not xxhash:
            return
        h = self.header
        text = struct.pack("<HHQQQIIBBi", *(h[k] for k in (
            "version_major version_minor packs sequences tokens capacity alignment token_type label_kind "
            "ignore_index").split()))
        for s in self.sections:
            if s.kind not in (14, 15):
                text += s.raw[:8] + bytes(8) + s.raw[16:]
        need(hash128(text) == h["content_digest"], "digest", "the content digest does not match page 0")
