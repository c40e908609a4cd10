// From packs to the arrays that a model takes: padded rows, or sequences one after another.
//
// Rows: [B, S], one pack a row, pads behind it. Flat: [T] for varlen attention, with cu_seqlens. Everything
// is written into the caller's buffers, so that torch, numpy and plain C++ share one path. Labels and targets
// are two arrays under two names: labels stand beside their inputs (the model shifts), targets are what each
// position must predict.
//
// Source of the conventions: transformers and TRL take labels, torchtitan, Megatron and plain PyTorch loops
// targets; position ids restart in every sequence unless `continue` is asked for.
// Ownership: nothing is kept. Threads: pure functions of a Reader and buffers. Errors: kOptions and those of
// Reader::pack; buffers may be partly written then.
//
//   std::vector<std::int64_t> ids(8 * 4096), labels(8 * 4096);
//   auto batch = fill_rows(reader, packs, {.row_length = 4096},
//                          {.input_ids = ids.data(), .labels = labels.data()});
//   double loss_divisor = batch->label_targets;
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tokpack/core/reader.h"
#include "tokpack/core/row_intervals.h"
#include "tokpack/core/row_labels.h"
#include "tokpack/core/sampler.h"

namespace tokpack {

/// Where an array of integers goes: 64 or 32 bits each. Null: not wanted.
class IntOutput {
 public:
  IntOutput() = default;
  IntOutput(std::int64_t* data) noexcept : data_(data) {}
  IntOutput(std::int32_t* data) noexcept : data_(data), is_64_bit_(false) {}

  bool wanted() const noexcept { return data_ != nullptr; }
  bool is_64_bit() const noexcept { return is_64_bit_; }
  /// REQUIRES: is_64_bit() and !is_64_bit() respectively.
  std::int64_t* wide() const noexcept { return static_cast<std::int64_t*>(data_); }
  std::int32_t* narrow() const noexcept { return static_cast<std::int32_t*>(data_); }

