"""What is refused, with words that say what was expected; and that only cells are written."""

import pytest
import torch
from naive import int32
from tokpack import torch_ops


@pytest.fixture
def lo(device):
    return int32([[0, 0, 0, 3, 3, 5, 5, 5]], device)


def refused(words, call, *args, **options):
    with pytest.raises(RuntimeError) as caught:
        call(*args, **options)
    assert "tokpack: " in str(caught.value) and words in str(caught.value), caught.value


def test_boundaries_of_a_wrong_kind(device):
    cu = int32([0, 3, 5], device)
    call = torch_ops.row_intervals
    refused("cu_seqlens is Long, expected int32", call, cu.long(), 8)
    refused("expected [N + 1]", call, cu[0], 8)
    refused("expected [N + 1]", call, cu[None, None], 8)
    refused("cu_seqlens is [0]", call, cu[:0], 8)
    refused("cu_seqlens is [0,3]", call, cu[None][:0], 8)
    refused("not contiguous", call, int32([0, 9, 3, 9, 5, 9], device)[::2], 8)
    refused("family is 'casual', expected one of causal, bidirectional", call, cu, 8, family="casual")
    refused("pads is 'segments', expected one of segment", call, cu, 8, pads="segments")
    refused("window is -1", call, cu, 8, family="sliding_window", window=-1)
    refused("window is 4294967298", call, cu, 8, family="sliding_window", window=2**32 + 2)
    refused("window is 0; a sliding window needs", call, cu, 8, family="sliding_window")
    refused("window is 2", call, cu, 8, window=2)
    refused("prefixes go with the family prefix_lm", call, cu, 8, family="prefix_lm")
    refused("prefixes go with the family prefix_lm", call, cu, 8, prefixes=int32([1, 1], device))
    prefix = {"family": "prefix_lm"}
    refused("prefixes is Long", call, cu, 8, prefixes=torch.tensor([1, 1], device=device), **prefix)
    refused("one prefix for each sequence", call, cu, 8, prefixes=int32([1, 1, 1], device), **prefix)
    refused("one prefix for each sequence", call, cu, 8, prefixes=int32([[1, 1]], device), **prefix)
    refused("one prefix for each sequence", call, cu, 8, prefixes=int32(1, device), **prefix)
    for positions in (0, -1, 2**31 - 1, 2**31, 2**62):
        refused(f"positions is {positions}, expected 1 to 2147483646", call, cu, positions)


def test_boundaries_of_wrong_values_on_the_cpu():
    call = torch_ops.row_intervals
    refused("cu_seqlens ends at 5, expected at most the 4 positions", call, int32([0, 3, 5]), 4)
    refused("cu_seqlens[0] is 1, expected 0", call, int32([1, 3]), 8)
    refused("cu_seqlens[2] is 2, expected more than", call, int32([0, 3, 2]), 8)
    refused("cu_seqlens[2] is 3, expected more than", call, int32([0, 3, 3, 5]), 8)
    refused("cu_seqlens[1] is -4", call, int32([0, -4]), 8)
    refused("a shorter row repeats its last boundary to the end", call, int32([[0, 3, 5], [0, 8, 0]]), 8)
    refused("row 1: cu_seqlens[2] is 1", call, int32([[0, 3, 5], [0, 2, 1]]), 8)
    refused("the prefix of sequence 1 is 3, expected 0 to its length of 2", call, int32([0, 3, 5]), 8,
            family="prefix_lm", prefixes=int32([0, 3]))


def test_intervals_of_a_wrong_kind(lo, device):
    for call in (torch_ops.attention_mask, torch_ops.block_lists):
        refused("lo is Long, expected int32", call, lo.long())
        refused("lo is [8], expected [B,S]", call, lo[0])
        refused("lo is [0,8]", call, lo[:0])
        refused("lo is [1,0]", call, lo[:, :0])
        refused("lo is not contiguous", call, lo.repeat(8, 1).t())
        refused("lo is not contiguous", call, lo.repeat(2, 1)[:, :4])
        refused("hi is Float, expected int32", call, lo, lo.float())
        refused("hi is [1,4] and lo [1,8]", call, lo, lo[:, :4].contiguous())
        refused("hi is not contiguous", call, lo, lo.repeat(8, 1).t()[:1])


