"""The operators under opcheck and torch.compile, into SDPA and FlexAttention."""

import pytest
import torch
import torch.nn.functional as F
from naive import boundaries, int32
from tokpack import torch_ops

ops = torch.ops.tokpack
OPCHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def check(op, args, kwargs=None):
    results = torch.library.opcheck(op, args, kwargs or {}, test_utils=OPCHECKS)
    assert set(results.values()) == {"SUCCESS"}, results


def test_opcheck(device):
    cu = int32([[0, 3, 5], [0, 8, 8]], device)
    check(ops.row_intervals.default, (cu, 8))
    check(ops.row_intervals.default, (cu[0].contiguous(), 8))
    check(ops.row_intervals.default, (cu, 8), {"family": "sliding_window", "pads": "last", "window": 2})
    check(ops.row_intervals.default, (cu, 8), {"family": "prefix_lm", "prefixes": int32([[2, 1], [8, 0]], device)})
    lo, hi = ops.row_intervals(cu, 8, family="bidirectional")
    check(ops.attention_mask.default, (lo,))
    check(ops.attention_mask.default, (lo, hi), {"dtype": torch.bfloat16, "lowest": True})
    check(ops.attention_mask.default, (lo, hi), {"inverted": True})
    check(ops.attention_mask_out.default, (lo, hi, torch.zeros(2, 8, 8, device=device)))
    check(ops.attention_mask_out.default, (lo, None, torch.zeros(2, 1, 8, 8, dtype=torch.bool, device=device)))
    check(ops.block_mask.default, (lo, hi), {"query_block": 4, "key_block": 2})
    lists = ops.block_mask(lo, hi)
    check(ops.block_mask_out.default, (lo, hi, *lists))


def packed_attention(q, k, v, cu):
    lo, hi = torch_ops.row_intervals(cu, q.shape[2], family="bidirectional")
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch_ops.attention_mask(lo, hi)) * 2


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_without_a_break_into_sdpa(dynamic, backend, device):
    torch._dynamo.reset()
    compiled = torch.compile(packed_attention, fullgraph=True, dynamic=dynamic, backend=backend)
    for positions in (16, 24, 40):
        q, k, v = (torch.randn(2, 2, positions, 8, device=device) for _ in range(3))
        cu = int32([[0, 3, 9], [0, positions, positions]], device)
        torch.testing.assert_close(compiled(q, k, v, cu), packed_attention(q, k, v, cu))


def test_dynamic_shapes_compile_once(device):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(packed_attention, fullgraph=True, dynamic=True, backend=counter)
    for positions in (16, 24, 40, 48):
        q = torch.randn(2, 2, positions, 8, device=device)
        compiled(q, q, q, int32([[0, 3, 9], [0, 5, 5]], device))
    assert counter.frame_count == 1


def test_compiled_with_a_given_mask(device):
    torch._dynamo.reset()

    @torch.compile(fullgraph=True, backend="aot_eager")
    def attention(q, lo, out):
        return F.scaled_dot_product_attention(q, q, q, attn_mask=torch_ops.attention_mask(lo, out=out))

    out = torch.zeros(1, 1, 8, 8, dtype=torch.bool, device=device)
    q = torch.randn(1, 2, 8, 4, device=device)
    for cu in ([0, 3, 5], [0, 8]):
        lo, _ = torch_ops.row_intervals(int32(cu, device), 8)
        mask = torch_ops.attention_mask(lo)
        torch.testing.assert_close(attention(q, lo, out), F.scaled_dot_product_attention(q, q, q, attn_mask=mask))
        assert torch.equal(out, mask)


@pytest.mark.parametrize("family", ["causal", "sliding_window", "bidirectional", "prefix_lm"])
def test_flex_attention_equals_sdpa_with_the_mask(family, device):
    from torch.nn.attention.flex_attention import flex_attention

    positions = 300
    cu = int32([boundaries([100, 28, 130]), boundaries([1, 299]) + [300]], device)
    options = {"sliding_window": {"window": 50}, "prefix_lm": {"prefixes": int32([[7, 0, 130], [1, 200, 0]], device)}}
    lo, hi = torch_ops.row_intervals(cu, positions, family=family, **options.get(family, {}))
    q, k, v = (torch.randn(2, 2, positions, 16, device=device) for _ in range(3))
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=torch_ops.attention_mask(lo, hi))
    block_mask = torch_ops.block_mask(lo, hi)
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=block_mask), expected, atol=2e-5, rtol=1e-4)
    reused = torch_ops.block_mask(lo, hi, out=torch_ops.block_lists(lo, hi))
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=reused), expected, atol=2e-5, rtol=1e-4)


def test_flex_attention_compiled(device):
    from torch.nn.attention.flex_attention import flex_attention

    torch._dynamo.reset()
    lo, _ = torch_ops.row_intervals(int32(boundaries([100, 28, 130]), device), 384)
    q, k, v = (torch.randn(1, 2, 384, 32, device=device) for _ in range(3))
    block_mask = torch_ops.block_mask(lo)
    compiled = torch.compile(flex_attention, fullgraph=True)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=torch_ops.attention_mask(lo))
    torch.testing.assert_close(compiled(q, k, v, block_mask=block_mask), expected, atol=2e-3 if device == "cuda" else 2e-5, rtol=1e-3)


def test_block_lists_compile(device):
    torch._dynamo.reset()
    lo, hi = torch_ops.row_intervals(int32([0, 384], device), 384)
    compiled = torch.compile(torch_ops.block_lists, fullgraph=True, dynamic=True, backend="aot_eager")
    for ours, theirs in zip(compiled(lo, hi), torch_ops.block_lists(lo, hi)):
        assert torch.equal(ours, theirs)
