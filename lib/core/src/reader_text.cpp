#include "reader_text.h"

#include <fmt/format.h>

#include <system_error>

namespace tokpack::detail {
namespace {

/// Length of the printable UTF-8 sequence at the start of `text`, or 0: control characters (C0, DEL, C1),
/// overlong forms, surrogates and anything else that is not UTF-8.
std::size_t printable_prefix(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned point = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr unsigned kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // 0x80..0x9f are control characters too
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point >= kLeast[length] && point <= 0x10ffff && !surrogate ? length : 0;
}

}  // namespace

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

Error out_of_memory(std::string_view what) {
  return {Errc::kOutOfMemory, Error::kNoOffset, fmt::format("not enough memory {}", what)};
}

}  // namespace tokpack::detail
