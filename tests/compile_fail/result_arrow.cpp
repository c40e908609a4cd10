// bad: deleted.*operator
// rooms: format core
// The view of a temporary result dies at the end of the line, and with it (in pread mode) its tokens.
#include "tokpack/core/reader.h"

std::size_t length(const tokpack::Reader& reader) {
#ifdef BAD
  const tokpack::TokenSpan tokens = reader.pack(0)->tokens();
#else
  const auto pack = reader.pack(0);
  const tokpack::TokenSpan tokens = pack->tokens();
#endif
  return tokens.size();
}
