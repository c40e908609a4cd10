#include "kernels.h"

#include "block_kernel.cuh"
#include "interval_kernel.cuh"
#include "mask_kernel.cuh"

namespace tokpack::cuda {
namespace {

/// Says itself whether it was launched: the runtime's last error may be an older one, of someone else.
template <typename Job>
cudaError_t launch(void (*kernel)(Job), const Job& job, LaunchShape shape, cudaStream_t stream) noexcept {
  void* arguments[] = {const_cast<Job*>(&job)};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(shape.grid_x, shape.grid_y),
                          dim3(shape.lanes, shape.rows), arguments, 0, stream);
}

}  // namespace

cudaError_t launch_mask(const MaskJob& job, bool streams, cudaStream_t stream) noexcept {
  return launch(streams ? write_mask_rows<true> : write_mask_rows<false>, job,
                mask_shape(job.batch, job.positions, 1U << job.element_shift), stream);
}

cudaError_t launch_intervals(const IntervalJob& job, cudaStream_t stream) noexcept {
  return launch(build_interval_rows, job, interval_shape(job.batch, job.positions), stream);
}

cudaError_t launch_block_lists(const BlockJob& job, cudaStream_t stream) noexcept {
  return launch(list_mask_blocks, job, block_shape(job.batch, job.query_blocks), stream);
}

}  // namespace tokpack::cuda
