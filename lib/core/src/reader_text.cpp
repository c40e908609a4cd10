#include "reader_text.h"

#include <fmt/format.h>

#include <new>
#include <system_error>

namespace tokpack::detail {
namespace {

/// The character at the start of a text, with its bytes; 0 bytes where there is no UTF-8: overlong forms,
/// surrogates, what is cut short.
struct Character {
  std::size_t length = 0;
  unsigned point = 0;
};
Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  unsigned point = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kLeast[length] || point > 0x10ffff || surrogate) return {};
  return {length, point};
}

/// Its length, or 0 for control characters (C0, DEL, C1) too.
std::size_t printable_prefix(std::string_view text) noexcept {
  const Character c = first_character(text);
  return c.point < 0x20 || (c.point >= 0x7f && c.point <= 0x9f) ? 0 : c.length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string out = "'";
  const std::string_view shown = text.substr(0, kLongest);
  for (std::size_t i = 0; i < shown.size();) {
    const std::size_t length = printable_prefix(shown.substr(i));
    if (length == 0 || shown[i] == '\'' || shown[i] == '\\') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(shown[i]));
      ++i;
    } else {
      out += shown.substr(i, length);
      i += length;
    }
  }
  out += "'";
  if (text.size() > kLongest) out += fmt::format(" (and {} more bytes)", text.size() - kLongest);
  return out;
}

Error system_error(std::string_view what, std::string_view path, std::string_view call, int error_number) {
  return {Errc::kIo, Error::kNoOffset,
          fmt::format("cannot {} {}: {} ({})", what, quoted(path),
                      std::system_category().message(error_number), call)};
}

Error plain_error(Errc code, std::string_view detail) noexcept {
  Error error{code, Error::kNoOffset, {}};
  try {
    error.detail = detail;
  } catch (const std::bad_alloc&) {
    // The code says it all.
  }
  return error;
}

Error out_of_memory(std::string_view what) noexcept {
  Error error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  try {
    error.detail.append("not enough memory ").append(what);
  } catch (const std::bad_alloc&) {
    error.detail.clear();
  }
  return error;
}

Error copied(const Error& error) noexcept {
  Error copy = plain_error(error.code, error.detail);
  copy.offset = error.offset;
  return copy;
}

}  // namespace tokpack::detail
