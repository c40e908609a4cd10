// What a policy leaves of one sample: a run of its tokens, cut into pieces.
//
// Pure arithmetic on the sample's length (design: overlong policies, tails). Threads: any.
//
//   const SampleRun run = run_of(length, rules);
//   for (std::uint32_t k = 0; k < run.pieces; ++k) store(run.piece(k));
#pragma once

#include <cstdint>

#include "tokpack/core/writer.h"

namespace tokpack::detail {

enum class Outcome : std::uint8_t {
  kStored,
  kNothing,   ///< no token left to store: a 1-token sample whose only token is a target
  kDropped,   ///< longer than the capacity, and the policy drops
  kOverlong,  ///< longer than the capacity, and the policy is error
};
enum class PieceTail : std::uint8_t {
  kNone,
  kGiven,  ///< the tail label that came with the sample
  kNext,   ///< the label of the token that follows the piece
};

struct Piece {
  std::uint32_t first, length;
  std::uint32_t position;  ///< what first_token_positions says
  PieceTail tail;
};

struct SampleRun {
  Outcome outcome = Outcome::kStored;
  bool truncated = false;
  std::uint32_t first = 0;   ///< first token stored
  std::uint32_t stored = 0;  ///< tokens stored
  std::uint32_t pieces = 0;
  std::uint32_t piece_length = 0;  ///< of all pieces but the last
  PieceTail last_tail = PieceTail::kNone;

  Piece piece(std::uint32_t k) const noexcept {
    const std::uint32_t offset = k * piece_length;
    const bool last = k + 1 == pieces;
    return {first + offset, last ? stored - offset : piece_length, offset,
            last ? last_tail : PieceTail::kNext};
  }
};

struct SampleRules {
  std::uint32_t capacity = 0;  ///< the longest piece; the largest number when nothing is cut here
  Overlong overlong = Overlong::kError;
  Tail tail = Tail::kNone;
};

/// REQUIRES: length > 0.
constexpr SampleRun run_of(std::uint32_t length, const SampleRules& rules) noexcept {
  const bool input_target = rules.tail == Tail::kInputTarget;
  SampleRun run;
  run.stored = input_target ? length - 1 : length;
  run.last_tail = input_target ? PieceTail::kNext : PieceTail::kGiven;
  run.piece_length = run.stored;
  run.pieces = 1;
  if (run.stored == 0) {
    run.outcome = Outcome::kNothing;
  } else if (run.stored > rules.capacity) {
    switch (rules.overlong) {
      case Overlong::kError:
        run.outcome = Outcome::kOverlong;
        break;
      case Overlong::kDrop:
        run.outcome = Outcome::kDropped;
        break;
      case Overlong::kSplit:
        run.piece_length = rules.capacity;
        run.pieces = (run.stored - 1) / rules.capacity + 1;
        break;
      case Overlong::kTruncate:
        run.truncated = true;
        run.stored = run.piece_length = rules.capacity;
        if (!input_target) run.last_tail = PieceTail::kNone;
        break;
      case Overlong::kTruncateLeft:
        run.truncated = true;
        run.first = run.stored - rules.capacity;
        run.stored = run.piece_length = rules.capacity;
        break;
    }
  }
  return run;
}

}  // namespace tokpack::detail
