"""The invalid vectors: for every error that page 0 can give at least one file with that one fault and everything
else, checksums and digest included, right; then files that open and are wrong inside."""
import dataclasses
import struct

from tpk_encode import Column, Section, built_in, dataset, pack_values, seq
from vectors_valid import account, split_packs, two_packs, two_sequences

ALL = {}


@dataclasses.dataclass
class Invalid:
    comments: list
    build: object  # -> bytes, notes
    open: str = "ok"
    verify: list = dataclasses.field(default_factory=list)
    pack_errors: dict = dataclasses.field(default_factory=dict)


def all_vectors():
    return ALL


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


# ---- page 0 ----

refused("too_short", "", "The first 100 bytes of a file.", cut(100))
refused("too_short", "one_byte_missing", "One byte less than a page.", cut(4095))
refused("not_tokpack", "empty", "An empty file.", literal(b""))
refused("not_tokpack", "zeros", "A page of zeros: what an interrupted writer may leave.", literal(bytes(4096)))
refused("not_tokpack", "megatron_idx", "A Megatron index.", literal(b"MMIDIDX\0\0" + bytes(8) + b"\1" + bytes(4100)))
refused("not_tokpack", "npy", "A NumPy array.", literal(b"\x93NUMPY\1\0v\0{'descr': '<u2'}" + bytes(4096)))
refused("not_tokpack", "gguf", "A GGUF file.", literal(b"GGUF\3\0\0\0" + bytes(4096)))
refused("not_tokpack", "zstd", "zstd-compressed data.", literal(bytes.fromhex("28b52ffd0458") + bytes(4096)))
refused("not_tokpack", "gzip", "gzip-compressed data.", literal(bytes.fromhex("1f8b0800") + bytes(4096)))
refused("not_tokpack", "parquet", "A Parquet file.", literal(b"PAR1\x15\4" + bytes(4096)))
refused("not_tokpack", "safetensors", "A safetensors file.", literal(b"\x10\0\0\0\0\0\0\0{\"a\":{}}" + bytes(4096)))
refused("not_tokpack", "jsonl", "JSON lines, shorter than a page.", literal(b'{"input_ids": [1, 2, 3]}\n' * 3))
refused("not_tokpack", "text", "Text.", literal(b"Hello, world.\n" * 300))
refused("text_mode_damage", "crlf_to_lf", "CR LF became LF.", magic(b"\x89TPK\n\x1a\n"))
refused("text_mode_damage", "lf_to_crlf", "LF became CR LF.", magic(b"\x89TPK\r\r\n\x1a\r\n"))
refused("text_mode_damage", "seven_bits", "The high bit is gone.", magic(b"\x09TPK\r\n\x1a\n"))
refused("unsupported_version", "next_draft", "Draft 0.2.", header(version_minor=2))
refused("unsupported_version", "major_1", "Version 1.0.", header(version_major=1, version_minor=0))
refused("unsupported_version", "major_255", "Version 255.1.", header(version_major=255))
refused("unsupported_version", "byte_swapped", "0.1 with swapped bytes.", header(version_minor=256))


def header_bytes(value):
    """header_bytes replaced after page 0 was sealed: a reader must not trust it before looking at it."""
    return changed(lambda file: setattr(file, "edit_sealed", lambda d: struct.pack_into("<I", d, 12, value)))


refused("header_bytes", "zero", "header_bytes is 0.", header_bytes(0))
refused("header_bytes", "not_a_multiple", "header_bytes is 4097.", header_bytes(4097))
refused("header_bytes", "above_cap", "header_bytes is 1 MiB and a page.", header_bytes((1 << 20) + 4096))
refused("header_bytes", "past_end", "header_bytes is a page more than the file has.", header_bytes(65536))
refused("header_bytes", "huge", "header_bytes is 2^32 - 4096.", header_bytes((1 << 32) - 4096))


def flip(offset, bit=1):
    def edit(data):
        data[offset] ^= bit
    return changed(lambda file: setattr(file, "edit_sealed", edit))


