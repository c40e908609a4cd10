// bad: deleted.*bytes
// rooms: format core
// The bytes of a mapping that is about to die would be unmapped. A Mapping cannot be moved or copied, so the
// cast is the only way to such a call.
#include <utility>

#include "tokpack/core/file.h"

std::size_t size(const tokpack::Mapping& mapping) {
#ifdef BAD
  return std::move(mapping).bytes().size();
#else
  return mapping.bytes().size();
#endif
}
