// The operators' bodies: checks, allocation and one call, the same for every device. `Backend` makes the
// call:
//
//   explicit Backend(const Tensor& on);   the tensors' device; refuses another kind of device
//   Result<void> row_intervals(const Boundaries&, const IntervalOptions&, lo, hi);
//   Result<void> write_mask(const RowIntervals&, const MaskOptions&, const MaskBuffer&, std::uint64_t bytes);
//   Result<void> block_lists(const RowIntervals&, BlockSize, const BlockLists&);
//
// Shapes, dtypes and words are those of the schemas (schemas.cpp). Errors: tensors.h.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <limits>
#include <tuple>

#include "tensors.h"
#include "tokpack/core/mask_layout.h"

namespace tokpack::ops {

using OptionalTensor = std::optional<Tensor>;
using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

inline BlockSize block_size(std::int64_t query_block, std::int64_t key_block) {
  return {.query = int32_of(query_block, "query_block"), .key = int32_of(key_block, "key_block")};
}

template <typename Backend>
struct Operators {
  static Tensor empty_like_device(std::initializer_list<std::int64_t> sizes, ScalarType dtype,
                                  const Tensor& on) {
    return torch::stable::empty(sizes, dtype, std::nullopt, on.device());
  }

  static std::tuple<Tensor, Tensor> row_intervals(const Tensor& cu_seqlens, std::int64_t positions,
                                                  const std::string& family, const std::string& pads,
                                                  std::int64_t window, const OptionalTensor& prefixes) {
    const Boundaries boundaries = boundaries_of(cu_seqlens);
    IntervalOptions options{
        .family = family_of(family), .pads = pads_of(pads), .window = int32_of(window, "window")};
    if (prefixes) options.prefixes = prefixes_of(*prefixes, cu_seqlens, boundaries);
    if ((options.family == MaskFamily::kPrefixLm) != prefixes.has_value()) {
      refuse("prefixes go with the family prefix_lm, which needs them, and with no other");
    }
    if (positions < 1 || positions > kMaxRowPositions) {
      refuse("positions is " + std::to_string(positions) + ", expected 1 to " +
             std::to_string(kMaxRowPositions));
    }
    Backend backend(cu_seqlens);
    const Tensor lo = empty_like_device({boundaries.batch, positions}, ScalarType::Int, cu_seqlens);
    const Tensor hi = empty_like_device({boundaries.batch, positions}, ScalarType::Int, cu_seqlens);
    const auto count = static_cast<std::size_t>(boundaries.batch * positions);
    take(backend.row_intervals(boundaries, options,
                               {static_cast<std::int32_t*>(lo.mutable_data_ptr()), count},
                               {static_cast<std::int32_t*>(hi.mutable_data_ptr()), count}));
    return {lo, hi};
  }

  static void write(Backend& backend, const RowIntervals& intervals, const MaskOptions& options,
                    const MaskBuffer& out) {
    const auto layout = take(mask_layout(intervals.batch, take(row_positions(intervals)), options, out));
    take(backend.write_mask(intervals, options, out, layout.mask_bytes));
  }

  static Tensor attention_mask(const Tensor& lo, const OptionalTensor& hi, std::optional<ScalarType> dtype,
                               bool inverted, bool lowest, bool force) {
    const RowIntervals intervals = intervals_of(lo, hi);
    const MaskOptions options = mask_options(dtype, inverted, lowest, force);
    Backend backend(lo);
    // Refused before memory is taken: `force`, and sizes that no address could hold.
    alignas(16) static char anywhere[16];
    take(mask_layout(intervals.batch, take(row_positions(intervals)), options,
                     {.data = anywhere, .bytes = std::numeric_limits<std::size_t>::max()}));
    const Tensor out =
        empty_like_device({lo.size(0), 1, lo.size(1), lo.size(1)}, dtype.value_or(ScalarType::Bool), lo);
    write(backend, intervals, options, mask_buffer_of(out, lo, hi));
    return out;
  }

  static void attention_mask_out(const Tensor& lo, const OptionalTensor& hi, const Tensor& out, bool inverted,
                                 bool lowest, bool force) {
    const RowIntervals intervals = intervals_of(lo, hi);
    const MaskOptions options = mask_options(out.scalar_type(), inverted, lowest, force);
    const MaskBuffer buffer = mask_buffer_of(out, lo, hi);
    Backend backend(lo);
    write(backend, intervals, options, buffer);
  }

  static void block_mask_out(const Tensor& lo, const OptionalTensor& hi, const Tensor& kv_num_blocks,
                             const Tensor& kv_indices, const Tensor& full_kv_num_blocks,
                             const Tensor& full_kv_indices, std::int64_t query_block,
                             std::int64_t key_block) {
    const RowIntervals intervals = intervals_of(lo, hi);
    const BlockSize size = block_size(query_block, key_block);
    const BlockCounts counts = take(block_counts(lo.size(1), size));
    const BlockLists lists =
        block_lists_of(kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, lo, hi, counts);
    Backend backend(lo);
    take(backend.block_lists(intervals, size, lists));
  }

  static FourTensors block_mask(const Tensor& lo, const OptionalTensor& hi, std::int64_t query_block,
                                std::int64_t key_block) {
    (void)intervals_of(lo, hi);
    const BlockCounts counts = take(block_counts(lo.size(1), block_size(query_block, key_block)));
    Backend backend(lo);
    const auto numbers = [&] {
      return empty_like_device({lo.size(0), 1, counts.query}, ScalarType::Int, lo);
    };
    const auto indices = [&] {  // entries past the count are 0: equal input gives equal tensors
      Tensor list = empty_like_device({lo.size(0), 1, counts.query, counts.key}, ScalarType::Int, lo);
      return torch::stable::zero_(list);
    };
    FourTensors lists{numbers(), indices(), numbers(), indices()};
    block_mask_out(lo, hi, std::get<0>(lists), std::get<1>(lists), std::get<2>(lists), std::get<3>(lists),
                   query_block, key_block);
    return lists;
  }

  /// Registers all of them for one dispatch key.
  static void implement(torch::stable::detail::StableLibrary& library) {
    library.impl("row_intervals", TORCH_BOX(&row_intervals));
    library.impl("attention_mask", TORCH_BOX(&attention_mask));
    library.impl("attention_mask_out", TORCH_BOX(&attention_mask_out));
    library.impl("block_mask", TORCH_BOX(&block_mask));
    library.impl("block_mask_out", TORCH_BOX(&block_mask_out));
  }
};

}  // namespace tokpack::ops
