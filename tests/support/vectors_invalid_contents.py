"""Files that open and whose checksums, gaps, values or sums are wrong."""
from invalid_vector import ALL, content, found
from tpk_encode import dataset, seq
from vectors_valid import split_packs, two_packs, two_sequences


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
