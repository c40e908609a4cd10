// What a parser makes of one chunk of lines.
//
// Ownership: owns its data. Threads: a value. Throws std::bad_alloc.
//
//   chunk.clear(schema, table);  // then samples are appended
//   chunk.truncate(n, schema, table);  // back to n whole samples after one that failed
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jsonl_schema.h"

namespace tokpack::input {

/// Why a line cannot be used; `text` still lacks "file:line: ".
struct Failure {
  Errc code{};
  std::uint64_t line = 0;    ///< 0-based within the chunk
  std::uint64_t offset = 0;  ///< of the line within the chunk
  std::string text;          ///< empty: no memory for words
};

/// Consecutive samples of one label form.
struct FormRun {
  SampleBatch::Labels form{};
  std::size_t samples = 0;
};

/// Fields without a meaning and how many samples have them. Records of one input mostly have the same fields
/// in the same order, so the place after the last one found is looked at first.
class IgnoredCount {
 public:
  /// The record in work, a number that differs from the one before; its fields follow.
  void begin_record() noexcept {
    ++record_;
    next_ = 0;
  }
  /// A field of it. One that stands twice counts once. `is_list()` is asked for the first one of a name.
  template <typename IsList>
  void add(std::string_view name, IsList&& is_list) {
    if (name.size() > kMaxIgnoredNameBytes) name = shortened(name);
    if (next_ >= all_.fields.size() || all_.fields[next_].name != name) {
      const std::size_t known = all_.fields.size();
      if (!find(name)) return;
      if (all_.fields.size() > known) all_.fields[next_].list = is_list();
    }
    if (records_[next_] != record_) {
      records_[next_] = record_;
      ++all_.fields[next_].samples;
    }
    ++next_;
  }
  const IgnoredFields& all() const noexcept { return all_; }
  void clear() {
    all_.fields.clear();
    all_.more = false;
    records_.clear();
  }

 private:
  static std::string_view shortened(std::string_view name) noexcept;
  /// Sets next_ to the place of `name`, a new one when it is not there; false when there is no room.
  bool find(std::string_view name);

  IgnoredFields all_;
  std::vector<std::uint64_t> records_;  // the last one that had each
  std::uint64_t record_ = 0;
  std::size_t next_ = 0;
};

/// What `from` counted is added to `to`.
void add_ignored(const IgnoredFields& from, IgnoredFields& to);

struct ParsedChunk {
  /// Samples before the failure, or all. Its loss_mask and labels hold those of the samples that have them,
  /// one after the other; label_form is not set. label_runs.h makes batches of one form out of it.
  SampleBatch batch;
  std::vector<FormRun> forms;            ///< of the samples, in order
  std::vector<std::uint32_t> lines;      ///< of each sample: 0-based line within the chunk
  std::uint64_t line_count = 0;          ///< all lines, blank ones included; of no use after a failure
  std::vector<std::uint32_t> ungrouped;  ///< samples that need a group key of their own
  std::vector<std::string> roles;        ///< texts of the local role numbers in the role column
  std::vector<std::uint32_t> role_first_sample;  ///< of each, where it appeared first
  IgnoredCount ignored;
  std::optional<Failure> failure;
  /// Set by the caller before parse(): look for zeros in attention_mask in this chunk's first records.
  bool look_at_attention = false;
  std::optional<std::uint32_t> masked_attention;  ///< the first sample where one was found

  void clear(const Schema& schema, const FieldTable& table);
  /// The sample just parsed has this form.
  void add_form(SampleBatch::Labels form) {
    if (forms.empty() || forms.back().form != form) forms.push_back({form, 0});
    ++forms.back().samples;
  }
  /// Keeps the first `samples` samples.
  void truncate(std::size_t samples, const Schema& schema, const FieldTable& table);
};

}  // namespace tokpack::input
