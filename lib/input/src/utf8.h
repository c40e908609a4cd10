// Where UTF-8 ends being UTF-8. Threads: pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace tokpack::input {

/// Bytes of the UTF-8 sequence at the start of `text`; 0 when there is none (overlong forms, surrogates,
/// points above U+10FFFF, a cut sequence) or no text.
inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  if (text.empty()) return 0;
  const unsigned lead = byte(0);
  std::size_t length = 0;
  unsigned low = 0x80, high = 0xbf;  // bounds of the second byte
  if (lead < 0x80) {
    length = 1;
  } else if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xbf)) return 0;
  }
  return length;
}

}  // namespace tokpack::input
