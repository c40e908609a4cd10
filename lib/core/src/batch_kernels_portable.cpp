#define TOKPACK_BATCH_KERNELS kPortableBatchKernels
#include "batch_kernels_loops.h"

namespace tokpack::detail {

const BatchKernels& batch_kernels() noexcept {
#if defined(TOKPACK_AVX2_KERNELS)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return kAvx2BatchKernels;
#endif
  return kPortableBatchKernels;
}

}  // namespace tokpack::detail
