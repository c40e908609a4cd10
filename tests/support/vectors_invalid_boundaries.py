"""Files that open and whose pack offsets, boundaries or ragged offsets are wrong."""
import struct

from invalid_vector import content, found, ragged, ragged_sections
from tpk_encode import dataset, seq

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