refused("header_checksum", "", "One bit of the pack count is flipped.", flip(40))
refused("header_checksum", "padding", "One bit of the zeros behind the section table is flipped.", flip(4000))
refused("header_checksum", "stored", "One bit of the checksum is flipped.", flip(4088))
refused("required_feature", "lowest", "Required feature bit 0.", header(required_features=1))
refused("required_feature", "highest", "Required feature bit 63.", header(required_features=1 << 63))
refused("reserved_not_zero", "header", "Reserved bytes of the header.", header(reserved=b"\0" * 127 + b"\1"))


def after_table(file):
    file.edit = lambda data: data.__setitem__(4087, 1)


refused("reserved_not_zero", "after_table", "A byte between section table and checksum.", changed(after_table))
refused("file_size", "one_missing", "The last byte is missing.", cut(-1))
refused("file_size", "one_more", "One byte was appended.", longer(1))
refused("file_size", "huge", "The header says 2^64 - 1 bytes.", header(file_size=(1 << 64) - 1))
refused("token_type", "u8", "token_type is 1, u8.", header(token_type=1))
refused("token_type", "unknown", "token_type is 200.", header(token_type=200))
refused("label_kind", "", "label_kind is 3.", header(label_kind=3))
refused("capacity", "zero", "capacity is 0.", header(capacity=0))
refused("capacity", "above_cap", "capacity is 2^24 + 1.", header(capacity=(1 << 24) + 1))
refused("capacity", "not_a_multiple", "capacity is 6, alignment 4.", header(alignment=4))
refused("alignment", "zero", "alignment is 0.", header(alignment=0))
refused("alignment", "above_capacity", "alignment is 7, capacity 6.", header(alignment=7))
refused("id_range", "pad_u16", "pad_id 65536 does not fit u16 tokens.", header(pad_id=65536))
refused("id_range", "pad_u32", "pad_id is 2^31.", header(two_packs(token_type="u32"), pad_id=1 << 31))
refused("id_range", "vocab", "vocab_size is 2^31 + 1.", header(vocab_size=(1 << 31) + 1))
refused("counts", "packs_above_sequences", "4 packs of 3 sequences.", header(packs=4))
refused("counts", "sequences_above_tokens", "10 sequences of 9 tokens.", header(sequences=10))
refused("counts", "no_packs", "No packs, but sequences and tokens.", header(packs=0, most_sequences_in_pack=0))
refused("counts", "tokens_above_packs", "13 tokens in two packs of 6.", header(tokens=13))
refused("counts", "tokens_huge", "2^64 - 1 tokens.", header(tokens=(1 << 64) - 1))
refused("counts", "all_huge", "2^61 + 1 packs, sequences and tokens: times 8 they wrap to 8.",
        header(packs=(1 << 61) + 1, sequences=(1 << 61) + 1, tokens=(1 << 63) + 1))
refused("counts", "samples", "samples is 2^62 + 1.", header(samples=(1 << 62) + 1))
refused("counts", "targets", "13 targets of 9 tokens and 3 sequences.", header(targets=13))
refused("counts", "longest_above_capacity", "longest_sequence is 7, capacity 6.", header(longest_sequence=7))
refused("counts", "longest_zero", "longest_sequence is 0.", header(longest_sequence=0))
refused("counts", "most_above_sequences", "most_sequences_in_pack is 4.", header(most_sequences_in_pack=4))
refused("counts", "most_zero", "most_sequences_in_pack is 0.", header(most_sequences_in_pack=0))

# ---- section table ----

refused("section_count", "zero", "No sections.", header(section_count=0))
refused("section_count", "sixty", "60 sections in a page 0 of 4096 bytes.", header(section_count=60))
refused("section_count", "largest", "65535 sections.", header(section_count=65535))
refused("section_kind", "", "Kind 0.", changed(lambda file: file.sections.append(
    Section("nothing", 0, "u8", "file", b"\1"))))
refused("unknown_required", "", "A kind of a later version that must be understood.", changed(
    lambda file: file.sections.append(Section("compressed", 16, "u8", "file", b"\1", flags=1))))


def with_column(**fields):
    """An extra column with these entry fields written instead of the right ones."""
    model = two_packs(columns=[Column("extra", "u8", "sequence", [1, 2, 3])])
    return entry("extra", model, **fields)


