// bad: deleted.*layout
// rooms: format core
// The layout of a temporary reader may die with its mapping.
#include "tokpack/core/reader.h"

std::size_t sections(const tokpack::Reader& reader) {
#ifdef BAD
  const tokpack::format::FileLayout& layout = tokpack::Reader(reader).layout();
#else
  const tokpack::format::FileLayout& layout = reader.layout();
#endif
  return layout.sections.size();
}
