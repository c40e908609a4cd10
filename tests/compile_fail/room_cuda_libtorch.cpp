// bad: torch/library.h
// rooms: format core cuda
// Nor is one of torch itself.
#ifdef BAD
#include <torch/library.h>
#else
#include "tokpack/cuda/masks.h"
#endif