refused("element_type", "zero", "A column of element type 0.", with_column(element_type=0))
refused("element_type", "eleven", "A column of element type 11.", with_column(element_type=11))
refused("element_type", "tokens", "Tokens of element type bytes.", entry("tokens", element_type=10))
refused("element_type", "tokens_u32", "The header says u16, the section u32.", entry("tokens", element_type=3))
refused("element_type", "sources", "u64 sources with fewer than 2^32 samples.", entry("sources", element_type=4))
refused("element_type", "unknown_kind", "An unknown kind of an unknown element type.", changed(
    lambda file: file.sections.append(Section("later", 16, "u8", "file", b"\1", override={"element_type": 99}))))
refused("scope", "zero", "A column of scope 0.", with_column(scope=0))
refused("scope", "five", "A column of scope 5.", with_column(scope=5))
refused("scope", "targets", "Targets of scope sequence.", entry("targets", scope=3))
refused("section_flags", "", "Reserved flag bit 1.", entry("tokens", flags=3))
refused("section_flags", "highest", "Reserved flag bit 7 on a column.", with_column(flags=0x80))
refused("section_width", "zero", "A column of width 0.", with_column(width=0))
refused("section_width", "tokens", "Tokens of width 2.", entry("tokens", width=2))
refused("section_name", "empty", "A column without a name.", with_column(name=b""))
refused("section_name", "upper_case", "A column named Extra.", with_column(name=b"Extra"))
refused("section_name", "control", "A column name that would drive a terminal.", with_column(name=b"ex\x1b[2Jtra"))
refused("section_name", "padding", "A byte after the name's zero.", with_column(name=b"extra\0x"))
refused("section_name", "built_in_other", "Tokens named token.", entry("tokens", name=b"token"))
refused("section_name", "column_as_built_in", "A column named labels.", with_column(name=b"labels"))
refused("section_unaligned", "", "A section at 4096 + 8.", entry("tokens", offset=4104))
refused("section_overlap", "page_0", "A section on page 0.", entry("tokens", offset=0))
refused("section_overlap", "previous", "A section on the one before it.", entry("pack_token_offsets", offset=4096))
refused("section_gap", "", "A section one page later than it should be.", entry("pack_token_offsets", offset=12288))
refused("section_gap", "huge", "A section at 2^64 - 4096.", entry("pack_token_offsets", offset=(1 << 64) - 4096))


def cut_and_said(count):
    """The last bytes are missing and file_size knows it."""
    def build():
        model = two_packs()
        data, _ = model.file.build()
        model.file.header_override["file_size"] = len(data) - count
        data, notes = model.file.build()
        return data[:-count], [n for n in notes if n[0] + n[1] <= len(data) - count]
    return build


refused("section_past_end", "", "The file ends within its last section.", cut_and_said(8))
refused("section_past_end", "offset", "The file ends before its last section starts.", cut_and_said(4096))
refused("section_past_end", "huge", "A section of 2^64 - 1 bytes: offset + length wraps.",
        entry("tokens", length=(1 << 64) - 1))
refused("section_length", "tokens", "Tokens one element short.", entry("tokens", length=16))
refused("section_length", "odd", "u16 tokens of an odd length.", entry("tokens", length=19))
refused("section_length", "offsets", "Pack offsets without the last entry.", entry("pack_token_offsets", length=16))
refused("section_length", "column", "A column of two rows for three sequences.", with_column(length=2))
refused("section_length", "counts", "2^40 packs, sequences and tokens that no section can hold.",
        header(packs=1 << 40, sequences=1 << 40, tokens=1 << 40))


def ragged(**options):
    return two_packs(columns=[Column("extra", "u16", "sequence", [[1], [2, 3], []], ragged=True, **options)])


def ragged_sections(file):
    """Indices of the ragged column's two sections."""
    i = next(i for i, s in enumerate(file.sections) if s.kind == 12)
    return i, i + 1


refused("section_length", "ragged_values", "Values of 5 bytes of u16.", changed(
    lambda file: file.sections[ragged_sections(file)[1]].override.update(length=5), ragged()))
refused("section_length", "checksums", "One block checksum too many.", changed(
    lambda file: setattr(file, "edit_checksums", lambda sums: sums.extend(bytes(8)))))
