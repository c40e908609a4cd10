// XXH3 for any machine of this architecture.
#define TOKPACK_KERNEL kBaselineKernel
#define TOKPACK_KERNEL_NAME "baseline"
#include "checksum_kernel.inc"
