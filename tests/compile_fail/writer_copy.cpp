// bad: deleted.*Writer
// rooms: format core
// A writer owns a half-written file: it moves and never copies.
#include <utility>

#include "tokpack/core/writer.h"

tokpack::Writer take(tokpack::Writer& writer) {
#ifdef BAD
  return writer;
#else
  return std::move(writer);
#endif
}