def test_masks_that_cannot_be(lo, device):
    call = torch_ops.attention_mask
    refused("a mask of Double; expected bool, or float32", call, lo, dtype=torch.float64)
    refused("a mask of Byte", call, lo, dtype=torch.uint8)
    refused("only a bool mask can be inverted", call, lo, dtype=torch.float32, inverted=True)
    refused("lowest is set for a bool mask", call, lo, lowest=True)
    huge = torch.zeros(1, 70000, dtype=torch.int32, device=device)
    refused("4900000000 bytes, above 4294967296 (4 GiB); set force", call, huge)
    refused("9800000000 bytes", call, huge, dtype=torch.bfloat16)


def test_outs_that_do_not_fit(lo, device):
    def out(*shape, dtype=torch.bool):
        return torch.zeros(shape, dtype=dtype, device=device)

    call = torch_ops.attention_mask
    for shape in ((1, 1, 8, 7), (1, 1, 7, 8), (2, 1, 8, 8), (1, 2, 8, 8), (8, 8), (1, 1, 1, 8, 8), (1, 1, 8, 9)):
        refused("expected [B,1,S,S] or [B,S,S]", call, lo, out=out(*shape))
    refused("a mask of Double", call, lo, out=out(1, 1, 8, 8, dtype=torch.float64))
    refused("cell to cell", call, lo, out=out(1, 1, 8, 8).transpose(2, 3))
    refused("cell to cell", call, lo, out=out(1, 1, 8, 16)[..., ::2])
    refused("rows may lie apart, not in one place", call, lo, out=out(1, 1, 1, 8).expand(1, 1, 8, 8))
    two = lo.repeat(2, 1)
    refused("lie in one place", call, two, out=out(1, 1, 8, 8).expand(2, 1, 8, 8))
    overlapping = out(200).as_strided((2, 1, 8, 8), (30, 30, 8, 1))
    refused("the batch stride is 30 elements, expected at least the 64", call, two, out=overlapping)
    with pytest.raises(ValueError, match="leave dtype out"):
        call(lo, out=out(1, 1, 8, 8), dtype=torch.float32)


def test_outs_that_overlap_what_is_read(device):
    memory = torch.zeros(64 + 16, dtype=torch.int32, device=device)
    lo, hi = memory[:8].view(1, 8), memory[8:16].view(1, 8)
    as_floats = memory.view(torch.float32)
    refused("out and lo overlap", torch_ops.attention_mask, lo, out=as_floats[:64].view(1, 1, 8, 8))
    refused("out and hi overlap", torch_ops.attention_mask, lo, hi, out=as_floats[15:79].view(1, 1, 8, 8))
    torch_ops.attention_mask(lo, hi, out=as_floats[16:].view(1, 1, 8, 8))
    lists = [torch.zeros(shape, dtype=torch.int32, device=device) for shape in ((1, 1, 1), (1, 1, 1, 1)) * 2]
    refused("full_kv_num_blocks and kv_num_blocks overlap", torch_ops.block_lists, lo,
            out=(lists[0], lists[1], lists[0], lists[3]))
    refused("kv_num_blocks and lo overlap", torch_ops.block_lists, lo, out=(memory[:1].view(1, 1, 1), *lists[1:]))


def test_lists_that_do_not_fit(lo, device):
    good = torch_ops.block_lists(lo)
    refused("kv_num_blocks is [1,1,1,1], expected [1,1,1]", torch_ops.block_lists, lo, out=(good[1], *good[1:]))
    refused("full_kv_indices is [1,1,1], expected [1,1,1,1]", torch_ops.block_lists, lo, out=(*good[:3], good[0]))
    refused("kv_indices is Long", torch_ops.block_lists, lo, out=(good[0], good[1].long(), *good[2:]))
    refused("expected [1,1,2]", torch_ops.block_lists, lo, block_size=4, out=good)
    refused("at least 1 query", torch_ops.block_lists, lo, block_size=0)
    refused("query_block is -1", torch_ops.block_lists, lo, block_size=(-1, 1))
    refused("key_block is 4294967297", torch_ops.block_lists, lo, block_size=(1, 2**32 + 1))


def test_descending_intervals_have_no_lists_on_the_cpu():
    refused("neither lo nor hi descending", torch_ops.block_lists, int32([[0, 1, 0, 0]]), block_size=1)
    refused("expected 0 <= lo <= hi", torch_ops.block_lists, int32([[0, -1, 0, 0]]), block_size=1)


