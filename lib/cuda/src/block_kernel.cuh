// FlexAttention's block lists: a warp per block of queries looks at the first and the last of its rows, as
// tokpack/core/block_lists.h says, and its lanes write the numbers of the blocks of keys side by side.
//
// Intervals that block_lists.h does not allow are cut to the row, so that no list outgrows its row of
// indices.
#pragma once

#include <cstdint>

#include "jobs.h"
#include "launch_shape.h"

namespace tokpack::cuda {

/// Blocks of keys [first, end).
struct KeyBlocks {
  std::uint32_t first, end;
};

/// A key, or -1 or S where it lies before or past the row.
__device__ inline std::int64_t in_row(const BlockJob& job, std::int64_t key) {
  return key < -1 ? -1 : key > job.positions ? job.positions : key;
}

__device__ inline std::int64_t hi_of(const BlockJob& job, std::int64_t b, std::int64_t r) {
  return job.hi == nullptr ? r : job.hi[b * job.positions + r];
}

/// The end of the rows [first, end) that are present: from the first one with lo >= S on they are absent.
__device__ inline std::int64_t present_end(const BlockJob& job, std::int64_t b, std::int64_t first,
                                           std::int64_t end) {
  const std::int32_t* const lo = job.lo + b * job.positions;
  while (first < end) {
    const std::int64_t middle = first + (end - first) / 2;
    if (lo[middle] < job.positions) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return end;
}

/// Blocks that hold keys of [lo, hi], whole or in part. Divided in 32 bits: S fits, and it is much faster.
__device__ inline KeyBlocks touched(const BlockJob& job, std::int64_t lo, std::int64_t hi) {
  const auto size = static_cast<std::uint32_t>(job.key_size);
  lo = in_row(job, lo), hi = in_row(job, hi);
  if (lo < 0) lo = 0;
  if (hi == job.positions) --hi;
  if (lo > hi) return {0, 0};
  return {static_cast<std::uint32_t>(lo) / size, static_cast<std::uint32_t>(hi) / size + 1};
}

/// Blocks that hold keys of [lo, hi] alone.
__device__ inline KeyBlocks covered(const BlockJob& job, std::int64_t lo, std::int64_t hi) {
  const auto size = static_cast<std::uint32_t>(job.key_size);
  lo = in_row(job, lo), hi = in_row(job, hi);
  if (lo < 0) lo = 0;
  if (hi == job.positions) --hi;
  const auto from = static_cast<std::uint32_t>(lo), until = static_cast<std::uint32_t>(hi + 1);
  const std::uint32_t first = from / size + (from % size != 0), end = until / size;
  return {first, end < first ? first : end};
}

/// Writes the numbers of a range, every lane its own; how many.
__device__ inline std::uint32_t list_blocks(std::int32_t* to, KeyBlocks range) {
  const std::uint32_t count = range.end - range.first;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] = static_cast<std::int32_t>(range.first + i);
  }
  return count;
}

__device__ inline void list_query_block(const BlockJob& job, std::int64_t b, std::int64_t q) {
  const std::int64_t first_row = q * job.query_size;
  const std::int64_t whole_end = first_row + job.query_size;
  const std::int64_t end =
      present_end(job, b, first_row, whole_end < job.positions ? whole_end : job.positions);

  KeyBlocks any{0, 0}, full{0, 0};
  if (end > first_row) {
    const std::int32_t* const lo = job.lo + b * job.positions;
    any = touched(job, lo[first_row], hi_of(job, b, end - 1));
    if (end == whole_end) full = covered(job, lo[end - 1], hi_of(job, b, first_row));
    // They are among the touched ones, unless the intervals descend.
    if (full.first < any.first) full.first = any.first;
    if (full.end > any.end) full.end = any.end;
    if (full.first >= full.end) full = {any.end, any.end};
  }
  const std::int64_t list = b * job.query_blocks + q;
  std::int32_t* const partial_row = job.kv_indices + list * job.key_blocks;
  std::uint32_t partial = list_blocks(partial_row, {any.first, full.first});
  partial += list_blocks(partial_row + partial, {full.end, any.end});
  const std::uint32_t whole = list_blocks(job.full_kv_indices + list * job.key_blocks, full);
  if (threadIdx.x == 0) {
    job.kv_num_blocks[list] = static_cast<std::int32_t>(partial);
    job.full_kv_num_blocks[list] = static_cast<std::int32_t>(whole);
  }
}

__global__ void __launch_bounds__(kThreads) list_mask_blocks(const BlockJob job) {
  for (std::int64_t b = blockIdx.y; b < job.batch; b += gridDim.y) {
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
    for (std::int64_t q = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; q < job.query_blocks;
         q += step) {
      list_query_block(job, b, q);
    }
  }
}

}  // namespace tokpack::cuda
