// Text of error details. Off the fast paths: functions here allocate.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "tokpack/format/error.h"

namespace tokpack::format::detail {

/// Untrusted text in double quotes; quotes, backslashes and everything outside printable ASCII escaped.
std::string quoted(std::string_view text);
/// "0x" and hexadecimal digits.
std::string hex(std::uint64_t value);

inline std::string piece(std::string_view text) { return std::string(text); }
inline std::string piece(char c) { return std::string(1, c); }
template <std::integral T>
std::string piece(T value) {
  return std::to_string(value);
}

template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (text.append(piece(parts)), ...);
  return text;
}

template <typename... Parts>
[[gnu::noinline, gnu::cold]] Error fault(Errc code, std::uint64_t offset, const Parts&... parts) {
  return {code, offset, concat(parts...)};
}

/// What to do about a page 0 whose checksum holds but whose content is wrong.
inline constexpr std::string_view kWriterAtFault =
    "; page 0 is undamaged, so the program that wrote it is at fault: write the file again with a current "
    "one";

}  // namespace tokpack::format::detail
