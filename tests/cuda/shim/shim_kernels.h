// lib/cuda's kernels as functions of the CPU, through support/cuda_shim.h, and the public calls on top of
// them: the same checks, jobs and launch shapes as the library's, with host memory in place of a device's.
#pragma once

#include <cstdint>
#include <span>

#include "jobs.h"
#include "launch_shape.h"

namespace tokpack::test {

/// Blocks [first, end) of the grid; the default is all of them.
struct BlockRange {
  std::uint32_t first_x = 0, end_x = 0xffffffff, first_y = 0, end_y = 0xffffffff;
};

void run(const cuda::MaskJob& job, bool streams, cuda::LaunchShape shape, BlockRange blocks = {});
void run(const cuda::IntervalJob& job, cuda::LaunchShape shape);
void run(const cuda::BlockJob& job, cuda::LaunchShape shape);

/// 16-byte streaming stores of the runs since the last call.
std::uint64_t take_streaming_stores();

cuda::LaunchShape shape_of(const cuda::MaskJob& job);
cuda::LaunchShape shape_of(const cuda::IntervalJob& job);
cuda::LaunchShape shape_of(const cuda::BlockJob& job);

/// As tokpack::cuda's, in the shape of the launch.
Result<void> shim_build(const cuda::BatchBoundaries& boundaries, const IntervalOptions& options,
                        std::span<std::int32_t> lo, std::span<std::int32_t> hi = {});
Result<void> shim_write(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out);
Result<void> shim_list(const RowIntervals& intervals, BlockSize size, const BlockLists& out);

}  // namespace tokpack::test
