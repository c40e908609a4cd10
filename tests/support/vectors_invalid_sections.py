"""Faults of the section table, and of sections that do not fit together."""
from invalid_vector import changed, entry, header, ragged, ragged_sections, refused
from tpk_encode import Column, Section, built_in
from vectors_valid import two_packs, two_sequences

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
