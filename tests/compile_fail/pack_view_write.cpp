// bad: read-only
// rooms: format core
// Views look at a read-only map: writing through one would end the process.
#include "tokpack/core/reader.h"

std::uint16_t first(const tokpack::PackView& view) {
  const auto tokens = view.tokens();
#ifdef BAD
  tokens.narrow()[0] = 7;
#endif
  return tokens.narrow()[0];
}
