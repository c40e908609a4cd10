#include "tokpack/core/block_lists.h"

#include <algorithm>
#include <numeric>

#include "row_check.h"

namespace tokpack {
namespace {

using detail::make_error;

/// Blocks of keys [first, end).
struct BlockRange {
  std::int64_t first, end;
};

/// One batch: S rows, of which those before `present` are there.
struct Batch {
  const std::int32_t* lo;
  const std::int32_t* hi;  // null: hi(r) = r
  std::int64_t positions, present;

  std::int64_t lo_of(std::int64_t r) const noexcept { return lo[r]; }
  std::int64_t hi_of(std::int64_t r) const noexcept { return hi == nullptr ? r : hi[r]; }
};

/// What the first and last present rows of a block of queries say.
struct QueryBlock {
  std::int64_t first_row, last_row;
  std::int64_t lo_first, lo_last, hi_first, hi_last;
  bool whole;  ///< all its rows exist
};

QueryBlock look_at(const Batch& batch, std::int64_t block, std::int64_t rows) noexcept {
  const std::int64_t first = block * rows, end = std::min(first + rows, batch.present);
  return {first,
          end - 1,
          batch.lo_of(first),
          batch.lo_of(end - 1),
          batch.hi_of(first),
          batch.hi_of(end - 1),
          end == first + rows};
}

/// Keys of a block are attended by some row iff lo(first row) <= its last key and hi(last row) >= its first.
BlockRange any_blocks(const QueryBlock& q, std::int64_t keys) noexcept {
  return {q.lo_first / keys, q.hi_last / keys + 1};
}

/// All of them by all rows iff lo(last row) <= its first key and hi(first row) >= its last. hi is below S, so
/// that a ragged tail block is never one of them.
BlockRange full_blocks(const QueryBlock& q, std::int64_t keys) noexcept {
  if (!q.whole) return {0, 0};
  const std::int64_t first = (q.lo_last + keys - 1) / keys, end = (q.hi_first + 1) / keys;
  return {first, std::max(first, end)};
}

/// Appends a range of numbers to an index row that holds `count` so far.
std::int64_t append(std::int32_t* row, std::int64_t count, BlockRange range) noexcept {
  std::iota(row + count, row + count + (range.end - range.first), static_cast<std::int32_t>(range.first));
  return count + (range.end - range.first);
}

Result<void> check_query_block(const QueryBlock& q, const QueryBlock* before, std::int64_t positions,
                               std::int64_t batch) {
  const bool inside =
      q.lo_first >= 0 && q.hi_last < positions && q.lo_first <= q.hi_first && q.lo_last <= q.hi_last;
  const bool ascending =
      q.lo_first <= q.lo_last && q.hi_first <= q.hi_last &&
      (before == nullptr || (before->lo_last <= q.lo_first && before->hi_last <= q.hi_first));
  if (inside && ascending) return {};
  return make_error(
      Errc::kOptions,
      "rows {} to {} of batch {} have the intervals {}..{} to {}..{}, expected 0 <= lo <= hi < {} and "
      "neither lo nor hi descending from row to row; use what build_row_intervals makes",
      q.first_row, q.last_row, batch, q.lo_first, q.hi_first, q.lo_last, q.hi_last, positions);
}

}  // namespace

Result<BlockCounts> block_counts(std::int64_t positions, BlockSize size) {
  if (size.query < 1 || size.key < 1) {
    return make_error(Errc::kOptions, "the block size is {} x {}, expected at least 1 query and 1 key",
                      size.query, size.key);
  }
  if (positions < 1 || positions > kMaxRowPositions) {
    return make_error(Errc::kTooLarge, "a row of {} positions, expected 1 to {}", positions,
                      kMaxRowPositions);
  }
  return BlockCounts{(positions + size.query - 1) / size.query, (positions + size.key - 1) / size.key};
}

Result<BlockCounts> check_block_lists(std::int64_t batch, std::int64_t positions, BlockSize size,
                                      const BlockLists& out) {
  auto blocks = block_counts(positions, size);
  if (!blocks) return blocks;
  std::uint64_t counts = 0, indices = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(batch), static_cast<std::uint64_t>(blocks->query),
                             &counts) ||
      __builtin_mul_overflow(counts, static_cast<std::uint64_t>(blocks->key), &indices)) {
    return make_error(Errc::kTooLarge,
                      "{} batches of {} x {} blocks are more than can be counted; use larger blocks", batch,
                      blocks->query, blocks->key);
  }
  if (out.kv_num_blocks.size() != counts || out.full_kv_num_blocks.size() != counts ||
      out.kv_indices.size() != indices || out.full_kv_indices.size() != indices) {
    return make_error(
        Errc::kOptions,
        "kv_num_blocks, kv_indices, full_kv_num_blocks and full_kv_indices have {}, {}, {} and {} "
        "elements, expected B x Q = {} for the numbers and B x Q x K = {} for the indices",
        out.kv_num_blocks.size(), out.kv_indices.size(), out.full_kv_num_blocks.size(),
        out.full_kv_indices.size(), counts, indices);
  }
  return blocks;
}

Result<void> make_block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out) {
  const auto positions = row_positions(intervals);
  if (!positions) return positions.error();
  const auto blocks = check_block_lists(intervals.batch, *positions, size, out);
  if (!blocks) return blocks.error();

  std::int32_t* partial_row = out.kv_indices.data();
  std::int32_t* full_row = out.full_kv_indices.data();
  std::size_t at = 0;
  for (std::int64_t b = 0; b < intervals.batch; ++b) {
    const std::int32_t* lo = intervals.lo.data() + b * *positions;
    const std::int32_t* hi = intervals.hi.empty() ? nullptr : intervals.hi.data() + b * *positions;
    const auto* absent =
        std::partition_point(lo, lo + *positions, [&](std::int32_t l) { return l < *positions; });
    const Batch batch{lo, hi, *positions, absent - lo};
    QueryBlock before{};
    for (std::int64_t q = 0; q < blocks->query;
         ++q, ++at, partial_row += blocks->key, full_row += blocks->key) {
      out.kv_num_blocks[at] = out.full_kv_num_blocks[at] = 0;
      if (q * size.query >= batch.present) continue;
      const QueryBlock now = look_at(batch, q, size.query);
      if (auto checked = check_query_block(now, q == 0 ? nullptr : &before, *positions, b); !checked)
        return checked;
      before = now;
      const BlockRange any = any_blocks(now, size.key), full = full_blocks(now, size.key);
      std::int64_t count = 0;
      if (full.first == full.end) {
        count = append(partial_row, 0, any);
      } else {
        count = append(partial_row, 0, {any.first, full.first});
        count = append(partial_row, count, {full.end, any.end});
      }
      out.kv_num_blocks[at] = static_cast<std::int32_t>(count);
      out.full_kv_num_blocks[at] = static_cast<std::int32_t>(append(full_row, 0, full));
    }
  }
  return {};
}

}  // namespace tokpack
