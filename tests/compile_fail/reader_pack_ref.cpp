// bad: deleted.*pack
// rooms: format core
// A borrowed pack of a temporary reader would point into a mapping that may be gone.
#include "tokpack/core/reader.h"

std::uint32_t targets(const tokpack::Reader& reader) {
  tokpack::PackBuffer buffer;
#ifdef BAD
  const auto pack = tokpack::Reader(reader).pack(0, buffer);
#else
  const auto pack = reader.pack(0, buffer);
#endif
  return pack ? pack->targets() : 0;
}
