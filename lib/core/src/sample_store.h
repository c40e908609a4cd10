// One sample as a caller gave it: its labels by position, its checks, and its way into a window.
//
// Errors: kSampleTokens, kSampleShape, naming the sample's source number, the position and the value.
// Threads: any; a SampleView borrows from the caller's batch. Throws std::bad_alloc.
#pragma once

#include <cstdint>

#include "sample_pieces.h"
#include "token_kernels.h"
#include "window.h"

namespace tokpack::detail {

/// The rules that every sample of a writer is read by.
struct LabelRules {
  LabelAlignment alignment = LabelAlignment::kAligned;
  std::int32_t ignore_index = kDefaultIgnoreIndex;
  std::uint32_t largest_id = format::kMaxTokenId;     ///< by vocabulary
  std::uint32_t largest_token = format::kMaxTokenId;  ///< by vocabulary and declared token type
  std::uint32_t vocab_size = 0;
};

struct SampleView {
  std::uint64_t source = 0;
  std::uint32_t length = 0;
  TokenSlice tokens;
  const std::uint8_t* mask = nullptr;  ///< at most one of mask and labels
  const std::int32_t* labels = nullptr;
  std::int32_t given_tail = 0;           ///< ignore_index = none
  std::span<const ColumnInput> columns;  ///< of the whole batch
  std::uint64_t index = 0;               ///< in the batch
  std::uint64_t first_token = 0;         ///< in the batch

  bool has_labels() const noexcept { return mask != nullptr || labels != nullptr; }
};

/// The stored label of token `i`: unshifted.
std::int32_t label_at(const SampleView& sample, std::uint32_t i, const LabelRules& rules) noexcept;

/// The tail label of a piece, or kNoTail.
std::int64_t tail_of(const SampleView& sample, const Piece& piece, const LabelRules& rules) noexcept;

/// Ids, masks, labels and the given tail label are in range. What is found about the sample is kept for
/// storing it.
struct SampleFacts {
  std::uint64_t largest_id = 0;
  bool explicit_labels = false;  ///< some label is neither its token nor ignore_index
};
Result<SampleFacts> check_sample(const SampleView& sample, const LabelRules& rules);

/// True where a shifted mask trains the prediction after the last token and no tail label gives its id: there
/// is nothing to store it by.
bool has_nameless_target(const SampleView& sample, const LabelRules& rules) noexcept;
/// Targets of the sample as it was given: labels at index 1 or later, the tail, and a nameless one.
std::uint64_t given_targets(const SampleView& sample, const LabelRules& rules) noexcept;
/// Targets that its pieces carry.
std::uint64_t stored_targets(const SampleView& sample, const SampleRun& run,
                             const LabelRules& rules) noexcept;
/// stored_targets() > 0, found early.
bool has_stored_target(const SampleView& sample, const SampleRun& run, const LabelRules& rules) noexcept;

/// Appends one piece. Widens the window or makes its labels explicit when the piece needs it. REQUIRES: the
/// sample was checked, and the window's label kind fits it.
void store_piece(Window& window, const SampleView& sample, const SampleFacts& facts, const Piece& piece,
                 const LabelRules& rules);

}  // namespace tokpack::detail
