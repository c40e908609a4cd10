// bad: tokpack/torch/masks.h
// rooms: format core cuda
// cuda does not know tensors: no header of lib/torch is in its include roots.
#ifdef BAD
#include "tokpack/torch/masks.h"
#else
#include "tokpack/cuda/masks.h"
#endif
