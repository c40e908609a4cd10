import torch
from tokpack import torch_ops

# Two rows of 8 positions: sequences of 3 and 2 tokens, then 3 pads; sequences of 6 and 2. The last boundary is
# repeated to the row's end.
cu_seqlens = torch.tensor([[0, 3, 5, 5], [0, 6, 8, 8]], dtype=torch.int32)

lo, hi = torch_ops.row_intervals(cu_seqlens, 8)        # query r attends keys lo[r] to hi[r]; causal by default
mask = torch_ops.attention_mask(lo, hi)                # bool [2, 1, 8, 8], True = attend, on the device of lo
print(mask.int()[0, 0])

query = key = value = torch.randn(2, 4, 8, 16)
attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
print(tuple(attended.shape))

print(torch_ops.block_mask(lo, hi, block_size=128))    # FlexAttention's BlockMask; no dense mask is made
