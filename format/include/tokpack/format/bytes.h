// Checked access to bytes: copies of fixed structures, and typed views of arrays in place.
//
// `view` holds the only reinterpret_cast of the project. A view borrows: it lives no longer than the bytes it
// was made from. Bounds compare by subtraction and division, never by a sum that can wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace tokpack::format {

using Bytes = std::span<const std::byte>;

/// True when [offset, offset + length) lies within `size` bytes.
constexpr bool in_bounds(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

/// A copy of the T at `offset`. REQUIRES: in_bounds(offset, sizeof(T), bytes.size()).
template <typename T>
T load(Bytes bytes, std::uint64_t offset) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The `count` elements at byte `offset`, in place. Empty when they do not lie within `bytes` or are not
/// aligned for T; a caller that has validated both gets exactly `count`.
template <typename T>
std::span<const T> view(Bytes bytes, std::uint64_t offset, std::uint64_t count) noexcept {
  static_assert(std::is_arithmetic_v<T>);
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return {};
  const std::byte* first = bytes.data() + offset;
  if (reinterpret_cast<std::uintptr_t>(first) % alignof(T) != 0) return {};
  return {reinterpret_cast<const T*>(first), static_cast<std::size_t>(count)};
}

}  // namespace tokpack::format
