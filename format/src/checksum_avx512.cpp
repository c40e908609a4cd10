// XXH3 with AVX-512. The build gives this file alone -mavx512f.
#if defined(__x86_64__)
#define TOKPACK_KERNEL kAvx512Kernel
#define TOKPACK_KERNEL_NAME "avx512"
#include "checksum_kernel.inc"
static_assert(XXH_VECTOR == XXH_AVX512, "this file must be compiled with -mavx512f");
#endif
