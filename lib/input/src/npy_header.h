// The header of a .npy file, versions 1 to 3: what one dimension of plain numbers needs.
//
// Threads: pure. Errors: kInputArray, with what was expected and found; the caller puts the file's name
// before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tokpack/format/bytes.h"
#include "tokpack/format/result.h"

namespace tokpack::input {

/// Number types that arrays of tokens, lengths and masks have.
enum class NumberType : std::uint8_t { kBool, kU8, kU16, kU32, kU64, kI32, kI64 };

constexpr std::uint32_t number_bytes(NumberType type) noexcept {
  constexpr std::uint32_t kBytes[] = {1, 1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}
std::string_view number_type_name(NumberType type) noexcept;

struct NpyHeader {
  NumberType type{};
  std::uint64_t count = 0;
  std::uint64_t data_offset = 0;
};

/// As many first bytes of a file as parse_npy_header can need.
inline constexpr std::size_t kMaxNpyHeaderBytes = 12 + (std::size_t{1} << 16);

bool has_npy_magic(format::Bytes head) noexcept;

/// REQUIRES: has_npy_magic(head). `head` is the file's start, up to kMaxNpyHeaderBytes of it.
Result<NpyHeader> parse_npy_header(format::Bytes head);

}  // namespace tokpack::input
