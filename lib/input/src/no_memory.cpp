#include "no_memory.h"

#include <fmt/format.h>

#include <new>

#include "quote.h"

namespace tokpack::input {

Error no_memory(std::string_view name, std::string_view what) noexcept {
  Error error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  try {
    error.detail = fmt::format("{}: no memory {}", name == "-" ? "standard input" : escaped_name(name), what);
  } catch (const std::bad_alloc&) {
    // The code says it all.
  }
  return error;
}

}  // namespace tokpack::input
