// XXH3 with AVX2. The build gives this file alone -mavx2.
#if defined(__x86_64__)
#define TOKPACK_KERNEL kAvx2Kernel
#define TOKPACK_KERNEL_NAME "avx2"
#include "checksum_kernel.inc"
static_assert(XXH_VECTOR == XXH_AVX2, "this file must be compiled with -mavx2");
#endif
