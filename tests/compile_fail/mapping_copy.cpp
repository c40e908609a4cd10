// bad: deleted.*Mapping
// rooms: format core
// Two owners of one map would unmap it twice.
#include "tokpack/core/file.h"

#ifdef BAD
tokpack::Mapping copy(const tokpack::Mapping& mapping) { return mapping; }
#else
const tokpack::Mapping& same(const tokpack::Mapping& mapping) { return mapping; }
#endif
