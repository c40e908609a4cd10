// FlexAttention's four block lists straight from row intervals: which blocks of a mask hold an attended cell,
// and which of those are attended throughout. No mask is made: the time goes with the blocks listed, not with
// S x S.
//
// kv_num_blocks and kv_indices list the PARTIAL blocks only, full_kv_num_blocks and full_kv_indices those
// that are entirely attended, as BlockMask.from_kv_blocks wants them. It needs a mask_mod as well,
// `(kv >= lo[b,q]) & (kv <= hi[b,q])` (hi = q where it was left out): without one, all of a listed block is
// attended, silently. And `seq_lengths=(S,S)` when S is not a multiple of the blocks.
//
// Rows from the first one with lo >= S on count as absent: the pads of PadPolicy::kNone. A ragged tail block
// is never full, nor is one with an absent row.
//
// REQUIRES of the intervals, as build_row_intervals gives them: lo and hi ascending (not strictly) and, in
// rows that are present, lo(r) <= r <= hi(r). Only the first and last rows of blocks are looked at; where
// those descend or lie outside the row it is an error, elsewhere the lists are wrong, yet within their
// buffers.
//
// Threads: pure functions. Errors: kOptions (block sizes, buffers, intervals), kTooLarge.
//
//   const auto counts = block_counts(S, {}).value();  // buffers of B x Q and B x Q x K
//   auto made = make_block_lists({.lo = lo, .batch = batch}, {}, {kv_num, kv_indices, full_num,
//   full_indices});
#pragma once

#include <cstdint>
#include <span>

#include "tokpack/core/row_intervals.h"
#include "tokpack/format/result.h"

namespace tokpack {

/// Positions in a block: FlexAttention's BLOCK_SIZE, a single number there meaning both.
struct BlockSize {
  std::int32_t query = 128;
  std::int32_t key = 128;
};

/// Q and K: blocks of queries and of keys in S positions, the last of each perhaps ragged.
struct BlockCounts {
  std::int64_t query, key;
};
Result<BlockCounts> block_counts(std::int64_t positions, BlockSize size);

/// The caller's buffers: counts [B,1,Q], indices [B,1,Q,K], contiguous. Entries of an index row past its
/// count are not written.
struct BlockLists {
  std::span<std::int32_t> kv_num_blocks, kv_indices;
  std::span<std::int32_t> full_kv_num_blocks, full_kv_indices;
};

/// The blocks of B rows of S positions whose lists fill `out` exactly, or kOptions, kTooLarge. The buffers
/// are counted, not looked into: they may be device memory. REQUIRES: 1 <= batch.
Result<BlockCounts> check_block_lists(std::int64_t batch, std::int64_t positions, BlockSize size,
                                      const BlockLists& out);

Result<void> make_block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out);

}  // namespace tokpack
