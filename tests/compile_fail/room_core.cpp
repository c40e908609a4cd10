// bad: tokpack/input/source.h
// rooms: format core
// core does not know where samples come from: it cannot see a header of input.
#ifdef BAD
#include "tokpack/input/source.h"
#else
#include "tokpack/core/writer.h"
#endif
