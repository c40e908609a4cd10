// A file that holds one array of numbers: .npy, or bare with a known type. Read in parts, never as a whole.
//
// Ownership: owns its descriptor. Threads: one at a time. Errors: kIo, kNotRegularFile, kFileChanged,
// kInputArray, kOptions when a bare file comes without a type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "npy_header.h"
#include "tokpack/core/file.h"

namespace tokpack::input {

class ArrayFile {
 public:
  /// Without a .npy header the numbers are of `bare_type` and start at `skip`. With one, `skip` must be 0.
  static Result<ArrayFile> open(const std::string& path, std::optional<NumberType> bare_type,
                                std::uint64_t skip);

  NumberType type() const noexcept { return type_; }
  bool has_header() const noexcept { return has_header_; }
  std::uint64_t count() const noexcept { return count_; }
  const std::string& name() const noexcept { return name_; }  ///< for messages
  std::uint64_t byte_of(std::uint64_t index) const noexcept { return offset_ + index * number_bytes(type_); }

  /// Calls `use(value)` for the numbers [first, first + count) as i64 (u64 above 2^63-1 as -1).
  /// REQUIRES: the range lies within the array.
  template <typename Use>
  Result<void> for_each(std::uint64_t first, std::uint64_t count, Use&& use) {
    while (count > 0) {
      const std::uint64_t part = count < kPart ? count : kPart;
      if (auto read = read_part(first, static_cast<std::size_t>(part)); !read) return read;
      visit_type([&](auto zero) { each<decltype(zero)>(part, use); });
      first += part;
      count -= part;
    }
    return {};
  }

  /// Stores the ids [first, first + count) at `out`. False when one of them is not in 0..limit-1; for_each()
  /// finds which. REQUIRES: as above, and limit <= 2^31.
  Result<bool> read_ids(std::uint64_t first, std::uint64_t count, std::uint64_t limit, std::uint32_t* out) {
    bool good = true;
    while (count > 0) {
      const std::uint64_t part = count < kPart ? count : kPart;
      if (auto read = read_part(first, static_cast<std::size_t>(part)); !read) return read.error();
      visit_type([&](auto zero) { good &= copy_ids<decltype(zero)>(part, limit, out); });
      first += part;
      out += part;
      count -= part;
    }
    return good;
  }

 private:
  static constexpr std::uint64_t kPart = 1 << 15;

  explicit ArrayFile(File file) : file_(std::move(file)) {}
  Result<void> read_part(std::uint64_t first, std::size_t count);

  /// Calls `visit(T{})` with the C++ type of the numbers.
  template <typename Visit>
  void visit_type(Visit&& visit) const {
    switch (type_) {
      case NumberType::kBool:
      case NumberType::kU8:
        return visit(std::uint8_t{});
      case NumberType::kU16:
        return visit(std::uint16_t{});
      case NumberType::kU32:
        return visit(std::uint32_t{});
      case NumberType::kU64:
        return visit(std::uint64_t{});
      case NumberType::kI32:
        return visit(std::int32_t{});
      case NumberType::kI64:
        return visit(std::int64_t{});
    }
  }

  /// One pass without a branch; the largest value is looked at once. A negative one becomes a huge one.
  template <typename T>
  bool copy_ids(std::uint64_t count, std::uint64_t limit, std::uint32_t* out) const {
    using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    Wide largest = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Wide>(format::load<T>(part_, i * sizeof(T)));
      largest = value > largest ? value : largest;
      out[i] = static_cast<std::uint32_t>(value);
    }
    return largest < limit;
  }

  template <typename T, typename Use>
  void each(std::uint64_t count, Use& use) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      const T value = format::load<T>(part_, i * sizeof(T));
      if constexpr (sizeof(T) == 8) {
        use(static_cast<std::int64_t>(value) < 0 ? std::int64_t{-1} : static_cast<std::int64_t>(value));
      } else {
        use(std::int64_t{value});
      }
    }
  }

  File file_;
  std::string name_;
  NumberType type_{};
  bool has_header_ = false;
  std::uint64_t offset_ = 0, count_ = 0;
  std::vector<std::byte> part_;
};

}  // namespace tokpack::input
