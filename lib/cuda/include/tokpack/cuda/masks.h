// Row intervals, dense masks and FlexAttention's block lists on the GPU: the same structs, conventions and
// values as tokpack/core/row_intervals.h, mask.h and block_lists.h, with every pointer in device memory.
//
// Each call is one kernel on the caller's stream: no synchronisation, no allocation, no workspace, so that it
// can be captured in a CUDA graph. Offsets have 64 bits. The arrays must stay as they are until the stream
// has passed the kernel.
//
// Sizes and options are checked before the launch. What stands in the arrays cannot be looked at without
// waiting for the device: any int32 values are safe, never a write outside the buffers; wrong ones give a
// wrong mask.
//
// Threads: any; a launch changes the calling thread's current device (launch.h). Errors, before anything is
// launched: kOptions, kTooLarge, as on the CPU; kCuda when the CUDA runtime refuses. What goes wrong while a
// kernel runs, the stream reports at its next synchronisation.
//
//   auto written = tokpack::cuda::write_mask({.lo = {lo, B * S}, .batch = B}, {}, {.data = mask, .bytes = n},
//                                            {.stream = stream, .device = 0});
//   if (!written) return written.error();
#pragma once

#include <cstdint>
#include <span>

#include "tokpack/core/block_lists.h"
#include "tokpack/core/mask.h"
#include "tokpack/core/row_intervals.h"
#include "tokpack/cuda/launch.h"
#include "tokpack/format/result.h"

namespace tokpack::cuda {

/// Boundaries of B rows in one array [B, N + 1], contiguous: each row's cu_seqlens, 0 first and strictly
/// ascending to its last, which is repeated to the row's end. N: most sequences of a row, 0 to
/// kMaxRowPositions.
struct BatchBoundaries {
  std::span<const std::int32_t> cu_seqlens;
  std::int64_t batch = 1;
};

/// lo and, where given, hi: [B, S]. `options.prefixes`: [B, N]; those behind a row's last sequence count for
/// nothing.
Result<void> build_row_intervals(const BatchBoundaries& boundaries, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi,
                                 const Launch& launch);

/// `options.threads` counts for nothing. MaskStores::kAuto streams above half of the device's L2 cache.
Result<void> write_mask(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out,
                        const Launch& launch);

/// Entries of an index row past its count are not written. Intervals that block_lists.h does not allow, an
/// error on the CPU, are cut to the row here.
Result<void> make_block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out,
                              const Launch& launch);

}  // namespace tokpack::cuda