 private:
  void* data_ = nullptr;
  bool is_64_bit_ = true;
};

/// Position of a sequence's first token.
enum class SequencePositions : std::uint8_t {
  kRestart,   ///< 0, also for a fragment of a sample that was split
  kContinue,  ///< where the fragment stood in its sample
};

struct RowOptions {
  std::uint32_t row_length = 0;                        ///< S; 0: the file's capacity
  std::optional<std::uint32_t> pad_id = std::nullopt;  ///< none: the file's
  SequencePositions positions = SequencePositions::kRestart;
  PadPositions pad_positions = PadPositions::kRestart;
  /// Of `lo` and `hi`. Prefixes of kPrefixLm are those of the column `prefix_len`: `prefixes` is not looked
  /// at.
  IntervalOptions intervals = {};
  DocumentIds document_ids = DocumentIds::kFromZero;  ///< pads as `intervals.pads` says
  std::uint32_t max_sequences = 0;  ///< N of `boundaries`; 0: the most that a pack of the file has
};

/// Buffers of B rows; row r starts `r * row_stride` elements behind the first. Null: not wanted.
struct RowOutputs {
  IntOutput input_ids = {};         ///< [B, S]
  std::int64_t* labels = nullptr;   ///< [B, S]; the first token of every sequence and all pads are ignored
  std::int64_t* targets = nullptr;  ///< [B, S]; the last of a sequence is its tail label, or ignored
  IntOutput position_ids = {};      ///< [B, S]
  std::int32_t* lengths = nullptr;  ///< [B] tokens without pads
  std::int32_t* lo = nullptr;       ///< [B, S] row intervals (row_intervals.h), from the boundaries alone
  std::int32_t* hi = nullptr;       ///< [B, S]; for families other than causal and sliding window
  std::int32_t* document_ids = nullptr;  ///< [B, S] number of each position's sequence (row_labels.h)
  /// [B, N + 1], contiguous: each pack's cu_seqlens, the last repeated to the row's end; all 0 for an empty
  /// row. From this, 4 bytes a sequence, the CUDA kernels make row intervals.
  std::int32_t* boundaries = nullptr;
  std::size_t row_stride = 0;  ///< elements; 0: S
};

/// What a batch holds.
struct BatchCounts {
  std::uint64_t tokens = 0;         ///< without pads
  std::uint64_t sequences = 0;      ///< without pads
  std::uint64_t empty_rows = 0;     ///< rows of Sampler::kNoPack
  std::uint64_t targets = 0;        ///< trained targets, tail labels included: the divisor for `targets`
  std::uint64_t label_targets = 0;  ///< the same without tail labels: the divisor for `labels`
};

/// Fills one row for each of `packs`; Sampler::kNoPack gives a row of pads. Ignored labels are the file's
/// ignore index. kOptions: a pack that is longer than the row or has more sequences than max_sequences, a
/// row_stride below the row, hi without lo, unknown enumerators, or intervals that cannot be (also: no column
/// prefix_len).
Result<BatchCounts> fill_rows(const Reader& reader, std::span<const std::uint64_t> packs,
                              const RowOptions& options, const RowOutputs& out);

/// A column beside padded rows: [B, items, width] of its element type, zeros behind each pack's rows. Items
/// are positions for scope token, sequences for scope sequence and 1 for scope pack. kOptions: a ragged
/// column or one of scope file, more rows than `items`, or `out` of another size.
Result<void> fill_column_rows(const Reader& reader, std::span<const std::uint64_t> packs, std::size_t column,
                              std::uint32_t items, std::span<std::byte> out);

struct FlatOptions {
  std::optional<std::uint32_t> pad_id = std::nullopt;  ///< none: the file's
  SequencePositions positions = SequencePositions::kRestart;
  /// Pads each pack to this many tokens; the pads are one more sequence. 0: packs follow each other directly.
  std::uint32_t row_length = 0;
  /// Pads each sequence to a multiple of this (TransformerEngine, Megatron THD); excludes row_length.
  std::uint32_t sequence_multiple = 1;
  /// T of static shapes: pads the whole to this many tokens, as one more sequence. 0: as many as there are.
  std::uint64_t total_tokens = 0;
  /// Static shapes: cu_seqlens has this many entries and one more, the last repeated. 0: as many as needed.
  std::uint64_t max_sequences = 0;
};

/// Buffers of `FlatShape`'s sizes. Null: not wanted.
struct FlatOutputs {
  IntOutput input_ids = {};                   ///< [T]
  std::int64_t* labels = nullptr;             ///< [T]
  std::int64_t* targets = nullptr;            ///< [T]
  IntOutput position_ids = {};                ///< [T]; 0 on pads behind a sequence, 0, 1, 2... in one of pads
  std::int32_t* cu_seqlens = nullptr;         ///< [N + 1] lengths without the pads of sequence_multiple
  std::int32_t* cu_seqlens_padded = nullptr;  ///< [N + 1] places in the arrays
};

/// Sizes of a flat batch, known before it is filled.
struct FlatShape {
  std::uint64_t tokens = 0;      ///< T
  std::uint64_t sequences = 0;   ///< N: entries of cu_seqlens less one
  std::uint32_t max_seqlen = 0;  ///< of the padded lengths; a host number for varlen kernels
};

/// kTooLarge: more than 2^31 - 1 tokens (int32 cannot count them). kOptions: total_tokens or max_sequences
/// too small, or options that exclude each other. Empty rows take part only with row_length.
Result<FlatShape> flat_shape(const Reader& reader, std::span<const std::uint64_t> packs,
                             const FlatOptions& options);
/// REQUIRES: buffers of flat_shape()'s sizes for the same packs and options.
Result<BatchCounts> fill_flat(const Reader& reader, std::span<const std::uint64_t> packs,
                              const FlatOptions& options, const FlatOutputs& out);

}  // namespace tokpack
