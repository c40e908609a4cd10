// Lines of JSON into batches. Knows one chunk and the schema; what needs the order of chunks (role numbers
// over all inputs, keys for samples without a group, line numbers) is left to jsonl_source.cpp.
//
// Ownership: results own their data. Threads: a parser per thread; table, options and schema are shared and
// constant. Errors: Failure, codes 200.., kLabelsMissing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "parsed_chunk.h"

namespace tokpack::input {

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
