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
  std::optional<Failure> failure;

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
