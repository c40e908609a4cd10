// Masks the slow and obvious way: one cell at a time, from the boundaries and the words of the conventions,
// not from intervals. Shares no code with the library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tokpack/core/mask.h"
#include "tokpack/core/row_intervals.h"

namespace tokpack::test {

using Ints = std::vector<std::int32_t>;

/// One row of a batch and how it is masked.
struct Case {
  Ints cu_seqlens;
  std::int32_t positions = 0;
  MaskFamily family = MaskFamily::kCausal;
  PadPolicy pads = PadPolicy::kSegment;
  std::int32_t window = 0;
  Ints prefixes = {};

  std::int32_t tokens() const { return cu_seqlens.back(); }
  std::int32_t sequences() const { return static_cast<std::int32_t>(cu_seqlens.size()) - 1; }
  IntervalOptions options() const {
    return {.family = family, .pads = pads, .window = window, .prefixes = prefixes};
  }
};

/// The running example of the conventions: 8 positions, sequences of 3 and 2 tokens, 3 pads.
inline Case example(MaskFamily family, PadPolicy pads) {
  Case c{.cu_seqlens = {0, 3, 5}, .positions = 8, .family = family, .pads = pads};
  if (family == MaskFamily::kSlidingWindow) c.window = 2;
  if (family == MaskFamily::kPrefixLm) c.prefixes = {2, 1};
  return c;
}

struct Place {
  std::int32_t sequence, local;  ///< sequence -1: belongs to none
};

inline Place naive_place(const Case& c, std::int32_t position) {
  for (std::int32_t s = 0; s < c.sequences(); ++s) {
    const auto i = static_cast<std::size_t>(s);
    if (position >= c.cu_seqlens[i] && position < c.cu_seqlens[i + 1]) return {s, position - c.cu_seqlens[i]};
  }
  const std::int32_t pad = position - c.tokens();
  if (c.pads == PadPolicy::kNone) return {-1, 0};
  if (c.pads == PadPolicy::kSelf) return {c.sequences() + pad, 0};
  if (c.pads == PadPolicy::kSegment || c.sequences() == 0) return {c.sequences(), pad};
  return {c.sequences() - 1, position - c.cu_seqlens[c.cu_seqlens.size() - 2]};
}

inline bool naive_attends(const Case& c, std::int32_t query, std::int32_t key) {
  if (query < c.tokens() && key >= c.tokens()) return false;  // real rows never attend a pad
  const auto [sequence, i] = naive_place(c, query);
  const auto [other, j] = naive_place(c, key);
  if (sequence < 0 || sequence != other) return false;
  switch (c.family) {
    case MaskFamily::kCausal:
      return j <= i;
    case MaskFamily::kBidirectional:
      return true;
    case MaskFamily::kSlidingWindow:
      return i - c.window < j && j <= i;
    case MaskFamily::kPrefixLm:
      break;
  }
  const std::int32_t prefix = sequence < c.sequences() ? c.prefixes[static_cast<std::size_t>(sequence)] : 0;
  return j < prefix || j <= i;
}

struct Intervals {
  Ints lo, hi;
};

/// What the library makes of a case; both arrays.
inline Intervals intervals_of(const Case& c) {
  const auto positions = static_cast<std::size_t>(c.positions);
  Intervals out{Ints(positions, -7), Ints(positions, -7)};
  const auto built = build_row_intervals(c.cu_seqlens, c.options(), out.lo, out.hi);
  if (!built.ok()) return {};
  return out;
}

/// Rows of 0 and 1, "/" between them, as the conventions write them: what the library's bool mask says.
inline std::string picture(const Case& c) {
  const auto [lo, hi] = intervals_of(c);
  const auto positions = static_cast<std::size_t>(c.positions);
  std::vector<std::uint8_t> mask(positions * positions, 9);
  const auto written = write_mask({.lo = lo, .hi = hi}, {}, {.data = mask.data(), .bytes = mask.size()});
  if (!written.ok()) return written.error().detail;
  std::string out;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (i != 0 && i % positions == 0) out += '/';
    out += static_cast<char>('0' + mask[i]);
  }
  return out;
}

/// The same cell by cell.
inline std::string naive_picture(const Case& c) {
  std::string out;
  for (std::int32_t q = 0; q < c.positions; ++q) {
    if (q != 0) out += '/';
    for (std::int32_t k = 0; k < c.positions; ++k) out += naive_attends(c, q, k) ? '1' : '0';
  }
  return out;
}

class RandomCases {
 public:
  explicit RandomCases(unsigned seed) : random_(seed) {}

  std::int32_t number(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(random_);
  }

  /// Any family and pad policy; sequences of 1 token, of a few, or long; with pads, without, or of pads
  /// alone.
  Case next(std::int32_t positions) {
    Case c{.cu_seqlens = {0}, .positions = positions};
    c.family = static_cast<MaskFamily>(number(0, 3));
    c.pads = static_cast<PadPolicy>(number(0, 3));
    if (c.family == MaskFamily::kSlidingWindow) c.window = number(1, number(0, 3) == 0 ? positions + 2 : 9);
    const std::int32_t shape = number(0, 4), tokens = shape == 0 ? positions : number(0, positions);
    const std::int32_t longest = shape == 1 ? 1 : shape == 2 ? positions : 1 + positions / 5;
    while (c.cu_seqlens.back() < tokens) {
      const std::int32_t length = std::min(tokens - c.cu_seqlens.back(), number(1, longest));
      c.cu_seqlens.push_back(c.cu_seqlens.back() + length);
      if (c.family == MaskFamily::kPrefixLm) c.prefixes.push_back(number(0, length));
    }
    return c;
  }

 private:
  std::mt19937 random_;
};

}  // namespace tokpack::test