refused("section_duplicate", "built_in", "Targets stand twice.", changed(
    lambda file: file.sections.append(built_in("targets", "u32", "pack", file.section("targets").data))))
refused("section_duplicate", "column", "Two columns of one name.", two_packs(columns=[
    Column("extra", "u8", "sequence", [1, 2, 3]), Column("extra", "u8", "pack", [1, 2])]).file.build)
refused("section_duplicate", "ragged", "A fixed and a ragged column of one name.", two_packs(columns=[
    Column("extra", "u8", "sequence", [1, 2, 3]),
    Column("extra", "u16", "sequence", [[1], [2, 3], []], ragged=True)]).file.build)
refused("section_duplicate", "unknown", "An unknown kind twice with one name.", changed(
    lambda file: file.sections.extend(Section("later", 16, "u8", "file", b"\1") for _ in range(2))))


def without(*names):
    def edit(file):
        file.sections = [s for s in file.sections if s.name not in names]
    return edit


for missing in ("tokens", "pack_token_offsets", "pack_sequence_offsets", "cu_seqlens", "targets", "sources"):
    refused("section_missing", missing, f"No section {missing}.", changed(without(missing)))
refused("section_missing", "loss_bits", "Label kind loss_mask without loss bits.",
        changed(without("loss_bits"), two_sequences()))
refused("section_missing", "labels", "Label kind explicit without labels.",
        header(label_kind=2))
refused("section_missing", "checksums", "No checksums.", changed(lambda file: setattr(file, "drop_checksums", True)))
refused("section_unexpected", "loss_bits", "Loss bits with label kind all.", header(two_sequences(), label_kind=0))
refused("section_unexpected", "labels", "Labels with label kind all.", changed(
    lambda file: file.sections.insert(4, built_in("labels", "i32", "token", bytes(36)))))
refused("section_order", "checksums_first", "Checksums stand first.", changed(
    lambda file: setattr(file, "checksums_at", 0)))
refused("section_order", "after_checksums", "A column stands after the checksums.", changed(
    lambda file: setattr(file, "checksums_at", 6), two_packs(columns=[Column("extra", "u8", "pack", [1, 2])])))


def swap_ragged(file):
    i, j = ragged_sections(file)
    file.sections[i], file.sections[j] = file.sections[j], file.sections[i]


refused("section_order", "values_first", "Ragged values stand before their offsets.", changed(swap_ragged, ragged()))
refused("section_order", "no_values", "Ragged offsets without values.", changed(
    lambda file: file.sections.pop(ragged_sections(file)[1]), ragged()))
refused("section_order", "no_offsets", "Ragged values without offsets.", changed(
    lambda file: file.sections.pop(ragged_sections(file)[0]), ragged()))
refused("section_order", "other_name", "Ragged values of another name than their offsets.", changed(
    lambda file: file.sections[ragged_sections(file)[1]].override.update(name=b"other"), ragged()))
refused("reserved_column", "type", "A column group of u8.",
        two_packs(columns=[Column("group", "u8", "sequence", [0, 1, 2])]).file.build)
refused("reserved_column", "scope", "A column weight of scope pack.",
        two_packs(columns=[Column("weight", "f32", "pack", [1.0, 1.0])]).file.build)
refused("reserved_column", "width", "A column role of width 2.",
        two_packs(columns=[Column("role", "u8", "sequence", [[0, 1], [0, 1], [0, 1]], width=2)]).file.build)
refused("reserved_column", "ragged", "A ragged column domain.",
        two_packs(columns=[Column("domain", "u32", "sequence", [[0], [], []], ragged=True)]).file.build)
refused("metadata_size", "", "Metadata of 16 MiB and a byte, all zeros.", changed(
    lambda file: file.sections.append(built_in("metadata", "bytes", "file", bytes((16 << 20) + 1)))))


def page_appended():
    """A page of zeros behind the last section that file_size counts."""
    model = two_packs()
    data, _ = model.file.build()
    model.file.header_override["file_size"] = len(data) + 4096
    data, notes = model.file.build()
    return data + bytes(4096), notes


