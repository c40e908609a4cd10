// What every launch begins with, and how the CUDA runtime's refusals become errors.
//
// Threads: any; make_current changes the calling thread's current device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

#include "tokpack/cuda/launch.h"
#include "tokpack/format/result.h"

namespace tokpack::cuda {

/// {} for cudaSuccess; else kCuda with the call's name, the runtime's name of the error and its words.
Result<void> cuda_result(cudaError_t result, std::string_view call);

/// Makes launch.device the current one, unless it is kCurrentDevice. kOptions for another negative number.
Result<void> make_current(const Launch& launch);

/// Bytes of the current device's L2 cache.
Result<std::uint64_t> l2_cache_bytes();

}  // namespace tokpack::cuda
