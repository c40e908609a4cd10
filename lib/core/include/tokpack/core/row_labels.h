// What else follows from a pack's boundaries, position by position: document ids and position ids.
//
// One call fills one row of S positions: the T tokens of a pack, cut into sequences by its cu_seqlens, then
// S - T pads. The buffer is the caller's. A mask function over document ids must also test that the id is not
// that of a pad (>= 0, or > 0 for kFromOne): equality alone makes the pads one more sequence.
//
// Position ids are never the source of truth for boundaries. The pads' positions that agree with a pad
// policy: kSegment restart, kSelf zero, kLast continue, kNone any (agreeing_positions).
//
// Threads: pure functions. Errors, before anything is written: kCuSeqlens, kOptions, kTooLarge, as in
// row_intervals.h.
//
//   std::vector<std::int64_t> positions(capacity);
//   auto filled = fill_positions(pack.cu_seqlens(), PadPositions::kZero, positions);
#pragma once

#include <cstdint>
#include <span>

#include "tokpack/core/row_intervals.h"
#include "tokpack/format/result.h"

namespace tokpack {

enum class DocumentIds : std::uint8_t {
  kFromZero,  ///< sequences 0, 1, 2, ...; pads under PadPolicy::kNone are -1
  kFromOne,   ///< sequences 1, 2, 3, ...; pads under PadPolicy::kNone are 0
};

/// Number of each position's sequence. Pads under kSegment have the next number, under kSelf the next ones,
/// one each; under kLast that of the last sequence (the first number when there is none).
Result<void> fill_document_ids(std::span<const std::int32_t> cu_seqlens, PadPolicy pads,
                               DocumentIds numbering, std::span<std::int32_t> ids);

enum class PadPositions : std::uint8_t {
  kRestart,   ///< 0, 1, 2, ...
  kZero,      ///< 0, 0, 0, ...
  kContinue,  ///< those of the last sequence go on
};

constexpr PadPositions agreeing_positions(PadPolicy pads) noexcept {
  if (pads == PadPolicy::kSelf) return PadPositions::kZero;
  return pads == PadPolicy::kLast ? PadPositions::kContinue : PadPositions::kRestart;
}

/// Position ids: from 0 in each sequence.
Result<void> fill_positions(std::span<const std::int32_t> cu_seqlens, PadPositions pads,
                            std::span<std::int64_t> positions);
Result<void> fill_positions(std::span<const std::int32_t> cu_seqlens, PadPositions pads,
                            std::span<std::int32_t> positions);

}  // namespace tokpack