refused("file_end", "", "A page of zeros behind the last section, counted in file_size.", page_appended)
refused("digest", "", "One bit of the content digest is wrong and the page's checksum right.",
        changed(lambda file: setattr(file, "edit", lambda data: data.__setitem__(112, data[112] ^ 1))))


# ---- boundaries ----

def content(section, type_name, index, value, model=None):
    """One element of a section replaced; checksums, hashes and digest are right for it."""
    model = model or two_packs()
    s = model.file.section(section)
    data = bytearray(s.data)
    piece = pack_values(type_name, [value])
    data[index * len(piece):(index + 1) * len(piece)] = piece
    s.data = bytes(data)
    return model


NAMES = {"pack_token_offsets": "u64", "pack_sequence_offsets": "u64", "cu_seqlens": "i32"}


def boundary(section, name, comment, index, value, packs, model=None, and_cu_seqlens=()):
    """Asking for `packs` gives the section's error; for `and_cu_seqlens` cu_seqlens, since counts do not fit."""
    found(section, name, comment, content(section, NAMES[section], index, value, model),
          {**{p: section for p in packs}, **{p: "cu_seqlens" for p in and_cu_seqlens}})


boundary("pack_token_offsets", "not_zero_first", "The first offset is 1.", 0, 1, [0])
boundary("pack_token_offsets", "descending", "Offsets 0, 10, 9.", 1, 10, [0, 1])
boundary("pack_token_offsets", "empty_pack", "Offsets 0, 0, 9.", 1, 0, [0, 1])
boundary("pack_token_offsets", "above_capacity", "A pack of 7 tokens, capacity 6.", 1, 7, [0],
         and_cu_seqlens=[1])
boundary("pack_token_offsets", "not_the_count", "The last offset is 8 of 9 tokens.", 2, 8, [1])
boundary("pack_token_offsets", "huge", "An offset of 2^64 - 1.", 1, (1 << 64) - 1, [0, 1])
boundary("pack_token_offsets", "no_packs", "No packs, and the only offset is 1.", 0, 1, [],
         dataset([], capacity=8))
boundary("pack_sequence_offsets", "not_zero_first", "The first offset is 1.", 0, 1, [0])
boundary("pack_sequence_offsets", "no_sequence", "A pack without a sequence.", 1, 3, [1], and_cu_seqlens=[0])
boundary("pack_sequence_offsets", "not_the_count", "The last offset is 4 of 3 sequences.", 2, 4, [1])
boundary("pack_sequence_offsets", "huge", "An offset of 2^63.", 1, 1 << 63, [0, 1])
boundary("pack_sequence_offsets", "no_packs", "No packs, and the only offset is 7.", 0, 7, [],
         dataset([], capacity=8))
found("pack_sequence_offsets", "above_tokens", "A pack of three sequences and two tokens.", content(
    "pack_token_offsets", "u64", 1, 2, dataset([[seq([1]), seq([2]), seq([3])], [seq([4])]], capacity=3)),
    {0: "pack_sequence_offsets", 1: "cu_seqlens"})
boundary("cu_seqlens", "not_zero_first", "The first boundary is 1.", 0, 1, [0])
boundary("cu_seqlens", "negative", "A boundary of -1.", 1, -1, [0])
boundary("cu_seqlens", "empty_sequence", "Boundaries 0, 5, 5.", 1, 5, [0])
boundary("cu_seqlens", "descending", "Boundaries 0, 6, 5.", 1, 6, [0])
boundary("cu_seqlens", "not_the_count", "The last boundary is 4 of 5 tokens.", 2, 4, [0])
boundary("cu_seqlens", "above_tokens", "The last boundary is 2^31 - 1.", 4, (1 << 31) - 1, [1])


def ragged_offset(index, value):
    model = ragged()
    s = model.file.sections[ragged_sections(model.file)[0]]
    data = bytearray(s.data)
    struct.pack_into("<Q", data, 8 * index, value)
    s.data = bytes(data)
    return model


found("ragged_offsets", "not_zero_first", "The first offset is 1.", ragged_offset(0, 1), {0: "ragged_offsets"})
found("ragged_offsets", "descending", "Offsets 0, 1, 0, 3.", ragged_offset(2, 0), {0: "ragged_offsets"})
found("ragged_offsets", "not_the_count", "The last offset is 2 of 3 values.", ragged_offset(3, 2),
      {1: "ragged_offsets"})
