// bad: tokpack/core/file.h
// rooms: format
// format knows no file and no thread: it cannot see a header of core.
#ifdef BAD
#include "tokpack/core/file.h"
#else
#include "tokpack/format/parse.h"
#endif
