// A growing row of bits, least significant first, as the format stores loss bits.
//
// Bits past size() are zero in every word that exists, and one spare word follows the last, so that 64 bits
// can be read and bytes copied out at any position without looking at the end.
//
// Threads: a value. Throws std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>

#include "grow_array.h"

namespace tokpack::detail {

/// Ones in a word; the portable library function is a table look-up per byte on plain x86-64.
inline std::uint32_t ones(std::uint64_t v) noexcept {
  v -= (v >> 1) & 0x5555555555555555u;
  v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<std::uint32_t>((v * 0x0101010101010101u) >> 56);
}

class BitBuffer {
 public:
  std::size_t size() const noexcept { return size_; }
  bool get(std::size_t i) const noexcept { return ((words_[i >> 6] >> (i & 63)) & 1) != 0; }
  /// 64 bits from `i`; those past size() are zero. REQUIRES: i <= size(), and something was appended.
  std::uint64_t get64(std::size_t i) const noexcept {
    const std::size_t w = i >> 6, s = i & 63;
    return s == 0 ? words_[w] : (words_[w] >> s) | (words_[w + 1] << (64 - s));
  }
  /// The bits as the format has them; bytes up to size() / 8 + 1 may be read.
  const void* bytes() const noexcept { return words_.data(); }

  void clear() noexcept {
    size_ = 0;
    words_.clear();
  }
  void release() noexcept {
    size_ = 0;
    words_.release();
  }

  /// The lowest `count` (at most 64) bits of `value`. REQUIRES: the bits above them are zero.
  void append(std::uint64_t value, std::size_t count) {
    prepare(count);
    put(value, count);
  }
  void append_repeated(bool value, std::size_t count) {
    prepare(count);
    for (; count >= 64; count -= 64) put(value ? ~std::uint64_t{0} : 0, 64);
    if (count > 0) put(value ? (std::uint64_t{1} << count) - 1 : 0, count);
  }
  /// Copies bits [first, first + count) of another buffer; returns how many of them are ones.
  std::uint32_t append_from(const BitBuffer& other, std::size_t first, std::size_t count) {
    prepare(count);
    std::uint32_t total = 0;
    for (; count >= 64; count -= 64, first += 64) {
      const std::uint64_t v = other.get64(first);
      total += ones(v);
      put(v, 64);
    }
    if (count > 0) {
      const std::uint64_t v = other.get64(first) & ((std::uint64_t{1} << count) - 1);
      total += ones(v);
      put(v, count);
    }
    return total;
  }
  /// Bytes of 0 or 1. REQUIRES: no other values.
  void append_mask(const std::uint8_t* mask, std::size_t count);

 private:
  // Room for `count` more bits and the spare word; only the word that size() stands in is ever read first.
  void prepare(std::size_t count) {
    const std::size_t words = ((size_ + count) >> 6) + 2;
    const std::size_t had = words_.size();
    if (words > had) {
      words_.extend(words - had);
      if (had == 0) words_[0] = 0;
    }
  }
  void put(std::uint64_t value, std::size_t count) noexcept {
    const std::size_t w = size_ >> 6, s = size_ & 63;
    words_[w] |= value << s;
    words_[w + 1] = s == 0 ? 0 : value >> (64 - s);
    size_ += count;
    if ((size_ >> 6) > w) words_[(size_ >> 6) + 1] = 0;
  }

  GrowArray<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace tokpack::detail
