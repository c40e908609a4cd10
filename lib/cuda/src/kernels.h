// The launches: what nvcc compiles, as functions for the rest. One kernel each, in the shape of
// launch_shape.h; what the launch itself returns.
#pragma once

#include <cuda_runtime_api.h>

#include "jobs.h"

namespace tokpack::cuda {

cudaError_t launch_mask(const MaskJob& job, bool streams, cudaStream_t stream) noexcept;
cudaError_t launch_intervals(const IntervalJob& job, cudaStream_t stream) noexcept;
cudaError_t launch_block_lists(const BlockJob& job, cudaStream_t stream) noexcept;

}  // namespace tokpack::cuda
