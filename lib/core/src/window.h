// The window: sequences of samples that wait to be planned, as flat arrays.
//
// Tokens, labels and columns of consecutive sequences stand one after the other; what most inputs never need
// (first positions, tail labels) costs nothing until a sequence has one. A window keeps its memory when it is
// cleared. Widening the tokens, or turning loss bits into labels, converts what is there.
//
// Threads: one at a time. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bit_buffer.h"
#include "grow_array.h"
#include "tokpack/core/writer.h"

namespace tokpack::detail {

/// Values of which all are the same until one is not. Reads past the end give that same value.
template <typename T, T kUsual>
class RareValues {
 public:
  T get(std::size_t i) const noexcept { return i < values_.size() ? values_[i] : kUsual; }
  /// The value of item `i`, which comes after all set before.
  void set(std::size_t i, T value) {
    if (value == kUsual) return;
    values_.append_fill(i - values_.size(), kUsual);
    values_.push_back(value);
  }
  void clear() noexcept { values_.clear(); }

 private:
  GrowArray<T> values_;
};

/// Ascending 64-bit numbers at 4 bytes each: the high halves are kept where they change.
class SourceNumbers {
 public:
  void push_back(std::uint64_t value) {
    const auto high = static_cast<std::uint32_t>(value >> 32);
    if (changes_.empty() || changes_.back().high != high) {
      changes_.push_back({static_cast<std::uint32_t>(low_.size()), high});
    }
    low_.push_back(static_cast<std::uint32_t>(value));
  }
  std::uint64_t operator[](std::size_t i) const noexcept {
    std::size_t c = changes_.size() - 1;
    while (changes_[c].first > i) --c;
    return std::uint64_t{changes_[c].high} << 32 | low_[i];
  }
  [[gnu::always_inline]] void prefetch(std::size_t i) const noexcept { __builtin_prefetch(low_.data() + i); }
  void clear() noexcept {
    low_.clear();
    changes_.clear();
  }

 private:
  struct Change {
    std::uint32_t first, high;
  };
  GrowArray<std::uint32_t> low_;
  std::vector<Change> changes_;
};

/// The rows of one column: per sequence (fixed or ragged) or per token.
struct ColumnRows {
  std::size_t row_bytes = 0;
  Scope scope = Scope::kSequence;
  bool ragged = false;
  GrowArray<std::byte> values;
  GrowArray<std::uint64_t> ends;  ///< ragged: rows up to the end of each sequence
};

/// Tail label "none" inside a window: no label is below the smallest ignore_index.
inline constexpr std::int64_t kNoTail = std::int64_t{1} << 40;

struct Window {
  // Per sequence.
  GrowArray<std::uint32_t> lengths;
  SourceNumbers sources;
  RareValues<std::uint32_t, 0> first_positions;
  RareValues<std::int64_t, kNoTail> tails;
  RareValues<std::uint8_t, 0> times_carried;  ///< out of how many windows
  GrowArray<std::uint32_t> groups;            ///< empty when there are no groups
  // Per token.
  GrowArray<std::uint16_t> tokens16;
  GrowArray<std::uint32_t> tokens32;
  BitBuffer bits;
  GrowArray<std::int32_t> labels;

  std::vector<ColumnRows> columns;
  std::uint64_t tokens = 0;
  bool wide = false;  ///< tokens are in tokens32
  LabelKind label_kind = LabelKind::kAll;

  explicit Window(std::span<const ColumnSpec> specs);
  std::size_t sequences() const noexcept { return lengths.size(); }
  bool empty() const noexcept { return lengths.empty(); }
  std::uint32_t token(std::size_t t) const noexcept { return wide ? tokens32[t] : tokens16[t]; }
  /// The stored label of token `t`: the token itself or `ignore_index` for bits.
  std::int32_t label(std::size_t t, std::int32_t ignore_index) const noexcept;

  void widen();
  /// Bits that were there become labels. From kAll: REQUIRES that the window is empty.
  void set_label_kind(LabelKind kind, std::int32_t ignore_index);
  /// Widens and converts so that rows of `other` can be appended as they are.
  void match(const Window& other, std::int32_t ignore_index);

  struct Part {
    std::uint32_t first, length;
    std::uint8_t times_carried;  ///< as the new sequence has it
  };
  /// Appends tokens [first, first + length) of sequence `i` of `other`, whose tokens start at `start`; a part
  /// that does not end with its sequence gets the label that follows it as tail label. REQUIRES: equal width
  /// and label kind.
  void append_part(const Window& other, std::size_t i, std::uint64_t start, Part part,
                   std::int32_t ignore_index);
  void clear() noexcept;
};

/// The row range of sequence `i` in a ragged column.
struct RaggedRange {
  std::uint64_t first, last;
};
RaggedRange ragged_range(const ColumnRows& column, std::size_t i) noexcept;

}  // namespace tokpack::detail
