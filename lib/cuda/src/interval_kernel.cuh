// Row intervals from boundaries: each thread finds the sequence of its position by bisection.
//
// Equal to tokpack/core's builder for boundaries as masks.h asks for them. For others the search ends at some
// sequence of the row all the same: nothing is read or written outside the arrays, and sums have 64 bits.
#pragma once

#include <cstdint>

#include "jobs.h"
#include "launch_shape.h"

namespace tokpack::cuda {

/// How many of `count` ascending numbers are at most `value`.
__device__ inline std::int64_t count_up_to(const std::int32_t* numbers, std::int64_t count,
                                           std::int64_t value) {
  std::int64_t first = 0, last = count;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (numbers[middle] <= value) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

struct Interval {
  std::int64_t lo, hi;
};

/// Row r of the sequence [start, stop): pads that join a sequence are rows past its stop.
__device__ inline Interval interval_in(const IntervalJob& job, std::int64_t r, std::int64_t start,
                                       std::int64_t stop, std::int64_t prefix) {
  Interval out{start, r};
  if (job.family == MaskFamily::kSlidingWindow && r - start >= job.window) out.lo = r - (job.window - 1);
  if (job.family == MaskFamily::kBidirectional && stop - 1 > r) out.hi = stop - 1;
  if (job.family == MaskFamily::kPrefixLm && start + prefix - 1 > r) out.hi = start + prefix - 1;
  return out;
}

/// Row r, one of the pads behind `tokens`.
__device__ inline Interval interval_of_pad(const IntervalJob& job, const std::int32_t* cu_seqlens,
                                           std::int64_t tokens, std::int64_t r) {
  if (job.pads == PadPolicy::kSelf) return {r, r};
  if (job.pads == PadPolicy::kNone) return {job.positions, r};
  std::int64_t start = tokens;
  if (job.pads == PadPolicy::kLast) {
    // The last boundary may be repeated: the last sequence starts at the last one below it, if there is one.
    const std::int64_t starts = count_up_to(cu_seqlens, job.sequences, tokens - 1);
    if (starts > 0) start = cu_seqlens[starts - 1];
  }
  return interval_in(job, r, start, job.positions, 0);
}

__device__ inline Interval interval_of(const IntervalJob& job, std::int64_t b, std::int64_t r) {
  const std::int32_t* const cu_seqlens = job.cu_seqlens + b * (job.sequences + 1);
  const std::int64_t tokens = cu_seqlens[job.sequences];
  if (r >= tokens || job.sequences == 0) return interval_of_pad(job, cu_seqlens, tokens, r);
  // Not looking at the last boundary keeps s + 1 inside, whatever the numbers are.
  const std::int64_t starts = count_up_to(cu_seqlens, job.sequences, r);
  const std::int64_t s = starts > 0 ? starts - 1 : 0;
  const std::int64_t prefix = job.prefixes == nullptr ? 0 : job.prefixes[b * job.sequences + s];
  return interval_in(job, r, cu_seqlens[s], cu_seqlens[s + 1], prefix);
}

__global__ void __launch_bounds__(kThreads) build_interval_rows(const IntervalJob job) {
  for (std::int64_t b = blockIdx.y; b < job.batch; b += gridDim.y) {
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < job.positions; r += step) {
      const Interval row = interval_of(job, b, r);
      job.lo[b * job.positions + r] = static_cast<std::int32_t>(row.lo);
      if (job.hi != nullptr) job.hi[b * job.positions + r] = static_cast<std::int32_t>(row.hi);
    }
  }
}

}  // namespace tokpack::cuda
