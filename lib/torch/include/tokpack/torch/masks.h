// Dense masks for a LibTorch trainer: row intervals in, a tensor for at::scaled_dot_product_attention out, by
// tokpack/core on the CPU and tokpack/cuda on a GPU (on the current stream of the intervals' device).
//
// Conventions: tokpack/core/mask.h. Shapes: lo, hi int32 [B,S], contiguous; masks [B,1,S,S].
// Ownership: nothing is kept. Threads: any. Errors: Exception, with kOptions for tensors of a wrong shape,
// type, layout or device and for `out` that overlaps the intervals, kTooLarge above 4 GiB without `force`,
// kCuda where tokpack was built without lib/cuda.
//
//   at::Tensor mask = tokpack::libtorch::attention_mask(batch.lo, batch.hi);
//   at::Tensor out = at::scaled_dot_product_attention(q, k, v, mask);
#pragma once

#include <ATen/core/Tensor.h>

#include "tokpack/core/mask.h"
#include "tokpack/torch/exception.h"
#include "tokpack/torch/loader.h"

namespace tokpack::libtorch {

struct AttentionMaskOptions {
  MaskForm form = MaskForm::kBool;
  MaskedValue masked = MaskedValue::kNegativeInfinity;  ///< additive forms only
  bool force = false;                                   ///< make more than 4 GiB
};

/// A new mask: bool, float32, bfloat16 or float16 by the form. `hi` undefined: hi(r) = r.
at::Tensor attention_mask(const at::Tensor& lo, const at::Tensor& hi = at::Tensor(),
                          const AttentionMaskOptions& options = {});
/// From a batch with intervals.
at::Tensor attention_mask(const TensorBatch& batch, const AttentionMaskOptions& options = {});
/// Into `out` [B,1,S,S] or [B,S,S] of the form's type, whose last stride is 1; rows and batches may lie
/// apart. A buffer that is used again saves most of the time on the CPU.
void write_attention_mask(const at::Tensor& lo, const at::Tensor& hi, const AttentionMaskOptions& options,
                          const at::Tensor& out);

/// Whether masks can be made on a GPU: tokpack was built with lib/cuda.
bool has_cuda_masks() noexcept;

}  // namespace tokpack::libtorch
