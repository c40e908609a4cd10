"""The valid vectors, each with what it shows."""
import dataclasses
import math
import random

from tpk_encode import Column, Model, Section, dataset, seq


@dataclasses.dataclass
class Valid:
    comments: list
    model: Model
    packs: list = None  # packs whose dump is written down; None = all


def account(**fields):
    names = ("samples_in samples_packed samples_empty samples_dropped samples_held_out samples_skipped tokens_in "
             "tokens_stored tokens_dropped tokens_held_out tokens_skipped tokens_target_only sequences "
             "extra_fragments samples_split samples_truncated samples_without_targets labels_lost").split()
    assert set(fields) <= set(names)
    return {name: fields.get(name, 0) for name in names}


def two_sequences(**options):
    """10 11 12 and 20 21 in one pack of at most 8, 10 and 20 not trained."""
    packs = [[seq([10, 11, 12], mask=[0, 1, 1]), seq([20, 21], mask=[0, 1])]]
    return dataset(packs, **{"capacity": 8, "label_kind": "loss_mask", **options})


def two_packs(**options):
    """Three sequences in two packs, all trained: the base of many invalid vectors."""
    packs = [[seq([10, 11, 12]), seq([20, 21], source=2)], [seq([30, 31, 32, 33], source=1)]]
    return dataset(packs, **{"capacity": 6, **options})


def split_packs():
    """The example of section 7: samples of 3, 2, 4, 6, 1 tokens cut every 6 tokens."""
    return [[seq([100, 101, 102], 0), seq([200, 201], 1), seq([300], 2, tail=301)],
            [seq([301, 302, 303], 2, first=1), seq([400, 401, 402], 3, tail=403)],
            [seq([403, 404, 405], 3, first=3), seq([500], 4)]]


def u16_all():
    packs = [[seq([1, 2, 3, 65535, 0]), seq([7, 8])], [seq([5, 5, 5], source=3), seq([9, 10, 11, 12], source=2)]]
    return Valid(["u16 tokens, label kind all, no metadata; sample 4 of 5 is empty and takes a number."],
                 dataset(packs, capacity=8, vocab_size=65536, samples=5, pad_id=65535))


def u32_all():
    packs = [[seq([65536, 0, 2147483647])], [seq([128000, 128001, 128002, 128003], source=2)]]
    return Valid(["u32 tokens up to the largest id, vocabulary 2^31; sample 1 was dropped."],
                 dataset(packs, capacity=4, token_type="u32", vocab_size=1 << 31, pad_id=2147483647))


def loss_bits():
    rng, packs = random.Random(1), []
    for lengths in ((7,), (1,), (8, 1), (16,), (3, 4, 5), (20,), (9, 8)):
        packs.append([seq([rng.randrange(1000) for _ in range(n)], mask=[rng.randrange(2) for _ in range(n)])
                      for n in lengths])
    packs[-1][-1].mask = [0] * 8
    return Valid(["Loss bits of seven packs that begin at every kind of place within a byte; the last sequence",
                  "has no trained token."],
                 dataset(packs, capacity=20, label_kind="loss_mask", vocab_size=1000))


def loss_bits_all_ones():
    return Valid(["Loss bits that are all set stay loss bits."],
                 dataset([[seq([1, 2, 3, 4, 5, 6, 7, 8], mask=[1] * 8)]], capacity=8, label_kind="loss_mask"))


def explicit_labels():
    packs = [[seq([10, 11, 12], labels=[-100, 99, 12]), seq([20, 21], labels=[5, -100], tail=22)],
             [seq([30], labels=[-100])]]
    return Valid(["Labels that are neither their token nor the ignore index; a tail label beside them."],
                 dataset(packs, capacity=6, label_kind="explicit", vocab_size=100))


def ignore_index_other():
    packs = [[seq([4, 0, 5, 0], mask=[1, 1, 1, 0]), seq([0, 1], mask=[1, 1])]]
    return Valid(["The ignore index is 0, which is a token id too: a token 0 is never a target."],
                 dataset(packs, capacity=8, label_kind="loss_mask", ignore_index=0))


def split():
    metadata = {"account": account(samples_in=5, samples_packed=5, tokens_in=16, tokens_stored=16, sequences=7,
                                   extra_fragments=2, samples_split=2, samples_without_targets=1),
                "overlong": "split", "planner_version": 1, "strategy": "concat", "tail": "none"}
    return Valid(["Samples of 3, 2, 4, 6, 1 tokens in one stream, cut every 6: fragments, their positions and tail",
                  "labels. Targets 4 + 5 + 2 = 11, as the samples train apart."],
                 dataset(split_packs(), capacity=6, metadata=metadata))


