// bad: deleted.*(tokens|cu_seqlens)
// rooms: format core
// In pread mode a view owns its buffer: spans of a temporary view would dangle.
#include "tokpack/core/reader.h"

std::size_t length(const tokpack::PackView& view) {
#ifdef BAD
  const tokpack::TokenSpan tokens = tokpack::PackView(view).tokens();
  const auto cu_seqlens = tokpack::PackView(view).cu_seqlens();
#else
  const tokpack::TokenSpan tokens = view.tokens();
  const auto cu_seqlens = view.cu_seqlens();
#endif
  return tokens.size() + cu_seqlens.size();
}
