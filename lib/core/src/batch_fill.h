// One pack's tokens as the arrays of a batch: what padded rows and flat batches share.
//
// Threads: pure functions on the caller's buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "batch_kernels.h"
#include "tokpack/core/batch.h"

namespace tokpack::detail {

/// The output from element `i` on; nothing stays nothing.
inline IntOutput at(const IntOutput& out, std::size_t i) noexcept {
  if (!out.wanted()) return {};
  return out.is_64_bit() ? IntOutput(out.wide() + i) : IntOutput(out.narrow() + i);
}

inline void fill_pads(const IntOutput& out, std::int64_t value, std::size_t count) noexcept {
  if (!out.wanted()) return;
  if (out.is_64_bit()) {
    batch_kernels().fill_64(value, count, out.wide());
  } else {
    batch_kernels().fill_32(static_cast<std::int32_t>(value), count, out.narrow());
  }
}

inline void count_up(const IntOutput& out, std::int64_t first, std::size_t count) noexcept {
  if (!out.wanted()) return;
  if (out.is_64_bit()) {
    batch_kernels().count_64(first, count, out.wide());
  } else {
    batch_kernels().count_32(static_cast<std::int32_t>(first), count, out.narrow());
  }
}

/// Positions of `count` pads behind a token at which the next would be `next`.
inline void pad_positions(const IntOutput& out, PadPositions pads, std::int64_t next,
                          std::size_t count) noexcept {
  if (pads == PadPositions::kZero) return fill_pads(out, 0, count);
  count_up(out, pads == PadPositions::kContinue ? next : 0, count);
}

/// Row intervals of packs, with prefixes from the file's column where the family has them.
class IntervalFiller {
 public:
  static Result<IntervalFiller> create(const Reader& reader, const IntervalOptions& options);
  /// Of one row; an empty row has no pack. `hi` may be empty.
  Result<void> fill(const PackRef* pack, std::span<std::int32_t> lo, std::span<std::int32_t> hi);

 private:
  explicit IntervalFiller(const IntervalOptions& options) : options_(options) { options_.prefixes = {}; }
  Result<void> load_prefixes(const PackRef& pack);

  IntervalOptions options_;
  std::optional<std::size_t> prefix_column_;
  std::vector<std::int32_t> prefixes_;
};

class PackFiller {
 public:
  PackFiller(const PackRef& pack, SequencePositions positions) noexcept
      : pack_(pack), tokens_(pack.tokens()), cu_seqlens_(pack.cu_seqlens()), positions_(positions) {}

  /// Tokens [begin, begin + count) of the pack.
  void ids(const IntOutput& out, std::size_t begin, std::size_t count) const noexcept;
  /// All labels; the first token of each sequence is ignored.
  void labels(std::int64_t* out) const noexcept;
  /// All targets; the last token of each sequence has its tail label, or is ignored.
  void targets(std::int64_t* out) const noexcept;
  /// All positions. Returns the one that would follow.
  std::int64_t positions(const IntOutput& out) const noexcept;

  // The same of one sequence.
  std::size_t begin(std::size_t sequence) const noexcept {
    return static_cast<std::size_t>(cu_seqlens_[sequence]);
  }
  std::size_t length(std::size_t sequence) const noexcept { return begin(sequence + 1) - begin(sequence); }
  void labels_of(std::size_t sequence, std::int64_t* out) const noexcept;
  void targets_of(std::size_t sequence, std::int64_t* out) const noexcept;
  std::int64_t first_position(std::size_t sequence) const noexcept;

  void count(BatchCounts& counts) const noexcept;

 private:
  /// Stored labels of [begin, begin + count), boundaries not looked at.
  void stored_labels(std::size_t begin, std::size_t count, std::int64_t* out) const noexcept;

  std::int64_t last_target(std::size_t sequence) const noexcept;

  const PackRef& pack_;
  TokenSpan tokens_;
  std::span<const std::int32_t> cu_seqlens_;
  SequencePositions positions_;
};

}  // namespace tokpack::detail
