// What each kernel is told, as plain structs that are copied into its launch, and the checks that make them.
// Pointers are to device memory, and nothing here follows one: the values in the arrays may be anything. No
// CUDA header is needed to include this one.
//
// Threads: pure functions. Errors: kOptions, kTooLarge.
#pragma once

#include <cstdint>

#include "tokpack/cuda/masks.h"

namespace tokpack::cuda {

/// Rows of B masks in bytes, as mask_layout() gives them.
struct MaskJob {
  const std::int32_t* lo;  ///< [B,S]
  const std::int32_t* hi;  ///< [B,S], or null: hi(r) = r
  unsigned char* cells;    ///< the first one
  std::int64_t batch;
  std::int64_t positions;       ///< S
  std::uint64_t row_stride;     ///< bytes
  std::uint64_t batch_stride;   ///< bytes
  std::uint32_t element_shift;  ///< a cell has 1 << element_shift bytes, 0 to 2
  std::uint32_t masked;         ///< the value of a cell, repeated to 4 bytes
  std::uint32_t attended;
};

struct IntervalJob {
  const std::int32_t* cu_seqlens;  ///< [B,N+1]
  const std::int32_t* prefixes;    ///< [B,N]; null: 0 throughout
  std::int32_t* lo;                ///< [B,S]
  std::int32_t* hi;                ///< [B,S], or null: not wanted
  std::int64_t batch;
  std::int64_t positions;  ///< S
  std::int64_t sequences;  ///< N
  std::int32_t window;
  MaskFamily family;
  PadPolicy pads;
};

struct BlockJob {
  const std::int32_t* lo;            ///< [B,S]
  const std::int32_t* hi;            ///< [B,S], or null: hi(r) = r
  std::int32_t* kv_num_blocks;       ///< [B,Q]
  std::int32_t* kv_indices;          ///< [B,Q,K]
  std::int32_t* full_kv_num_blocks;  ///< [B,Q]
  std::int32_t* full_kv_indices;     ///< [B,Q,K]
  std::int64_t batch;
  std::int64_t positions;                 ///< S
  std::int64_t query_blocks, key_blocks;  ///< Q, K
  std::int32_t query_size, key_size;      ///< positions in a block
};

Result<MaskJob> mask_job(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out);
Result<IntervalJob> interval_job(const BatchBoundaries& boundaries, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi);
Result<BlockJob> block_job(const RowIntervals& intervals, BlockSize size, const BlockLists& out);

}  // namespace tokpack::cuda
