// Which keys each query position may attend, as one interval per row: key c is attended iff lo(r) <= c <=
// hi(r). Every mask of the project (dense, block lists, CUDA) follows from these 8 bytes per token.
//
// A row is one training row of S positions: the pack's T tokens, cut into sequences by its cu_seqlens, then
// S - T pads. One call fills one row of the caller's [B,S] arrays; nothing is allocated and nothing kept.
//
// What pads attend (`PadPolicy`) never changes the rows of real tokens, and real rows never attend a pad.
// Only kNone makes empty rows (lo = S). A row of pads alone has no last sequence: kLast is kSegment there.
//
// Threads: pure functions. Cost: one pass over S. Errors, before anything is written: kCuSeqlens (not 0
// first, not strictly ascending, past S), kOptions (window, prefixes, buffers of unequal length), kTooLarge.
//
//   std::vector<std::int32_t> lo(batch * capacity);
//   auto row = std::span(lo).subspan(b * capacity, capacity);
//   if (auto built = build_row_intervals(pack.cu_seqlens(), {}, row); !built) return built.error();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tokpack/format/result.h"

namespace tokpack {

/// i and j are positions of query and key in their common sequence.
enum class MaskFamily : std::uint8_t {
  kCausal,         ///< j <= i
  kBidirectional,  ///< every key of the sequence
  kSlidingWindow,  ///< i - window < j <= i: `window` keys, the query's own included
  kPrefixLm,       ///< j < prefix or j <= i, with a prefix for each sequence
};

/// Whether a query attends keys after its own, so that intervals need hi; for the others hi(r) = r.
constexpr bool needs_hi(MaskFamily family) noexcept {
  return family == MaskFamily::kBidirectional || family == MaskFamily::kPrefixLm;
}

enum class PadPolicy : std::uint8_t {
  kSegment,  ///< the pads are one more sequence of the same family, with prefix 0
  kSelf,     ///< each pad attends itself alone
  kNone,     ///< pads attend nothing: lo = S, hi = r
  kLast,     ///< pad rows continue the last sequence
};

/// Most positions of a row: every index, S and S + 1 are int32.
inline constexpr std::int64_t kMaxRowPositions = 0x7ffffffe;

struct IntervalOptions {
  MaskFamily family = MaskFamily::kCausal;
  PadPolicy pads = PadPolicy::kSegment;
  std::int32_t window = 0;                      ///< for kSlidingWindow, at least 1; 0 otherwise
  std::span<const std::int32_t> prefixes = {};  ///< for kPrefixLm, one per sequence, 0 to its length
};

/// Fills one row: lo and, where given, hi, both of S elements. For kCausal and kSlidingWindow hi(r) = r, so
/// that `hi` may be left out (empty), and masks are made from lo alone.
/// REQUIRES: `lo` and `hi` overlap neither each other nor the input.
Result<void> build_row_intervals(std::span<const std::int32_t> cu_seqlens, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi = {});

/// What can be said of the options without the boundaries: kOptions unless family, pads and window are known
/// and fit each other, there are as many prefixes as `sequences` (of a family that has none: none), and hi is
/// there for families that need it. The values of the prefixes are not looked at.
Result<void> check_interval_options(const IntervalOptions& options, std::size_t sequences, bool has_hi);

/// Intervals of B rows of S positions, as the makers of masks take them. A view: the arrays are the caller's.
struct RowIntervals {
  std::span<const std::int32_t> lo;       ///< [B,S], contiguous
  std::span<const std::int32_t> hi = {};  ///< [B,S], or empty: hi(r) = r
  std::int64_t batch = 1;                 ///< B
};

/// S, or kOptions when the arrays do not fit B rows, kTooLarge when S is above kMaxRowPositions.
Result<std::int64_t> row_positions(const RowIntervals& intervals);

}  // namespace tokpack
