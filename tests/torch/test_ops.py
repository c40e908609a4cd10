"""The values of the conventions, paragraphs 1 and 2, as literals, and agreement with slower ways."""

import itertools
import random

import pytest
import torch
from naive import FAMILIES, PADS, boundaries, int32, mask, rows_of
from tokpack import torch_ops

E = [0, 3, 5]  # the running example: capacity 8, sequences of 3 and 2 tokens, 3 pads
CAUSAL_LO = {
    "segment": [0, 0, 0, 3, 3, 5, 5, 5],
    "self": [0, 0, 0, 3, 3, 5, 6, 7],
    "none": [0, 0, 0, 3, 3, 8, 8, 8],
    "last": [0, 0, 0, 3, 3, 3, 3, 3],
}
SLIDING_LO = {
    "segment": [0, 0, 1, 3, 3, 5, 5, 6],
    "self": [0, 0, 1, 3, 3, 5, 6, 7],
    "none": [0, 0, 1, 3, 3, 8, 8, 8],
    "last": [0, 0, 1, 3, 3, 4, 5, 6],
}
BIDIRECTIONAL_HI = {
    "segment": [2, 2, 2, 4, 4, 7, 7, 7],
    "self": [2, 2, 2, 4, 4, 5, 6, 7],
    "none": [2, 2, 2, 4, 4, 5, 6, 7],
    "last": [2, 2, 2, 4, 4, 7, 7, 7],
}
OWN = [0, 1, 2, 3, 4, 5, 6, 7]
PREFIX_HI = [1, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("pads", PADS)
def test_intervals_of_the_running_example(pads, device):
    cu = int32(E, device)

    def lists(**options):
        lo, hi = torch_ops.row_intervals(cu, 8, pads=pads, **options)
        assert lo.dtype == hi.dtype == torch.int32 and lo.device.type == device
        return lo.tolist(), hi.tolist()

    assert lists() == ([CAUSAL_LO[pads]], [OWN])
    assert lists(family="sliding_window", window=2) == ([SLIDING_LO[pads]], [OWN])
    assert lists(family="bidirectional") == ([CAUSAL_LO[pads]], [BIDIRECTIONAL_HI[pads]])
    prefixes = int32([2, 1], device)
    assert lists(family="prefix_lm", prefixes=prefixes) == ([CAUSAL_LO[pads]], [PREFIX_HI])


REAL_ROWS = {
    "causal": "10000000/11000000/11100000/00010000/00011000",
    "sliding_window": "10000000/11000000/01100000/00010000/00011000",
    "prefix_lm": "11000000/11000000/11100000/00010000/00011000",
    "bidirectional": "11100000/11100000/11100000/00011000/00011000",
}
SELF, NONE = "00000100/00000010/00000001", "00000000/00000000/00000000"
PAD_ROWS = {
    "causal": ["00000100/00000110/00000111", SELF, NONE, "00011100/00011110/00011111"],
    "sliding_window": ["00000100/00000110/00000011", SELF, NONE, "00001100/00000110/00000011"],
    "prefix_lm": ["00000100/00000110/00000111", SELF, NONE, "00011100/00011110/00011111"],
    "bidirectional": ["00000111/00000111/00000111", SELF, NONE, "00011111/00011111/00011111"],
}


def options_of(family, prefixes, device="cpu"):
    if family == "prefix_lm":
        return {"prefixes": int32(prefixes, device)}
    return {"window": 2} if family == "sliding_window" else {}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pads", PADS)
def test_masks_of_the_running_example(family, pads, device):
    lo, hi = torch_ops.row_intervals(
        int32(E, device), 8, family=family, pads=pads, **options_of(family, [2, 1], device)
    )
    made = torch_ops.attention_mask(lo, hi)
    assert made.dtype == torch.bool and made.shape == (1, 1, 8, 8)
    assert rows_of(made[0, 0]) == REAL_ROWS[family] + "/" + PAD_ROWS[family][PADS.index(pads)]


@pytest.mark.parametrize(
    ("lengths", "options", "expected"),
    [
        ([3], {}, "100/110/111"),
        ([4], {"family": "sliding_window", "window": 2}, "1000/1100/0110/0011"),
        ([4], {"family": "prefix_lm", "prefixes": [2]}, "1100/1100/1110/1111"),
        ([3, 2, 1], {}, "100000/110000/111000/000100/000110/000001"),
        ([2, 2, 2], {}, "100000/110000/001000/001100/000010/000011"),
    ],
)
def test_small_values(lengths, options, expected, device):
    options = {k: int32(v, device) if k == "prefixes" else v for k, v in options.items()}
    lo, hi = torch_ops.row_intervals(int32(boundaries(lengths), device), sum(lengths), **options)
    assert rows_of(torch_ops.attention_mask(lo, hi)[0, 0]) == expected


def test_forms_have_the_bits_of_the_conventions(device):
    lo, _ = torch_ops.row_intervals(int32(E, device), 8)
    attended = torch_ops.attention_mask(lo)
    assert torch.equal(torch_ops.attention_mask(lo, inverted=True), ~attended)
    assert torch.equal(torch_ops.attention_mask(lo, dtype=torch.bool), attended)
    bits = [
        (torch.float32, torch.int32, 0xFF800000, 0xFF7FFFFF),
        (torch.bfloat16, torch.int16, 0xFF80, 0xFF7F),
        (torch.float16, torch.int16, 0xFC00, 0xFBFF),
    ]
    for dtype, integer, infinity, lowest in bits:
        width = 32 if integer == torch.int32 else 16
        for options, value in (({}, infinity), ({"lowest": True}, lowest)):
            made = torch_ops.attention_mask(lo, dtype=dtype, **options)
            assert made.dtype == dtype
            expected = torch.where(attended, 0, value - (1 << width)).to(integer)
            assert torch.equal(made.view(integer), expected)
    rows = rows_of((torch_ops.attention_mask(lo, dtype=torch.float32)[0, 0] == 0).int()).replace("0", "X")
    assert rows.replace("1", "0") == (
        "0XXXXXXX/00XXXXXX/000XXXXX/XXX0XXXX/XXX00XXX/XXXXX0XX/XXXXX00X/XXXXX000"
    )


def test_rows_of_a_batch_have_their_own_boundaries_and_prefixes(device):
    cu = int32([[0, 3, 5, 5], [0, 0, 0, 0], [0, 1, 2, 8]], device)
    lo, hi = torch_ops.row_intervals(cu, 8)
    assert lo.tolist() == [[0, 0, 0, 3, 3, 5, 5, 5], [0] * 8, [0, 1, 2, 2, 2, 2, 2, 2]]
    assert hi.tolist() == [OWN] * 3
    prefixes = int32([[2, 1, 99], [7, 7, 7], [1, 0, 6]], device)
    lo, hi = torch_ops.row_intervals(cu, 8, family="prefix_lm", prefixes=prefixes)
    assert hi.tolist() == [PREFIX_HI, OWN, [0, 1, 7, 7, 7, 7, 7, 7]]


def random_lengths(rng, positions):
    lengths = []
    while sum(lengths) < positions and rng.random() < 0.9:
        lengths.append(rng.randint(1, max(1, positions - sum(lengths))) if rng.random() < 0.3 else 1 + rng.randint(0, 5))
    while sum(lengths) > positions:
        lengths.pop()
    return lengths


@pytest.mark.parametrize("family", FAMILIES)
def test_random_rows_equal_the_cell_by_cell_mask(family, device):
    rng = random.Random(family)
    for positions, pads in itertools.product([1, 7, 33, 64], PADS):
        lengths = random_lengths(rng, positions)
        prefixes = [rng.randint(0, n) for n in lengths]
        lo, hi = torch_ops.row_intervals(
            int32(boundaries(lengths), device), positions, family=family, pads=pads,
            **options_of(family, prefixes, device)
        )
        made = torch_ops.attention_mask(lo, hi)[0, 0].cpu()
        assert torch.equal(made, mask(lengths, positions, family, pads, 2, prefixes)), (lengths, pads)


def test_equals_torchtunes_way_and_the_broadcast_formula(device):
    lengths = [[3, 2, 3], [1, 6, 1], [8]]
    cu = int32([boundaries(row) + [8] * (3 - len(row)) for row in lengths], device)
    lo, _ = torch_ops.row_intervals(cu, 8)
    made = torch_ops.attention_mask(lo)
    # torchtune: a lower triangle for each sequence, put together on the diagonal.
    tuned = torch.stack(
        [torch.block_diag(*[torch.tril(torch.ones(n, n, dtype=torch.bool)) for n in row]) for row in lengths]
    )
    assert torch.equal(made[:, 0].cpu(), tuned)
    documents = torch.stack([torch.repeat_interleave(torch.arange(len(r)), torch.tensor(r)) for r in lengths])
    at = torch.arange(8)
    formula = (documents[:, :, None] == documents[:, None, :]) & (at[:, None] >= at[None, :])
    assert torch.equal(made[:, 0].cpu(), formula)


def test_any_intervals_are_safe(device):
    """Negative, beyond the row, descending: the mask is what the definition says."""
    lo = int32([[-5, 9, 3, 2, 2**31 - 1, -(2**31), 0, 4]], device)
    hi = int32([[3, 20, 1, 2, 7, 2**31 - 1, -1, -(2**31)]], device)
    c = torch.arange(8, device=device)
    expected = (c >= lo[0, :, None]) & (c <= hi[0, :, None])
    assert torch.equal(torch_ops.attention_mask(lo, hi)[0, 0], expected)


LISTS = [  # lengths, block size, kv counts, kv indices, full counts, full indices
    ([384], 128, [1, 1, 1], [[0], [1], [2]], [0, 1, 2], [[], [0], [0, 1]]),
    ([100, 156], 128, [1, 2], [[0], [0, 1]], [0, 0], [[], []]),
    ([130, 126], 128, [1, 2], [[0], [0, 1]], [0, 0], [[], []]),
    ([128, 256], 128, [1, 1, 1], [[0], [1], [2]], [0, 0, 1], [[], [], [1]]),
    ([100, 28, 128], 128, [1, 1], [[0], [1]], [0, 0], [[], []]),
    ([384], (256, 128), [2, 3], [[0, 1], [0, 1, 2]], [0, 0], [[], []]),
    ([384], (128, 256), [1, 1, 1], [[0], [0], [1]], [0, 0, 1], [[], [], [0]]),
]


@pytest.mark.parametrize(("lengths", "size", "counts", "indices", "full_counts", "full"), LISTS)
def test_block_lists_of_the_conventions(lengths, size, counts, indices, full_counts, full, device):
    lo, hi = torch_ops.row_intervals(int32(boundaries(lengths), device), sum(lengths))
    for made in (torch_ops.block_lists(lo, block_size=size), torch_ops.block_lists(lo, hi, block_size=size)):
        assert all(list_.dtype == torch.int32 for list_ in made)
        number, index, full_number, full_index = (list_[0, 0].tolist() for list_ in made)
        assert (number, full_number) == (counts, full_counts)
        assert [row[:n] for row, n in zip(index, number)] == indices
        assert [row[:n] for row, n in zip(full_index, full_number)] == full
        assert all(not any(row[n:]) for row, n in zip(index, number)), "entries past the count are 0"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pads", PADS)
def test_block_masks_equal_create_block_mask(family, pads, device):
    from torch.nn.attention.flex_attention import create_block_mask

    rng = random.Random(f"{family} {pads}")
    for positions, size in [(384, 128), (300, 128), (256, 64), (200, (64, 32))]:
        lengths = random_lengths(rng, positions)
        prefixes = [rng.randint(0, n) for n in lengths]
        lo, hi = torch_ops.row_intervals(
            int32(boundaries(lengths), device), positions, family=family, pads=pads,
            **options_of(family, prefixes, device)
        )
        made = torch_ops.block_mask(lo, hi, block_size=size)
        expected = create_block_mask(made.mask_mod, 1, None, positions, positions, device=device, BLOCK_SIZE=size)
        assert torch.equal(made.to_dense(), expected.to_dense())
        for name in ("kv_num_blocks", "full_kv_num_blocks", "q_num_blocks", "full_q_num_blocks"):
            assert torch.equal(getattr(made, name), getattr(expected, name)), (name, lengths)
        for name in ("kv", "full_kv", "q", "full_q"):
            numbers = getattr(made, f"{name}_num_blocks").flatten().tolist()
            pairs = zip(getattr(made, f"{name}_indices").flatten(0, 2).tolist(),
                        getattr(expected, f"{name}_indices").flatten(0, 2).tolist())
            for number, (ours, theirs) in zip(numbers, pairs):
                assert ours[:number] == theirs[:number], (name, lengths)


def test_given_lists_are_written_up_to_their_counts(device):
    lo, _ = torch_ops.row_intervals(int32([0, 384], device), 384)
    fresh = torch_ops.block_lists(lo)
    given = tuple(torch.full_like(list_, 77) for list_ in fresh)
    assert torch_ops.block_lists(lo, out=given)[1] is given[1]
    assert given[0].tolist() == fresh[0].tolist() and given[2].tolist() == fresh[2].tolist()
    assert given[1].tolist() == [[[[0, 77, 77], [1, 77, 77], [2, 77, 77]]]]
    assert given[3].tolist() == [[[[77, 77, 77], [0, 77, 77], [0, 1, 77]]]]
