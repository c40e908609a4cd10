// The words of CUDA that lib/cuda's kernels use, for a C++ compiler: the same source runs on the CPU, one
// thread of a block after the other, under doctest and the sanitizers.
//
// Included before a kernel's header. Fits kernels whose threads do not wait for each other: there is no
// __syncthreads, no shuffle and no shared memory here, so that one which used them would not compile.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __launch_bounds__(threads)

struct ShimIndex {
  unsigned x = 0, y = 0, z = 0;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

/// Of the thread that runs.
inline ShimIndex threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

/// 16-byte streaming stores since the last reset.
inline std::uint64_t streaming_stores = 0;

/// The part of a grid that is run.
struct Blocks {
  unsigned first_x, end_x, first_y, end_y;
};

template <typename Kernel, typename Job>
void run(Kernel kernel, const Job& job, ShimIndex grid, ShimIndex block, Blocks blocks) {
  gridDim = grid;
  blockDim = block;
  for (blockIdx.y = blocks.first_y; blockIdx.y < blocks.end_y; ++blockIdx.y) {
    for (blockIdx.x = blocks.first_x; blockIdx.x < blocks.end_x; ++blockIdx.x) {
      for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y) {
        for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) kernel(job);
      }
    }
  }
}

}  // namespace shim

/// Aborts where a GPU would refuse the address.
inline void __stcs(uint4* to, uint4 value) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4) != 0) std::abort();
  ++shim::streaming_stores;
  std::memcpy(static_cast<void*>(to), &value, sizeof(value));
}