def test_strided_outs_have_their_cells_written_and_nothing_else(device):
    lo, hi = torch_ops.row_intervals(int32([[0, 3, 5], [0, 1, 7]], device), 8)
    for dtype, guard in ((torch.bool, True), (torch.float32, 7.0), (torch.bfloat16, 7.0), (torch.float16, 7.0)):
        expected = torch_ops.attention_mask(lo, hi, dtype=dtype)
        for shape in ((2, 1, 8, 8), (2, 8, 8)):
            memory = torch.full((2, 11, 13), guard, dtype=dtype, device=device)
            out = memory[:, 1:9, 3:11].view(shape) if len(shape) == 3 else memory[:, 1:9, 3:11].unsqueeze(1)
            assert torch_ops.attention_mask(lo, hi, out=out) is out
            assert torch.equal(out.reshape(2, 1, 8, 8), expected)
            memory[:, 1:9, 3:11] = guard
            assert (memory == guard).all(), f"{dtype}: something outside was written"


def test_what_out_writes_counts_as_changed(lo, device):
    """A backward pass that needs the old mask says so instead of using the new one."""
    out = torch_ops.attention_mask(lo, dtype=torch.float32)[0, 0]
    weight = torch.ones(8, 8, device=device, requires_grad=True)
    loss = (weight * out.clamp(min=-1) * 0 + weight * out.view(8, 8)).sum()
    torch_ops.attention_mask(lo, out=out.view(1, 1, 8, 8))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_tensors_of_other_devices(lo, device):
    meta = lo.to("meta")
    assert torch_ops.attention_mask(meta).device.type == "meta"
    refused("move them to one", torch_ops.attention_mask, lo, meta)
    refused("move them to one", torch_ops.attention_mask, meta, out=torch.empty(1, 1, 8, 8, device=device))
    refused("move them to one", torch_ops.attention_mask, lo, out=torch.empty(1, 1, 8, 8, device="meta"))
    refused("move them to one", torch_ops.block_lists, meta, out=torch_ops.block_lists(lo))
    if device == "cpu":
        return
    cpu = lo.cpu()
    refused("move one", torch_ops.attention_mask, lo, cpu)
    refused("move one", torch_ops.attention_mask, cpu, lo)
    refused("move one", torch_ops.attention_mask, cpu, out=torch.empty(1, 1, 8, 8, device=device))


def test_sparse_and_quantised_tensors_are_refused():
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch_ops.attention_mask(int32([[0, 0]]).to_sparse())


def test_outs_that_would_be_written_behind_torchs_back(lo, device):
    weight = torch.ones(1, 1, 8, 8, device=device, requires_grad=True)
    refused("out requires grad", torch_ops.attention_mask, lo, out=weight)
    refused("out requires grad", torch_ops.attention_mask, lo, out=weight * 3)
    with torch.no_grad():
        torch_ops.attention_mask(lo, out=weight)
    assert torch.equal(weight.detach(), torch_ops.attention_mask(lo, dtype=torch.float32))
    negated = torch.zeros(1, 1, 8, 8, dtype=torch.complex64, device=device).conj().imag
    refused("negated", torch_ops.attention_mask, lo, out=negated)
    with torch.inference_mode():
        made = torch.zeros(1, 1, 8, 8, dtype=torch.bool, device=device)
        torch_ops.attention_mask(lo, out=made)
    refused("inference mode", torch_ops.attention_mask, lo, out=made)


def test_storage_that_was_resized_under_a_tensor(lo, device):
    def shrunk(tensor, size=0):
        tensor = tensor.clone()
        tensor.untyped_storage().resize_(size)
        return tensor

    refused("its storage was resized", torch_ops.attention_mask, shrunk(lo))
    refused("its storage was resized", torch_ops.attention_mask, lo, shrunk(lo, 12))
    refused("its storage was resized", torch_ops.row_intervals, shrunk(int32([0, 3], device)), 8)
    lists = torch_ops.block_lists(lo, block_size=2)
    refused("kv_indices is [1,1,4,4] over a storage of 60 bytes", torch_ops.block_lists, lo, block_size=2,
            out=(lists[0], shrunk(lists[1], 60), *lists[2:]))


def test_block_sizes_of_any_integer_type(lo):
    numpy = pytest.importorskip("numpy")
    for one, other in zip(torch_ops.block_lists(lo, block_size=numpy.int64(4)), torch_ops.block_lists(lo, block_size=4)):
        assert torch.equal(one, other)
    refused("at least 1 query", torch_ops.block_lists, lo.to("meta"), block_size=0)
    refused("expected [B,S]", torch_ops.block_mask, lo[0])
