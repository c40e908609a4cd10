// Where samples come from: JSONL files, raw token arrays. A Source yields flat batches that Writer::add_batch
// takes as they are.
//
// Ownership: a batch borrows from the source and lives until the next call of next() or the source's end.
// Threads: one thread calls; JSONL parsing uses `threads` of its own and keeps the order.
// Errors: kIo, kNotRegularFile (a folder), codes 200.. with file, line (1-based), position and value.
//
//   auto source = open_jsonl("train.jsonl.zst", make_jsonl_session({}));
//   if (!source) return source.error();
//   std::vector<ColumnInput> storage;
//   while (true) {
//     auto batch = (*source)->next();
//     if (!batch) return batch.error();
//     if (*batch == nullptr) break;
//     if (auto added = writer.add_batch((*batch)->view(storage)); !added) return added.error();
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tokpack/core/writer.h"

namespace tokpack::input {

/// Owned flat arrays of some consecutive samples. All samples of a batch are of one label kind.
struct SampleBatch {
  enum class Labels : std::uint8_t { kNone, kMask, kLabels };
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> lengths;
  Labels label_form = Labels::kNone;
  std::vector<std::uint8_t> loss_mask;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> groups;  ///< empty when the input has no groups
  struct Column {
    std::vector<std::byte> values;
    std::vector<std::uint64_t> offsets;
  };
  std::vector<Column> columns;

  std::size_t samples() const noexcept { return lengths.size(); }
  /// Borrows from this batch. `storage` holds the ColumnInput array and must live as long as the view.
  Batch view(std::vector<ColumnInput>& storage) const&;
  Batch view(std::vector<ColumnInput>& storage) const&& = delete;
};

/// Bytes read so far and in all, for a progress bar; total 0 when unknown (a pipe).
struct Progress {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_total = 0;
};

/// Something about an input that is probably not meant, though it can be read. `text` names the input and
/// is made safe to print; what to do about it in terms of options is the caller's to say, by `kind`.
struct Note {
  enum class Kind : std::uint8_t {
    kUnendedDocument,  ///< raw: the last document does not end in the document end
    kWiderNumbers,     ///< raw: every second number is 0, as if the numbers were wider than was said
    kMaskedAttention,  ///< JSON lines: an attention_mask has zeros, as of padded samples
  };
  Kind kind{};
  std::string text;
};

class Source {
 public:
  virtual ~Source() = default;
  /// The next batch, or nullptr at the end.
  virtual Result<const SampleBatch*> next() = 0;
  virtual Progress progress() const = 0;
  /// All columns, in the order of SampleBatch::columns: the declared ones, then those that the first record
  /// brought (`role`, `weight`). Known after the first call of next(), as is has_groups(). roles(): names of
  /// the role numbers so far, in order of first appearance.
  virtual std::vector<ColumnSpec> columns() const = 0;
  virtual bool has_groups() const = 0;
  virtual std::vector<std::string> roles() const = 0;
  /// Where sample `index` (0-based within this source) stands, for messages: "train.jsonl:12".
  virtual std::string where(std::uint64_t index) const = 0;
  /// What was noticed so far, in order; complete once next() gave nullptr.
  virtual std::vector<Note> notes() const { return {}; }
};

}  // namespace tokpack::input
