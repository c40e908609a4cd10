// Writes a .tpk file in one pass with bounded memory (design: "Writing").
//
// Samples stream in; a window of them is planned and appended; finish() completes the file under its name.
// Until then the target is untouched; on any error, or destruction without finish(), nothing is left behind.
// The bytes depend on samples and options alone: not on threads, folder or how samples were batched.
//
// Ownership: everything handed in is copied before a call returns. Threads: one thread calls; the writer uses
// `threads` of its own. After an error every call returns kFinished or that error.
// Errors: kOptions, kOverlong, kSampleTokens, kSampleShape, kLabelsMissing, kGroupReturned, kExists, kIo,
// kOutOfMemory, kTooLarge.
//
//   auto writer = Writer::create("train.tpk", {.plan = {.capacity = 4096}});
//   if (auto ok = writer->add({.tokens = TokenInput(ids), .labels = labels}); !ok) return ok.error();
//   auto summary = std::move(*writer).finish();
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tokpack/core/account.h"
#include "tokpack/core/planner.h"
#include "tokpack/core/reader.h"

namespace tokpack {

enum class LabelAlignment : std::uint8_t {
  kAligned,  ///< label[i] belongs to token i
  /// given[i] is what position i predicts: stored as label[i+1], the last as the tail label. A mask has no id
  /// for its last: where that is 1 and no tail label is given, the target is counted in labels_lost.
  kShifted,
};
enum class MissingLabels : std::uint8_t { kError, kTrain };
enum class Tail : std::uint8_t {
  kNone,
  kInputTarget,  ///< each sample's last token is stored only as its tail label
};

/// A column to write besides the built-in ones. Reserved names must have their reserved type.
struct ColumnSpec {
  std::string name{};
  ElementType type = ElementType::kU32;
  std::uint16_t width = 1;
  Scope scope = Scope::kSequence;  ///< kSequence or kToken: one row per sample or per token
  bool ragged = false;             ///< kSequence only
};

/// Whether a file can hold such a column: kOptions, naming the column and what would do. Writer::create and
/// the inputs that fill columns ask it.
Result<void> check_column(const ColumnSpec& column);

inline constexpr std::uint64_t kWindowAll = ~std::uint64_t{0};
inline constexpr std::int32_t kDefaultIgnoreIndex = -100;

struct WriterOptions {
  PlanOptions plan{};
  Overlong overlong = Overlong::kError;
  std::optional<ElementType> token_type{};  ///< kU16 or kU32; unset = u16 until an id needs more
  std::uint32_t vocab_size = 0;             ///< 0 = unknown; else ids must be below it
  LabelAlignment label_alignment = LabelAlignment::kAligned;
  MissingLabels missing_labels = MissingLabels::kError;
  Tail tail = Tail::kNone;
  bool drop_untrainable = false;
  std::uint64_t window_tokens = 0;  ///< 0 = the larger of 64 Mi and 256 x capacity; kWindowAll; else >= 1
  unsigned threads = 1;
  std::int32_t ignore_index = kDefaultIgnoreIndex;
  std::uint32_t pad_id = 0;
  bool groups = false;  ///< samples come with group keys; adds the `group` column
  std::vector<ColumnSpec> columns{};
  bool force = false;  ///< replace an existing output
  bool sync = true;    ///< fsync file and folder

  // Metadata only. Texts are UTF-8: kOptions otherwise.
  std::optional<std::int64_t> bos_id{}, eos_id{};
  std::string tokenizer_name{}, tokenizer_sha256{};
  std::map<std::string, std::string> user{};
};

/// Token ids of a caller, in one of the types callers have. Negative or too large ids are kSampleTokens.
class TokenInput {
 public:
  enum class Type : std::uint8_t { kU16, kU32, kI32, kI64 };
  TokenInput() = default;
  explicit TokenInput(std::span<const std::uint16_t> v) noexcept
      : data_(v.data()), size_(v.size()), type_(Type::kU16) {}
  explicit TokenInput(std::span<const std::uint32_t> v) noexcept
      : data_(v.data()), size_(v.size()), type_(Type::kU32) {}
  explicit TokenInput(std::span<const std::int32_t> v) noexcept
      : data_(v.data()), size_(v.size()), type_(Type::kI32) {}
  explicit TokenInput(std::span<const std::int64_t> v) noexcept
      : data_(v.data()), size_(v.size()), type_(Type::kI64) {}
  const void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  Type type() const noexcept { return type_; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  Type type_ = Type::kU16;
};

/// Rows of one declared column for a batch: rows * width elements of the column's type. Ragged: `offsets` has
/// one entry more than samples, in rows of width, first 0.
struct ColumnInput {
  format::Bytes values{};
  std::span<const std::uint64_t> offsets{};
};

/// Several samples in flat arrays. At most one of loss_mask and labels is given. Per-token arrays have as
/// many elements as `tokens`, per-sample ones as `lengths`.
struct Batch {
  TokenInput tokens{};                       ///< all samples' ids, one after the other
  std::span<const std::uint32_t> lengths{};  ///< tokens of each sample; their sum is tokens.size()
  std::optional<std::span<const std::uint8_t>> loss_mask{};  ///< 1 = the token is a training target, else 0
  std::optional<std::span<const std::int32_t>> labels{};     ///< the token, ignore_index, or another id
  std::span<const std::int32_t> tail_labels{};               ///< empty, or per sample; ignore_index = none
  std::span<const std::uint64_t> groups{};  ///< keys; adjacent equal keys are one group. Empty = none
  std::span<const ColumnInput> columns{};   ///< in the order of WriterOptions::columns
};

/// One sample: the same with one length.
struct Sample {
  TokenInput tokens{};
  std::optional<std::span<const std::uint8_t>> loss_mask{};
  std::optional<std::span<const std::int32_t>> labels{};
  std::optional<std::int32_t> tail_label{};
  std::span<const ColumnInput> columns{};
};

struct WriteSummary {
  Account account;
  std::uint64_t packs = 0, sequences = 0, tokens = 0, targets = 0, file_size = 0;
  std::uint64_t lower_bound_packs = 0;  ///< ceil(aligned tokens / capacity)
  Hash128 digest;
};

class Writer {
 public:
  /// Checks the options, locks a temporary beside `path` and removes left-over ones of dead writers.
  static Result<Writer> create(const std::string& path, const WriterOptions& options);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  Result<void> add(const Sample& sample);
  /// The batch's samples in order. Equal to add() for each.
  Result<void> add_batch(const Batch& batch);
  /// All samples of the batch as one group (its `groups` are not read). Needs options.groups.
  Result<void> add_group(const Batch& batch);

  /// Names what follows in the metadata's inputs. The base name is kept, bytes that are no UTF-8 as U+FFFD.
  void begin_input(const std::string& name);
  /// Samples that the caller leaves out; they take source numbers and stand in the account.
  void count_skipped(std::uint64_t samples, std::uint64_t tokens);
  void count_held_out(std::uint64_t samples, std::uint64_t tokens);
  /// A group that the caller leaves out as a whole (its samples are counted as above): it ends the one
  /// before, and its key may not come back either. Needs options.groups.
  Result<void> pass_over_group(std::uint64_t key);
  /// Names of the numbers in a `role` column, for the metadata. One that is no UTF-8 makes later calls
  /// give kOptions.
  void set_roles(std::vector<std::string> names);

  std::uint64_t samples_in() const noexcept;  ///< source number of the next sample

  /// Plans and writes what is buffered, completes the file, renames it to its name. Under Overlong::kError
  /// with overlong samples: kOverlong, after all samples were seen, with counts.
  Result<WriteSummary> finish() &&;

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tokpack