def input_target():
    packs = [[seq([10, 11], tail=12), seq([20], tail=21)]]
    metadata = {"account": account(samples_in=3, samples_packed=2, samples_dropped=1, tokens_in=6, tokens_stored=3,
                                   tokens_dropped=1, tokens_target_only=2, sequences=2), "tail": "input-target"}
    return Valid(["Each sample's last token is kept as its tail label only: targets 11 12 21. The third sample has",
                  "one token, so nothing to store."],
                 dataset(packs, capacity=3, samples=3, metadata=metadata))


def groups():
    packs = [[seq([1, 2, 3, 4]), seq([1, 2, 5])], [seq([6, 7, 8], source=4), seq([6, 7], source=5)],
             [seq([9, 9, 9, 9, 9], source=2), seq([9, 9], source=3)]]
    columns = [Column("group", "u32", "sequence", [0, 0, 2, 2, 1, 1]),
               Column("role", "u8", "sequence", [0, 1, 0, 1, 1, 0]),
               Column("weight", "f32", "sequence", [1.0, 0.5, 1.0, 0.25, 1.0, 1.0])]
    return Valid(["Preference pairs: three groups of two, roles chosen and rejected, weights."],
                 dataset(packs, capacity=8, columns=columns, metadata={"roles": ["chosen", "rejected"]}))


def columns_fixed():
    packs = [[seq([1, 2]), seq([3])], [seq([4, 5])]]
    columns = [Column("vocabulary_map", "i64", "file", [-1, 0, 1 << 62]),
               Column("difficulty", "f32", "pack", [0.5, -2.25]),
               Column("span", "u16", "sequence", [[0, 1], [1, 2], [65535, 3]], width=2),
               Column("score", "f16", "sequence", [1.5, math.inf, -0.0]),
               Column("advantage", "bf16", "token", [1.0, -0.5, math.nan, 3.140625, -math.inf]),
               Column("checksum_of_text", "bytes", "sequence", ["00ff10", "0a0b0c", "ffffff"], width=3),
               Column("doc_id", "u64", "sequence", [18446744073709551615, 0, 7]),
               Column("domain", "u32", "sequence", [3, 3, 4]), Column("truncated", "u8", "sequence", [0, 1, 0]),
               Column("offset", "i32", "token", [-1, 2, -3, 4, -2147483648])]
    return Valid(["Columns of each scope (file, pack, sequence, token) and of each element type, of width 1, 2, 3."],
                 dataset(packs, capacity=4, columns=columns))


def columns_ragged():
    packs = [[seq([1, 2]), seq([3])], [seq([4, 5])]]
    columns = [Column("rewards", "f32", "sequence", [[0.5, 1.0], [], [2.0]], ragged=True),
               Column("url", "bytes", "sequence", ["687474703a2f2f", "", "6162"], ragged=True),
               Column("boxes", "u16", "pack", [[[1, 2], [3, 4]], [[5, 6]]], width=2, ragged=True),
               Column("alternatives", "u32", "token", [[7], [], [8, 9], [], []], ragged=True)]
    return Valid(["Ragged columns of scope sequence, pack and token; empty rows; rows of width 2."],
                 dataset(packs, capacity=4, columns=columns))


def zero_packs():
    metadata = {"account": account(samples_in=3, samples_empty=3)}
    return Valid(["No packs: three samples, all empty. Empty sections stand one at the place of the next."],
                 dataset([], capacity=4096, samples=3, label_kind="loss_mask", metadata=metadata))


def zero_packs_columns():
    columns = [Column("rewards", "f32", "sequence", [], ragged=True), Column("weight", "f32", "sequence", []),
               Column("note", "u8", "file", [])]
    return Valid(["No packs and no samples; explicit labels, a ragged and two fixed columns, all without rows."],
                 dataset([], capacity=1, label_kind="explicit", token_type="u32", columns=columns))


def one_token_packs():
    packs = [[seq([n], mask=[n % 2])] for n in range(9)]
    return Valid(["Packs of one token at capacity 1: they train nothing."],
                 dataset(packs, capacity=1, label_kind="loss_mask"))


def one_token_sequences():
    return Valid(["One pack, one sequence per token."], dataset([[seq([n]) for n in (5, 6, 7, 8)]], capacity=4))


