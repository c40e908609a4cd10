// bad: deleted.*header
// rooms: format core
// The header of a temporary reader may die with its mapping.
#include "tokpack/core/reader.h"

std::uint64_t capacity(const tokpack::Reader& reader) {
#ifdef BAD
  const tokpack::format::Header& header = tokpack::Reader(reader).header();
#else
  const tokpack::format::Header& header = reader.header();
#endif
  return header.capacity;
}
