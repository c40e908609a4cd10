// The parser's state and its steps over one record: record_parser.cpp drives them, record_labels.cpp and
// record_columns.cpp take what their names say. A step appends to the chunk, or fails and leaves the cutting
// back to the driver.
//
// Threads: one at a time. Throws std::bad_alloc. Errors: into `failure`.
#pragma once

#include <simdjson.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "line_diagnosis.h"
#include "record_parser.h"

namespace tokpack::input {

/// The fields of one record that have a meaning, by their number in the table.
struct Members {
  struct Member {
    simdjson::dom::element value;
    std::size_t place = 0;  // which member of the object
    bool present = false;
  };
  std::array<Member, kMaxFields> of{};
};

struct RecordParser::Impl {
  const JsonlOptions& options;
  const FieldTable& table;
  simdjson::dom::parser parser;
  Members members;
  std::vector<std::uint8_t> mask;  // of a record that has labels as well
  std::uint64_t token_limit, label_limit;
  std::string token_words, label_words;

  // The line in work.
  std::string_view line;
  std::string readable_line;  ///< stands in for a line with numbers that simdjson cannot read
  SampleBatch::Labels form = SampleBatch::Labels::kNone;
  Failure* failure = nullptr;
  ParsedChunk* chunk = nullptr;  // that the line's fields without a meaning are counted in; null = nowhere

  Impl(const JsonlOptions& o, const FieldTable& t);

  bool fail(Errc code, std::string text) {
    failure->code = code;
    failure->text = std::move(text);
    return false;
  }
  /// The value of a field, or an element of it, is not what it must be.
  bool fail_value(std::size_t place, std::string_view expected, ValuePath path = {}) {
    return fail(Errc::kJsonField, describe_value(line, place, path, expected));
  }

  bool collect(simdjson::dom::object object);
  void note_ignored(std::string_view key, simdjson::dom::element value);
  bool parse_line(ParsedChunk& out, const Schema& schema);
  simdjson::error_code parse_document(simdjson::dom::element& document);
  bool take_labels(ParsedChunk& out, const Schema& schema, std::size_t n);
  bool take_group(ParsedChunk& out, const Schema& schema);
  bool take_columns(ParsedChunk& out, const Schema& schema, std::size_t n);
  bool take_role(ParsedChunk& out, const Schema& schema, const Members::Member& member,
                 SampleBatch::Column& column);
  bool same_length(const Field& field, std::size_t found, std::size_t n);
  SampleBatch::Labels label_form() const;
  const Members::Member& member(const Field& field) const {
    return members.of[static_cast<std::size_t>(&field - table.fields.data())];
  }
  const Members::Member& column_member(std::size_t column) const {
    // Columns stand last in the table, in their order.
    return members.of[table.fields.size() - table.columns.size() + column];
  }
};

}  // namespace tokpack::input
