#include "jobs.h"

#include <bit>

#include "error_text.h"
#include "tokpack/core/mask_layout.h"

namespace tokpack::cuda {
namespace {

/// N, the most sequences of a row.
Result<std::int64_t> most_sequences(const BatchBoundaries& boundaries) {
  const auto batch = static_cast<std::uint64_t>(boundaries.batch);
  const std::size_t size = boundaries.cu_seqlens.size();
  if (size == 0 || size % batch != 0) {
    return error_of(Errc::kOptions, {"cu_seqlens has ", static_cast<std::int64_t>(size),
                                     " elements, expected a positive multiple of the ", boundaries.batch,
                                     " rows of the batch; it is [B,N+1], contiguous"});
  }
  const std::uint64_t sequences = size / batch - 1;
  if (sequences > static_cast<std::uint64_t>(kMaxRowPositions)) {
    return error_of(Errc::kTooLarge, {"cu_seqlens has room for ", static_cast<std::int64_t>(sequences),
                                      " sequences a row, above the limit of ", kMaxRowPositions});
  }
  return static_cast<std::int64_t>(sequences);
}

}  // namespace

Result<MaskJob> mask_job(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out) {
  const auto positions = row_positions(intervals);
  if (!positions) return positions.error();
  const auto layout = mask_layout(intervals.batch, *positions, options, out);
  if (!layout) return layout.error();

  return MaskJob{.lo = intervals.lo.data(),
                 .hi = intervals.hi.empty() ? nullptr : intervals.hi.data(),
                 .cells = static_cast<unsigned char*>(out.data),
                 .batch = intervals.batch,
                 .positions = *positions,
                 .row_stride = layout->row_stride * layout->element_bytes,
                 .batch_stride = layout->batch_stride * layout->element_bytes,
                 .element_shift = static_cast<std::uint32_t>(std::countr_zero(layout->element_bytes)),
                 .masked = layout->masked,
                 .attended = layout->attended};
}

Result<IntervalJob> interval_job(const BatchBoundaries& boundaries, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi) {
  const std::int64_t batch = boundaries.batch;
  const auto positions = row_positions({.lo = lo, .hi = hi, .batch = batch});
  if (!positions) return positions.error();
  const auto sequences = most_sequences(boundaries);
  if (!sequences) return sequences.error();
  const auto all_sequences = static_cast<std::size_t>(batch) * static_cast<std::size_t>(*sequences);
  if (auto checked = check_interval_options(options, all_sequences, !hi.empty()); !checked)
    return checked.error();

  const bool has_prefixes = options.family == MaskFamily::kPrefixLm && !options.prefixes.empty();
  return IntervalJob{.cu_seqlens = boundaries.cu_seqlens.data(),
                     .prefixes = has_prefixes ? options.prefixes.data() : nullptr,
                     .lo = lo.data(),
                     .hi = hi.empty() ? nullptr : hi.data(),
                     .batch = batch,
                     .positions = *positions,
                     .sequences = *sequences,
                     .window = options.window,
                     .family = options.family,
                     .pads = options.pads};
}

Result<BlockJob> block_job(const RowIntervals& intervals, BlockSize size, const BlockLists& out) {
  const auto positions = row_positions(intervals);
  if (!positions) return positions.error();
  const auto blocks = check_block_lists(intervals.batch, *positions, size, out);
  if (!blocks) return blocks.error();

  return BlockJob{.lo = intervals.lo.data(),
                  .hi = intervals.hi.empty() ? nullptr : intervals.hi.data(),
                  .kv_num_blocks = out.kv_num_blocks.data(),
                  .kv_indices = out.kv_indices.data(),
                  .full_kv_num_blocks = out.full_kv_num_blocks.data(),
                  .full_kv_indices = out.full_kv_indices.data(),
                  .batch = intervals.batch,
                  .positions = *positions,
                  .query_blocks = blocks->query,
                  .key_blocks = blocks->key,
                  .query_size = size.query,
                  .key_size = size.key};
}

}  // namespace tokpack::cuda
