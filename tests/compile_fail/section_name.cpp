// bad: deleted.*name_view
// rooms: format
// A name of a temporary entry would point into freed memory.
#include "tokpack/format/layout.h"

std::string_view name(const tokpack::format::SectionEntry& entry) {
#ifdef BAD
  return tokpack::format::SectionEntry(entry).name_view();
#else
  return entry.name_view();
#endif
}