def unknown_section():
    model = two_sequences()
    model.columns = [Column("mood", "u8", "sequence", [3, 4])]
    model.file.sections.insert(2, Section("from_the_future", 16, "f32", "pack", b"\0\0\x80?", width=1))
    model.file.sections.append(Section("from_the_future", 900, "bytes", "file", b"any length", width=7, flags=0x0200))
    model.file.sections += model.columns[0].sections()
    model.file.sections.append(Section("empty", 16, "u8", "file", b""))
    return Valid(["Sections of kinds that this version does not know and does not need (two of one name, one of them",
                  "with an ignorable flag), and a column that no tool knows: readers skip them, tools carry them."],
                 model)


def many_sections():
    columns = [Column(f"column_{n:02}", "u8", "sequence", [n, 255 - n]) for n in range(60)]
    return Valid(["68 sections: more than the 59 of one page, so page 0 has 8192 bytes."],
                 two_sequences(label_kind="all", columns=columns))


def alignment():
    packs = [[seq([1, 2, 3]), seq([4])], [seq([5, 6, 7, 8], source=3), seq([9, 9, 9, 9], source=2)]]
    return Valid(["Alignment 4: sequences of 3 and 1 tokens count as 4 each; nothing is stored for the difference."],
                 dataset(packs, capacity=8, alignment=4))


def ignorable_bits():
    model = two_sequences()
    model.file.header["ignorable_features"] = 0x8000000000000001
    model.file.section("tokens").flags |= 0xff00
    model.file.section("targets").flags = 0
    return Valid(["Ignorable feature bits and ignorable flag bits are set; the required flag is missing on a known",
                  "kind. None of it changes anything for a reader."], model)


def sections_any_order():
    model = two_sequences(columns=[Column("weight", "f32", "sequence", [1.0, 2.0])],
                          metadata={"tool": "by hand"})
    model.file.sections.reverse()
    return Valid(["Known sections in another order than writers use: only checksums and ragged pairs have a place."],
                 model)


def metadata_full():
    metadata = {
        "account": account(samples_in=9, samples_packed=2, samples_empty=1, samples_dropped=1, samples_held_out=2,
                           samples_skipped=3, tokens_in=30, tokens_stored=5, tokens_dropped=4, tokens_held_out=10,
                           tokens_skipped=11, sequences=2, samples_truncated=1, labels_lost=2),
        "bos_id": 1, "eos_id": -1, "future_field": [[], {}, "kept", 18446744073709551615, -9223372036854775808],
        "inputs": [{"first_sample": 0, "name": "a.jsonl", "samples": 4},
                   {"first_sample": 4, "name": "b \"quoted\" \\ \u00e9\u4e2d\U0001f600.jsonl", "samples": 5}],
        "overlong": "truncate", "planner_version": 1, "roles": ["chosen", "rejected"], "strategy": "best-fit",
        "tail": "none", "tokenizer": {"name": "gpt2", "sha256": "0" * 64}, "tool": "tokpack 0.1.0",
        "user": {"": "empty key", "note": "line\nbreak\ttab \u0000 \u001b[31m \u007f \u009b"}, "window": 67108864}
    return Valid(["Every metadata field, an unknown one, escapes, characters outside ASCII, control characters."],
                 two_sequences(samples=9, metadata=metadata))


def metadata_deep():
    value = 7
    for _ in range(15):
        value = [value]
    return Valid(["Metadata nested 16 deep, the most that is possible."], two_sequences(metadata={"x": value}))


def metadata_empty():
    return Valid(["Metadata that says nothing."], two_sequences(metadata={}))


def sources_wide():
    packs = [[seq([1, 2], source=0), seq([3], source=(1 << 32) + 5)]]
    return Valid(["2^32 samples or more: sources are u64."], dataset(packs, capacity=4, samples=(1 << 33)))


def two_blocks():
    packs = [[seq([0] * 600000)], [seq([0] * 7, source=1)]]
    return Valid(["Tokens of more than 1 MiB: two checksum blocks, the second one short."],
                 dataset(packs, capacity=1 << 20), packs=[1])


def largest_capacity():
    return Valid(["Capacity 2^24, the largest."], dataset([[seq([1])]], capacity=1 << 24))


def spec_example():
    return Valid(["The example of spec/format.md, section 19."], two_sequences(metadata={"tool": "by hand"}))


def all_vectors():
    return {f.__name__: f() for f in (
        spec_example, u16_all, u32_all, loss_bits, loss_bits_all_ones, explicit_labels, ignore_index_other, split,
        input_target, groups, columns_fixed, columns_ragged, zero_packs, zero_packs_columns, one_token_packs,
        one_token_sequences, unknown_section, many_sections, alignment, ignorable_bits, sections_any_order,
        metadata_full, metadata_deep, metadata_empty, sources_wide, two_blocks, largest_capacity)}
