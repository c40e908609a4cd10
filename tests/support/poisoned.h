// A buffer whose surroundings tell whether something was written beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokpack::test {

inline constexpr unsigned char kPoison = 0xa5;

/// Bytes that begin `offset` bytes after a multiple of 64, poisoned, with a margin on either side.
class Poisoned {
 public:
  Poisoned(std::size_t offset, std::size_t bytes) : bytes_(bytes + 256, kPoison) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    first_ = (64 - address % 64) % 64 + 64 + offset;
  }
  unsigned char* cells() { return bytes_.data() + first_; }
  std::size_t first() const { return first_; }
  std::vector<unsigned char>& all() { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t first_ = 0;
};

}  // namespace tokpack::test
