// Lines of JSON into batches. Knows one chunk and the schema; what needs the order of chunks (role numbers
// over all inputs, keys for samples without a group, line numbers) is left to jsonl_source.cpp.
//
// Ownership: results own their data. Threads: a parser per thread; table, options and schema are shared and
// constant. Errors: Failure, codes 200.., kLabelsMissing.
#pragma once

#include <cstdint>
#include <memory>
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

class RecordParser {
 public:
  RecordParser(const JsonlOptions& options, const FieldTable& table);
  ~RecordParser();
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;

  /// The shape of a line's record; nothing when it is damaged. Throws std::bad_alloc, as parse() does.
  std::optional<RecordShape> shape_of(std::string_view line);

  /// `text` is whole lines with kPaddingBytes readable bytes behind them.
  void parse(std::string_view text, const Schema& schema, ParsedChunk& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Calls `use(line, number, offset)` for each line that is not blank until it returns false; returns the
/// number of lines seen. A blank line is empty or JSON white space.
template <typename Use>
std::uint64_t for_each_line(std::string_view text, Use&& use) {
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline;
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !use(line, number, begin)) return number;
    begin = end + 1;
  }
  return number;
}

}  // namespace tokpack::input
