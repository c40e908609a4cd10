// tokpack dump --pack and --sequence.
#include <fmt/format.h>

#include <algorithm>

#include "describe.h"
#include "dump.h"
#include "text.h"

namespace tokpack::tools {

namespace {

struct Range {
  std::size_t first, last;
};

Range token_range(const PackView& pack, std::size_t sequence) {
  const auto cu = pack.cu_seqlens();
  return {static_cast<std::size_t>(cu[sequence]), static_cast<std::size_t>(cu[sequence + 1])};
}

Json numbers(const auto& values, Range range) {
  Json out = Json::array();
  for (std::size_t i = range.first; i < range.last; ++i) out.push_back(values[i]);
  return out;
}

Json label_numbers(const PackView& pack, Range range) {
  Json out = Json::array();
  for (std::size_t i = range.first; i < range.last; ++i) out.push_back(pack.stored_label(i));
  return out;
}

std::uint32_t first_position(const PackView& pack, std::size_t sequence) {
  const auto positions = pack.first_token_positions();
  return positions.empty() ? 0 : positions[sequence];
}

std::int32_t tail_label(const PackView& pack, std::size_t sequence, std::int32_t ignore_index) {
  const auto tails = pack.tail_labels();
  return tails.empty() ? ignore_index : tails[sequence];
}

Json pack_json(const Reader& reader, const PackView& pack) {
  const Range sequences{0, pack.sequences()};
  const Range tokens{0, pack.tokens().size()};
  Json json;
  json["pack"] = pack.pack();
  json["tokens"] = numbers(pack.tokens(), tokens);
  json["stored_labels"] = label_numbers(pack, tokens);
  json["cu_seqlens"] = numbers(pack.cu_seqlens(), {0, pack.cu_seqlens().size()});
  json["sources"] = numbers(pack.sources(), sequences);
  Json positions = Json::array();
  Json tails = Json::array();
  for (std::size_t s = 0; s < pack.sequences(); ++s) {
    positions.push_back(first_position(pack, s));
    tails.push_back(tail_label(pack, s, reader.header().ignore_index));
  }
  json["first_token_positions"] = std::move(positions);
  json["tail_labels"] = std::move(tails);
  json["columns"] = Json::object();
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const ColumnView column = take(pack.column(c), reader.path());
    if (column.scope != Scope::kFile) json["columns"][std::string(column.name)] = column_rows(column);
  }
  return json;
}

/// Rows [first, last) of a column of scope sequence or token, for one sequence.
Json some_rows(const ColumnView& column, Range range) {
  Json rows = Json::array();
  std::string text;
  for (std::size_t row = range.first; row < range.last; ++row) {
    text.clear();
    append_row(text, column, row, false);
    rows.push_back(Json::parse(text));
  }
  return rows;
}

Json sequence_json(const Reader& reader, const PackView& pack, std::size_t index) {
  const Range range = token_range(pack, index);
  Json json;
  json["sequence"] = pack.first_sequence() + index;
  json["pack"] = pack.pack();
  json["index_in_pack"] = index;
  json["source"] = pack.sources()[index];
  json["first_token_position"] = first_position(pack, index);
  json["tail_label"] = tail_label(pack, index, reader.header().ignore_index);
  json["tokens"] = numbers(pack.tokens(), range);
  json["stored_labels"] = label_numbers(pack, range);
  json["columns"] = Json::object();
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const ColumnView column = take(pack.column(c), reader.path());
    if (column.scope == Scope::kSequence)
      json["columns"][std::string(column.name)] = some_rows(column, {index, index + 1})[0];
    if (column.scope == Scope::kToken) json["columns"][std::string(column.name)] = some_rows(column, range);
  }
  return json;
}

std::string table_header() {
  return fmt::format("  {:>12} {:>14} {:>12} {:>10} {:>10} {:>10}\n", "sequence", "source", "from token",
                     "length", "targets", "tail");
}

