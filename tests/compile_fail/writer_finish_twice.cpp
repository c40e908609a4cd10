// bad: lvalue|discards qualifiers
// rooms: format core
// finish() ends a writer's life, so it takes the writer: std::move(writer).finish().
#include <utility>

#include "tokpack/core/writer.h"

bool finish(tokpack::Writer& writer) {
#ifdef BAD
  return writer.finish().ok();
#else
  return std::move(writer).finish().ok();
#endif
}
