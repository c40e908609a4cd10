// What the operators ask of the tensors that they are given, for CPU and CUDA alike: dim, dtype, sizes,
// layout, device, and that nothing that is written overlaps what is read.
//
// Tensors come through PyTorch's stable ABI (target 2.10). Views of them, as tokpack/core takes them, live as
// long as the tensors. No data is looked at, so that device memory passes through unread.
//
// Threads: pure functions. Errors: every one is a std::runtime_error, in Python a RuntimeError, that says
// what was expected and what was found; those of core arrive with their own text.
#pragma once

#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tokpack/core/block_lists.h"
#include "tokpack/core/mask.h"
#include "tokpack/core/row_intervals.h"
#include "tokpack/format/result.h"

// The headers of PyTorch 2.10 have it under its old name.
#ifndef STABLE_TORCH_ERROR_CODE_CHECK
#define STABLE_TORCH_ERROR_CODE_CHECK TORCH_ERROR_CODE_CHECK
#endif

namespace tokpack::ops {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

[[noreturn]] inline void refuse(const std::string& text) { throw std::runtime_error("tokpack: " + text); }

/// The value, or core's error thrown.
template <typename T>
T take(Result<T> result) {
  if (!result) refuse(result.error().detail);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

/// Boundaries of B rows: int32 [B, N + 1], or [N + 1] for B = 1, contiguous.
struct Boundaries {
  std::span<const std::int32_t> cu_seqlens;
  std::int64_t batch = 1;
  std::int64_t sequences = 0;  ///< N
};
Boundaries boundaries_of(const Tensor& cu_seqlens);

/// Prefixes int32 [B, N], or [N] beside boundaries of one dimension, on their device.
std::span<const std::int32_t> prefixes_of(const Tensor& prefixes, const Tensor& cu_seqlens,
                                          const Boundaries& boundaries);

/// From the operators' words: causal, bidirectional, sliding_window, prefix_lm; segment, self, none, last.
MaskFamily family_of(std::string_view name);
PadPolicy pads_of(std::string_view name);
std::int32_t int32_of(std::int64_t value, const char* name);

/// lo int32 [B,S] and hi, where given, the same, contiguous and on one device.
RowIntervals intervals_of(const Tensor& lo, const std::optional<Tensor>& hi);

/// Form and masked value for a dtype; bool where there is none.
MaskOptions mask_options(std::optional<ScalarType> dtype, bool inverted, bool lowest, bool force);

/// `out` as a buffer of [B,1,S,S] or [B,S,S] cells whose last stride is 1.
MaskBuffer mask_buffer_of(const Tensor& out, const Tensor& lo, const std::optional<Tensor>& hi);

/// The four lists, int32, contiguous: [B,1,Q] (numbers) and [B,1,Q,K] (indices).
BlockLists block_lists_of(const Tensor& kv_num_blocks, const Tensor& kv_indices,
                          const Tensor& full_kv_num_blocks, const Tensor& full_kv_indices, const Tensor& lo,
                          const std::optional<Tensor>& hi, BlockCounts counts);

}  // namespace tokpack::ops