found("ragged_offsets", "huge", "An offset of 2^64 - 1: times 2 it wraps.", ragged_offset(2, (1 << 64) - 1),
      {0: "ragged_offsets", 1: "ragged_offsets"})
found("aligned_sum", "", "Alignment 4: sequences of 3 and 1 tokens take 8 of a capacity of 4.",
      dataset([[seq([1, 2, 3]), seq([4])]], capacity=4, alignment=4))


# ---- contents ----

def damaged(offset, bit=1, model=None):
    """One bit flipped in the finished file."""
    model = model or two_packs(metadata={"tool": "by hand"})

    def edit(data):
        data[offset if offset >= 0 else len(data) + offset] ^= bit
    model.file.edit_sealed = edit
    return model


found("block_checksum", "tokens", "A bit of a token is flipped: 10 becomes 11.", damaged(4096))
found("block_checksum", "metadata", "A bit of a metadata string is flipped.", damaged(7 * 4096 + 10, 1))
found("block_checksum", "checksums", "A bit of a block checksum is flipped.", damaged(-1))
ALL["block_checksum__checksums"].verify.append("section_hash")


def second_block():
    model = dataset([[seq([0] * 600000)]], capacity=1 << 20)
    return damaged(4096 + (1 << 20) + 77, 0x10, model)


found("block_checksum", "second_block", "A bit of the second block of tokens is flipped.", second_block())


def wrong_hash(file):
    file.section("metadata").override["hash"] = b"\1" * 16


model_with_metadata = two_packs(metadata={"tool": "by hand"})
wrong_hash(model_with_metadata.file)
found("section_hash", "metadata", "The entry's hash is not that of the block checksums.", model_with_metadata)
found("gap_not_zero", "", "A byte behind the tokens is not zero.", damaged(4096 + 18, 0x40))
found("gap_not_zero", "last", "The last byte before the checksums is not zero.", damaged(8 * 4096 - 1, 0x80))
found("token_range", "vocab", "Token 33 with a vocabulary of 33.", two_packs(vocab_size=33))
found("token_range", "largest", "Token 2^31 in u32.", content("tokens", "u32", 8, 1 << 31, two_packs(token_type="u32")))
found("loss_bits_padding", "", "The bit after the last token is set.",
      content("loss_bits", "u8", 0, 0b00110110, two_sequences()))


def explicit(labels, tail=None, **options):
    return dataset([[seq([10, 11, 12], labels=labels, tail=tail)]], capacity=4, label_kind="explicit", **options)


found("label_range", "negative", "A label of -2; the ignore index is -100.", explicit([-100, -2, 12]))
found("label_range", "vocab", "A label of 13 with a vocabulary of 13.", explicit([-100, 13, 12], vocab_size=13))
found("label_range", "tail", "A tail label of -1.", explicit([-100, 11, 12], tail=-1))
found("targets_count", "pack", "A pack says 4 targets and has 3; the header's sum is 6.",
      content("targets", "u32", 0, 4))


def wrong_header(model=None, **fields):
    model = model or two_packs()
    model.file.header.update(fields)
    return model


found("targets_count", "header", "The header says 5 targets, the packs have 6.", wrong_header(targets=5))
found("longest_sequence", "", "The header says 5 tokens, the longest sequence has 4.",
      wrong_header(longest_sequence=5))
found("longest_sequence", "most_sequences", "The header says 3 sequences in a pack, there are at most 2.",
      wrong_header(most_sequences_in_pack=3))
found("source_range", "", "Source 2 of 2 samples.", two_packs(samples=2))


def positions(index, value):
    return content("first_token_positions", "u32", index, value, dataset(split_packs(), capacity=6))


found("first_token_position", "overlap", "Fragments of 0 to 1 and 0 to 3 of one sample.",
      positions(3, 0))
found("first_token_position", "range", "A position of 2^31.", positions(3, 1 << 31))
found("first_token_position", "same_source", "Two whole samples of one source.",
      content("sources", "u32", 1, 0))