std::string table_row(const Reader& reader, const PackView& pack, std::size_t index) {
  const Range range = token_range(pack, index);
  const std::int32_t ignore = reader.header().ignore_index;
  const std::int32_t tail = tail_label(pack, index, ignore);
  // A sequence's first token has nothing before it to predict it from; the tail label is a target besides.
  std::uint64_t targets = tail != ignore ? 1 : 0;
  for (std::size_t i = range.first + 1; i < range.last; ++i)
    targets += pack.stored_label(i) != ignore ? 1u : 0u;
  return fmt::format("  {:>12} {:>14} {:>12} {:>10} {:>10} {:>10}\n",
                     with_commas(pack.first_sequence() + index), with_commas(pack.sources()[index]),
                     with_commas(first_position(pack, index)), with_commas(range.last - range.first),
                     with_commas(targets), tail == ignore ? "-" : std::to_string(tail));
}

/// Ids, wrapped. An id that is not trained on stands in brackets; a label that is another id follows a colon.
std::string token_text(const PackView& pack, std::size_t index, std::int32_t ignore) {
  constexpr std::size_t kLine = 100;
  const Range range = token_range(pack, index);
  const TokenSpan tokens = pack.tokens();
  std::string out;
  std::string line = "   ";
  for (std::size_t i = range.first; i < range.last; ++i) {
    const std::int32_t label = pack.stored_label(i);
    std::string word = std::to_string(tokens[i]);
    if (label == ignore) {
      word = "[" + word + "]";
    } else if (static_cast<std::uint64_t>(label) != tokens[i]) {
      word += ":" + std::to_string(label);
    }
    if (line.size() + 1 + word.size() > kLine) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

std::string values_text(const Reader& reader, const PackView& pack, std::size_t index) {
  std::string out;
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const ColumnView column = take(pack.column(c), reader.path());
    if (column.scope != Scope::kSequence) continue;
    std::string value;
    append_row(value, column, index, true);
    out += fmt::format("    {} = {}\n", column.name, value);
  }
  return out;
}

std::string boundaries(const PackView& pack) {
  constexpr std::size_t kShown = 40;
  const auto cu = pack.cu_seqlens();
  std::string out = "  cu_seqlens  ";
  for (std::size_t i = 0; i < std::min(cu.size(), kShown); ++i) out += fmt::format("{} ", cu[i]);
  if (cu.size() > kShown) out += fmt::format("... {} ", cu.back());
  out.back() = '\n';
  return out;
}

std::string pack_line(const Reader& reader, const PackView& pack) {
  const double fill =
      static_cast<double>(pack.tokens().size()) / static_cast<double>(reader.header().capacity);
  return fmt::format("{}, pack {} of {}: {} of {} tokens, {}, {}\n\n  filled      [{}] {}\n",
                     terminal_safe(reader.path()), with_commas(pack.pack()), with_commas(reader.packs()),
                     with_commas(pack.tokens().size()), with_commas(reader.header().capacity),
                     counted(pack.sequences(), "sequence"), counted(pack.targets(), "training target"),
                     bar(fill, 50), percent(fill));
}

}  // namespace

void dump_pack(Output& out, const Reader& reader, const DumpArguments& arguments) {
  const PackView pack = take(reader.pack(*arguments.pack), reader.path());
  if (arguments.json) {
    print_json(out, pack_json(reader, pack));
    return;
  }
  out << pack_line(reader, pack) << boundaries(pack) << "\n" << table_header();
  const bool details = arguments.tokens;
  for (std::size_t s = 0; s < pack.sequences(); ++s) {
    out << table_row(reader, pack, s);
    if (details) out << token_text(pack, s, reader.header().ignore_index) << values_text(reader, pack, s);
  }
}

void dump_sequence(Output& out, const Reader& reader, const DumpArguments& arguments) {
  const SequenceLocation where = take(reader.locate(*arguments.sequence), reader.path());
  const PackView pack = take(reader.pack(where.pack), reader.path());
  const auto index = static_cast<std::size_t>(where.index_in_pack);
  if (arguments.json) {
    print_json(out, sequence_json(reader, pack, index));
    return;
  }
  out << fmt::format("{}, sequence {} of {}: number {} of {} in pack {}\n\n", terminal_safe(reader.path()),
                     with_commas(*arguments.sequence), with_commas(reader.sequences()), index,
                     counted(pack.sequences(), "sequence"), with_commas(where.pack));
  out << table_header() << table_row(reader, pack, index);
  if (arguments.tokens) out << token_text(pack, index, reader.header().ignore_index);
  out << values_text(reader, pack, index);
}

}  // namespace tokpack::tools
