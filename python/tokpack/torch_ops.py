"""Attention masks of packed rows as PyTorch operators, on the tensors' device.

    from tokpack import torch_ops
    lo, hi = torch_ops.row_intervals(cu_seqlens, positions=4096)        # int32 [B,S], 8 bytes a token
    mask = torch_ops.attention_mask(lo, hi)                             # bool [B,1,S,S], True = attend
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    out = flex_attention(q, k, v, block_mask=torch_ops.block_mask(lo, hi))    # no dense mask

A row is a pack's tokens, cut into sequences by its boundaries, and pads behind them. Query r attends the keys c
with lo[r] <= c <= hi[r]: every family is one interval a row. Nothing here has a gradient. All of it works under
torch.compile(fullgraph=True), with dynamic shapes as well.

Importing this loads libtokpack_ops.so, and libtokpack_ops_cuda.so where torch is built for CUDA and the file
is there: from the folder that the environment's TOKPACK_TORCH_OPS names, else from beside this file. One build
serves every PyTorch from 2.10 on.

Errors: ImportError without the library; ValueError for a dtype beside another out; RuntimeError for tensors of a wrong shape, dtype, layout or device, with
what was expected. On a CUDA device the numbers in a tensor are not looked at: wrong ones give a wrong mask,
never a write outside of it.
"""

import os
import pathlib

import torch

__all__ = ["row_intervals", "attention_mask", "block_lists", "block_mask"]


def _load():
    folder = pathlib.Path(os.environ.get("TOKPACK_TORCH_OPS") or pathlib.Path(__file__).parent).resolve()
    library = folder / "libtokpack_ops.so"
    if not library.is_file():
        raise ImportError(
            f"no {library}; build it with -DTOKPACK_BUILD_TORCH_OPS=ON and name its folder in TOKPACK_TORCH_OPS"
        )
    release = tuple(int(number) for number in torch.__version__.split(".")[:2])
    if release < (2, 10):
        raise ImportError(f"tokpack's operators need PyTorch 2.10 or later; this is {torch.__version__}")
    torch.ops.load_library(library)  # has the schemas, so it comes first
    cuda = folder / "libtokpack_ops_cuda.so"
    if torch.version.cuda and cuda.is_file():
        torch.ops.load_library(cuda)


_load()


# What the operators say of shapes without running: for torch.compile, and for tensors on the meta device.
def _on_one_device(*tensors):
    devices = {str(tensor.device) for tensor in tensors if tensor is not None}
    torch._check(len(devices) == 1, lambda: f"tokpack: tensors on {' and '.join(sorted(devices))}; move them to one")


@torch.library.register_fake("tokpack::row_intervals")
def _(cu_seqlens, positions, *, family="causal", pads="segment", window=0, prefixes=None):
    _on_one_device(cu_seqlens, prefixes)
    torch._check(cu_seqlens.dim() in (1, 2), lambda: "tokpack: cu_seqlens, expected [N + 1] or [B, N + 1]")
    shape = (cu_seqlens.shape[0] if cu_seqlens.dim() == 2 else 1, positions)
    return cu_seqlens.new_empty(shape), cu_seqlens.new_empty(shape)


@torch.library.register_fake("tokpack::attention_mask")
def _(lo, hi=None, *, dtype=None, inverted=False, lowest=False, force=False):
    _on_one_device(lo, hi)
    torch._check(lo.dim() == 2, lambda: "tokpack: lo, expected [B,S]")
    rows, positions = lo.shape
    return lo.new_empty((rows, 1, positions, positions), dtype=dtype or torch.bool)


@torch.library.register_fake("tokpack::attention_mask_out")
def _(lo, hi, out, *, inverted=False, lowest=False, force=False):
    _on_one_device(lo, hi, out)