def raw_metadata(text):
    model = two_packs()
    model.file.sections.append(built_in("metadata", "bytes", "file", text))
    return model


for case, comment, text in (
        ("empty", "No text at all.", b""), ("text", "Not JSON.", b"hello"), ("array", "Not an object.", b"[]"),
        ("unsorted", "Keys in another order.", b'{"tool":"x","eos_id":1}'),
        ("duplicate_key", "A key twice.", b'{"eos_id":1,"eos_id":1}'),
        ("space", "A space.", b'{"eos_id": 1}'), ("newline", "A newline at the end.", b'{"eos_id":1}\n'),
        ("float", "A number with a fraction.", b'{"x":1.5}'), ("exponent", "An exponent.", b'{"x":1e3}'),
        ("true", "true.", b'{"x":true}'), ("null", "null.", b'{"x":null}'),
        ("too_large", "2^64.", b'{"x":18446744073709551616}'), ("nan", "NaN.", b'{"x":NaN}'),
        ("escape", "A letter that is escaped.", b'{"x":"\\u0041"}'),
        ("upper_case_escape", "An escape in upper case.", b'{"x":"\\u001B"}'),
        ("raw_control", "A control character that is not escaped.", b'{"x":"\x1b"}'),
        ("surrogate", "Half a surrogate pair.", b'{"x":"\\ud800"}'),
        ("utf_8", "Bytes that are not UTF-8.", b'{"x":"\xff"}'),
        ("overlong_utf_8", "A slash in two bytes.", b'{"x":"\xc0\xaf"}'),
        ("nul", "A NUL after the text.", b'{"eos_id":1}\0'),
        ("deep", "Nested 17 deep.", b'{"x":' + b"[" * 16 + b"]" * 16 + b"}"),
        ("very_deep", "Nested 20000 deep.", b'{"x":' + b"[" * 20000 + b"]" * 20000 + b"}"),
        ("wrong_type", "eos_id is a string.", b'{"eos_id":"1"}'),
        ("account_not_an_object", "The account is a number.", b'{"account":1}'),
        ("account_negative", "A negative number in the account.", b'{"account":{"samples_in":-1}}'),
        ("eos_id", "An id of 2^63.", b'{"eos_id":9223372036854775808}'),
        ("planner_version", "A planner version of 2^32.", b'{"planner_version":4294967296}'),
        ("inputs", "An input without quotes.", b'{"inputs":[{"name":7}]}'),
        ("window", "A window of other words.", b'{"window":"some"}')):
    found("metadata", case, comment, raw_metadata(text))


def accounts(**fields):
    right = account(samples_in=3, samples_packed=3, tokens_in=9, tokens_stored=9, sequences=3)
    return two_packs(metadata={"account": {**right, **fields}})


found("account", "samples", "4 samples in, 3 of them accounted for.", accounts(samples_in=4))
found("account", "tokens", "A dropped token that did not come in.", accounts(tokens_dropped=1))
found("account", "sequences", "A fragment too many.", accounts(extra_fragments=1))
found("account", "header", "Adds up, but to 8 tokens; the header has 9.", accounts(tokens_in=8, tokens_stored=8))
found("account", "missing_fields", "Missing fields count as 0: 3 samples in, none accounted for.",
      two_packs(metadata={"account": {"samples_in": 3}}))
found("account", "zeros", "An account of zeros, which the header contradicts.", two_packs(metadata={"account": account()}))
found("account", "empty", "An account without fields is one of zeros.", two_packs(metadata={"account": {}}))
found("account", "wraps", "Adds up modulo 2^64 only.",
      accounts(samples_dropped=(1 << 64) - 1, samples_skipped=1))


def groups(numbers):
    return two_packs(columns=[Column("group", "u32", "sequence", numbers)])


found("group_numbers", "not_zero_first", "Groups 1 and 2.", groups([1, 1, 2]))
found("group_numbers", "skips", "Groups 0 and 2.", groups([0, 0, 2]))
found("group_numbers", "spans_packs", "Group 1 has members in both packs.", groups([0, 1, 1]))
found("group_numbers", "huge", "Group 2^32 - 1.", groups([0, 0, (1 << 32) - 1]))
