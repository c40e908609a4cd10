// Compiled with -mavx2 where the target is x86-64 (CMakeLists.txt), and reached only where the processor has
// it.
#if defined(__AVX2__)
#define TOKPACK_BATCH_KERNELS kAvx2BatchKernels
#include "batch_kernels_loops.h"
#endif
