// The order of packs in one epoch: a seeded permutation, computed per index in constant memory.
//
// Spec: order.md, section 2 (algorithm 1). Threads: a value; const members from any thread. No errors.
//
//   const Permutation order(reader.packs(), seed, epoch);
//   for (std::uint64_t i = 0; i < reader.packs(); ++i) serve(order(i));
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tokpack {

class Permutation {
 public:
  static constexpr std::uint64_t kMostPacks = std::uint64_t{1} << 62;

  /// REQUIRES: 1 <= packs <= kMostPacks.
  Permutation(std::uint64_t packs, std::uint64_t seed, std::uint64_t epoch) noexcept
      : packs_(packs),
        low_bits_(std::max(3, static_cast<int>(std::bit_width(packs - 1)) / 2)),
        high_values_(std::max<std::uint64_t>(
            8, (packs >> low_bits_) + ((packs & ((std::uint64_t{1} << low_bits_) - 1)) != 0 ? 1 : 0))) {
    const std::uint64_t base = mix(mix(seed) + epoch);
    for (std::size_t r = 0; r < keys_.size(); ++r) keys_[r] = mix(base + (r + 1) * kGolden);
  }

  std::uint64_t size() const noexcept { return packs_; }

  /// The pack that stands at place `i`. REQUIRES: i < size().
  std::uint64_t operator()(std::uint64_t i) const noexcept {
    do i = once(i);
    while (i >= packs_);
    return i;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t once(std::uint64_t x) const noexcept {
    std::uint64_t high = x >> low_bits_, low = x & ((std::uint64_t{1} << low_bits_) - 1);
    for (std::size_t r = 0; r < keys_.size(); r += 2) {
      high += (mix(low + keys_[r]) >> 32) * high_values_ >> 32;
      high = std::min(high, high - high_values_);  // below zero wraps to the larger one: no branch to guess
      low ^= mix(high + keys_[r + 1]) >> (64 - low_bits_);
    }
    return high << low_bits_ | low;
  }

  std::uint64_t packs_;
  int low_bits_;
  std::uint64_t high_values_;
  std::array<std::uint64_t, 8> keys_{};
};

}  // namespace tokpack
