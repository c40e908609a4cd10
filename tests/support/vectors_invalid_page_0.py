"""Faults of the header."""
import struct

from invalid_vector import changed, cut, header, literal, longer, magic, refused
from vectors_valid import two_packs

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