@torch.library.register_fake("tokpack::block_mask")
def _(lo, hi=None, *, query_block=128, key_block=128):
    _on_one_device(lo, hi)
    torch._check(lo.dim() == 2, lambda: "tokpack: lo, expected [B,S]")
    torch._check(query_block > 0 and key_block > 0, lambda: "tokpack: blocks have at least 1 query and 1 key")
    rows, positions = lo.shape
    queries, keys = -(-positions // query_block), -(-positions // key_block)
    shapes = ((rows, 1, queries), (rows, 1, queries, keys)) * 2
    return tuple(lo.new_empty(shape) for shape in shapes)


@torch.library.register_fake("tokpack::block_mask_out")
def _(lo, hi, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *, query_block=128, key_block=128):
    _on_one_device(lo, hi, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)


def _expect_writable(*tensors):
    """An operator's writes have no gradient and go past PyTorch's lazy bits: such tensors are refused before."""
    for tensor in tensors:
        if torch.is_grad_enabled() and tensor.requires_grad:
            raise RuntimeError("tokpack: out requires grad, and what is written has none; give out.detach()")
        if torch.compiler.is_compiling():
            continue
        if tensor.is_neg() or tensor.is_conj():
            raise RuntimeError("tokpack: out is a negated or conjugated view; give a tensor of its own")
        if tensor.is_inference() and not torch.is_inference_mode_enabled():
            raise RuntimeError("tokpack: out was made in inference mode and is written outside of it; give another")


def _written(*tensors):
    """What an operator wrote counts as changed, so that autograd refuses a backward pass that needed the old."""
    if not torch.compiler.is_compiling():
        torch.autograd.graph.increment_version(tensors)


def row_intervals(cu_seqlens, positions, *, family="causal", pads="segment", window=0, prefixes=None):
    """The keys that each query may attend.

    cu_seqlens: int32 [N + 1] or [B, N + 1], contiguous: each row's sequence boundaries, 0 first, ascending to
        its number of tokens, which is repeated to the row's end where it has fewer sequences.
    positions: S, a row's length with its pads.
    family: "causal"; "bidirectional"; "sliding_window": `window` keys, the query's own included, as in
        transformers (flash-attention: window_size=(window - 1, 0)); "prefix_lm": the first `prefixes` tokens of
        a sequence are seen by all of it.
    pads: what pads attend. "segment": each other, as one more sequence (torchtune, torchtitan); "self": each
        itself (TRL); "none": nothing, which leaves empty rows; "last": as if they were the last sequence's
        (Megatron). Rows of real tokens are the same under all four, and never attend a pad.
    prefixes: int32 [N] or [B, N] beside the boundaries; what stands behind a row's last sequence is ignored.

    Returns lo and hi, int32 [B,S], on the boundaries' device. For "causal" and "sliding_window" hi[r] is r and
    may be left out below.
    """
    return torch.ops.tokpack.row_intervals(
        cu_seqlens, positions, family=family, pads=pads, window=window, prefixes=prefixes
    )


def attention_mask(lo, hi=None, *, dtype=None, inverted=False, lowest=False, force=False, out=None):
    """A dense mask [B,1,S,S] on the device of the intervals.

    lo, hi: int32 [B,S], contiguous; without hi: hi[r] = r.
    dtype: None or torch.bool: True = attend, as scaled_dot_product_attention takes it. torch.float32, bfloat16,
        float16: added to the scores by eager attention; 0 where attended, else -inf, or with `lowest` the
        lowest finite value (with -inf a row that attends nothing becomes NaN).
    inverted: bool only: True = masked out (Megatron).
    force: make a mask of more than 4 GiB; otherwise an error.
    out: where it goes, [B,1,S,S] or [B,S,S], its dtype instead of `dtype`. The last stride is 1, rows and batches
        may lie apart, and what is between them stays as it is. A buffer that is used again saves most of the
        time of a large mask on the CPU, which is that of fresh memory.

    Returns the mask, or `out`.
    """
    if out is None:
        return torch.ops.tokpack.attention_mask(
            lo, hi, dtype=dtype, inverted=inverted, lowest=lowest, force=force
        )
    if dtype is not None and dtype != out.dtype:
        raise ValueError(f"dtype is {dtype} and out has {out.dtype}; leave dtype out")
    _expect_writable(out)
    torch.ops.tokpack.attention_mask_out(lo, hi, out, inverted=inverted, lowest=lowest, force=force)
    _written(out)
    return out


def block_lists(lo, hi=None, *, block_size=128, out=None):
    """FlexAttention's lists: kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices.

    block_size: positions in a block, or a pair for queries and keys.
    out: the four tensors of an earlier call for the same shape, written again.

    Returns int32 [B,1,Q], [B,1,Q,K], [B,1,Q], [B,1,Q,K] for Q and K blocks; the first two list the blocks that
    are attended in part, the others those that are attended throughout. Index entries past the number are 0, or
    with `out` what they were. lo and hi must be what row_intervals makes (ascending).
    """
    query, key = block_size if isinstance(block_size, (tuple, list)) else (block_size, block_size)
    if out is None:
        return torch.ops.tokpack.block_mask(lo, hi, query_block=query, key_block=key)
    _expect_writable(*out)
    torch.ops.tokpack.block_mask_out(lo, hi, *out, query_block=query, key_block=key)
    _written(*out)
    return tuple(out)


def block_mask(lo, hi=None, *, block_size=128, out=None):
    """A torch.nn.attention.flex_attention.BlockMask, without a dense mask: see block_lists.

    The same for all heads. Unlike create_block_mask, whose time goes with S x S, this reads one interval a block.
    It keeps lo and hi, which say what is attended inside of the blocks that are listed in part. An earlier BlockMask
    over the same `out` is no longer right. Like any with a mask_mod of its own, it cannot be pickled.
    """
    from torch.nn.attention.flex_attention import BlockMask

    lists = block_lists(lo, hi, block_size=block_size, out=out)
    positions = lo.shape[1]
    if hi is None:

        def mask_mod(b, h, q, kv):
            return (kv >= lo[b, q]) & (kv <= q)

    else:

        def mask_mod(b, h, q, kv):
            return (kv >= lo[b, q]) & (kv <= hi[b, q])

    return BlockMask.from_kv_blocks(
        *lists,
        BLOCK_SIZE=block_size,
        mask_mod=mask_mod,
        seq_lengths=(positions, positions),
    )
