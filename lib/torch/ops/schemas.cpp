// The operators torch.ops.tokpack.*: what they take and give. python/tokpack/torch_ops.py has their words for
// people, and the shapes that torch.compile needs.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(tokpack, library) {
  // cu_seqlens int32 [N + 1] or [B, N + 1] -> lo, hi int32 [B, positions]
  library.def(
      "row_intervals(Tensor cu_seqlens, SymInt positions, *, str family=\"causal\", str pads=\"segment\", "
      "int window=0, Tensor? prefixes=None) -> (Tensor, Tensor)");
  // lo, hi int32 [B,S] -> [B,1,S,S]: bool, or additive float32, bfloat16, float16
  library.def(
      "attention_mask(Tensor lo, Tensor? hi=None, *, ScalarType? dtype=None, bool inverted=False, "
      "bool lowest=False, bool force=False) -> Tensor");
  // The same into out [B,1,S,S] or [B,S,S], whose dtype gives the form. Only cells are written.
  library.def(
      "attention_mask_out(Tensor lo, Tensor? hi, Tensor(a!) out, *, bool inverted=False, "
      "bool lowest=False, bool force=False) -> ()");
  // lo, hi int32 [B,S] -> kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, int32 [B,1,Q] and
  // [B,1,Q,K]; entries past the count are 0
  library.def(
      "block_mask(Tensor lo, Tensor? hi=None, *, SymInt query_block=128, SymInt key_block=128) -> "
      "(Tensor, Tensor, Tensor, Tensor)");
  // The same into given tensors; entries past the count stay as they are.
  library.def(
      "block_mask_out(Tensor lo, Tensor? hi, Tensor(a!) kv_num_blocks, Tensor(b!) kv_indices, "
      "Tensor(c!) full_kv_num_blocks, Tensor(d!) full_kv_indices, *, SymInt query_block=128, "
      "SymInt key_block=128) -> ()");
}
