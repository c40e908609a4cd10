// Keys of groups, as Batch::groups wants them, from what records have in their group field.
//
// Whole numbers up to 2^63-1 are their own keys: ascending ones cost the writer nothing. All else is hashed
// into the other half of the range, each kind with a tag that begins with a byte that no text in JSON has, so
// -1, 18446744073709551615, "7" and 7 are four groups. Threads: pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tokpack/format/checksum.h"

namespace tokpack::input {

inline constexpr std::uint64_t kHashedKey = std::uint64_t{1} << 63;

enum class KeyTag : std::uint8_t { kNegative = 0xfd, kAboveSigned = 0xfe, kFresh = 0xff };

inline std::uint64_t tagged_key(KeyTag tag, std::uint64_t number) noexcept {
  std::array<std::byte, 9> bytes{static_cast<std::byte>(tag)};
  for (std::size_t i = 0; i < 8; ++i) bytes[i + 1] = static_cast<std::byte>(number >> (8 * i) & 0xff);
  return kHashedKey | format::xxh3_64(bytes);
}

inline std::uint64_t group_key(std::string_view text) noexcept {
  return kHashedKey | format::xxh3_64(std::as_bytes(std::span(text)));
}
inline std::uint64_t group_key(std::int64_t number) noexcept {
  const auto bits = static_cast<std::uint64_t>(number);
  return number >= 0 ? bits : tagged_key(KeyTag::kNegative, bits);
}
inline std::uint64_t group_key(std::uint64_t number) noexcept {
  return number < kHashedKey ? number : tagged_key(KeyTag::kAboveSigned, number);
}
/// For a sample that brought no group: one of its own.
inline std::uint64_t fresh_group_key(std::uint64_t number) noexcept {
  return tagged_key(KeyTag::kFresh, number);
}

}  // namespace tokpack::input
