#include "shim_kernels.h"

#include <algorithm>
#include <utility>

#include "cuda_shim.h"
// After the shim: they use its words.
#include "block_kernel.cuh"
#include "interval_kernel.cuh"
#include "mask_kernel.cuh"

namespace tokpack::test {
namespace {

template <typename Job>
void run_blocks(void (*kernel)(Job), const Job& job, cuda::LaunchShape shape, BlockRange blocks) {
  shim::run(kernel, job, {shape.grid_x, shape.grid_y, 1}, {shape.lanes, shape.rows, 1},
            {blocks.first_x, std::min(blocks.end_x, shape.grid_x), blocks.first_y,
             std::min(blocks.end_y, shape.grid_y)});
}

}  // namespace

void run(const cuda::MaskJob& job, bool streams, cuda::LaunchShape shape, BlockRange blocks) {
  run_blocks(streams ? cuda::write_mask_rows<true> : cuda::write_mask_rows<false>, job, shape, blocks);
}
void run(const cuda::IntervalJob& job, cuda::LaunchShape shape) {
  run_blocks(cuda::build_interval_rows, job, shape, {});
}
void run(const cuda::BlockJob& job, cuda::LaunchShape shape) {
  run_blocks(cuda::list_mask_blocks, job, shape, {});
}

std::uint64_t take_streaming_stores() { return std::exchange(shim::streaming_stores, 0); }

cuda::LaunchShape shape_of(const cuda::MaskJob& job) {
  return cuda::mask_shape(job.batch, job.positions, 1U << job.element_shift);
}
cuda::LaunchShape shape_of(const cuda::IntervalJob& job) {
  return cuda::interval_shape(job.batch, job.positions);
}
cuda::LaunchShape shape_of(const cuda::BlockJob& job) {
  return cuda::block_shape(job.batch, job.query_blocks);
}

Result<void> shim_build(const cuda::BatchBoundaries& boundaries, const IntervalOptions& options,
                        std::span<std::int32_t> lo, std::span<std::int32_t> hi) {
  const auto job = cuda::interval_job(boundaries, options, lo, hi);
  if (!job) return job.error();
  run(*job, shape_of(*job));
  return {};
}

Result<void> shim_write(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out) {
  const auto job = cuda::mask_job(intervals, options, out);
  if (!job) return job.error();
  run(*job, options.stores == MaskStores::kStreaming, shape_of(*job));
  return {};
}

Result<void> shim_list(const RowIntervals& intervals, BlockSize size, const BlockLists& out) {
  const auto job = cuda::block_job(intervals, size, out);
  if (!job) return job.error();
  run(*job, shape_of(*job));
  return {};
}

}  // namespace tokpack::test
