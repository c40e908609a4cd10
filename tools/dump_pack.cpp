// tokpack dump --pack and --sequence.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "describe.h"
#include "dump.h"
#include "text.h"
#include "tokpack/core/metadata.h"
#include "tokpack/format/bytes.h"

namespace tokpack::tools {

namespace {

struct Range {
  std::size_t first, last;
};

/// Of the sequence's tokens in its pack.
Range token_range(const SequenceView& sequence) {
  const std::size_t first = sequence.first_token_in_pack();
  return {first, first + sequence.tokens().size()};
}

/// The columns that a pack has rows of, by name.
std::map<std::string, ColumnView> columns_of(const Reader& reader, const PackView& pack) {
  std::map<std::string, ColumnView> out;
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    ColumnView column = take(pack.column(c), reader.path());
    if (column.scope != Scope::kFile) out.emplace(column.name, std::move(column));
  }
  return out;
}

/// Of row `i` of a column, as JSON.
auto rows_of(const ColumnView& column) {
  return [&column, text = std::string()](std::size_t i) mutable {
    text.clear();
    append_row(text, column, i, false);
    return Json::parse(text);
  };
}

void print_pack_json(Output& out, const Reader& reader, const PackView& pack) {
  const std::map<std::string, ColumnView> columns = columns_of(reader, pack);
  const Range sequences{0, pack.sequences()};
  const Range tokens{0, pack.tokens().size()};
  const auto cu_seqlens = pack.cu_seqlens();
  const SourceSpan sources = pack.sources();
  const TokenSpan ids = pack.tokens();
  JsonObjectPrinter json(out);
  JsonObjectPrinter inner = json.object("columns");
  for (const auto& [name, column] : columns)
    inner.list(name, 0, static_cast<std::size_t>(column.rows), rows_of(column));
  inner.end();
  json.list("cu_seqlens", 0, cu_seqlens.size(), [&](std::size_t i) { return Json(cu_seqlens[i]); });
  json.list("first_token_positions", sequences.first, sequences.last,
            [&](std::size_t s) { return Json(pack.sequence(s).first_token_position()); });
  json.member("pack", pack.pack());
  json.list("sources", sequences.first, sequences.last, [&](std::size_t s) { return Json(sources[s]); });
  json.list("stored_labels", tokens.first, tokens.last,
            [&](std::size_t i) { return Json(pack.stored_label(i)); });
  json.list("tail_labels", sequences.first, sequences.last,
            [&](std::size_t s) { return Json(pack.sequence(s).tail_label()); });
  json.list("tokens", tokens.first, tokens.last, [&](std::size_t i) { return Json(ids[i]); });
  json.end();
  out << "\n";
}

void print_sequence_json(Output& out, const Reader& reader, const SequenceView& sequence) {
  const PackView& pack = sequence.pack();
  const std::map<std::string, ColumnView> columns = columns_of(reader, pack);
  const std::size_t index = sequence.index_in_pack();
  const Range range = token_range(sequence);
  const TokenSpan ids = pack.tokens();
  JsonObjectPrinter json(out);
  JsonObjectPrinter inner = json.object("columns");
  for (const auto& [name, column] : columns) {
    if (column.scope == Scope::kSequence) inner.member(name, rows_of(column)(index));
    if (column.scope == Scope::kToken) inner.list(name, range.first, range.last, rows_of(column));
  }
  inner.end();
  json.member("first_token_position", sequence.first_token_position());
  json.member("index_in_pack", index);
  json.member("pack", pack.pack());
  json.member("sequence", sequence.number());
  json.member("source", sequence.source());
  json.list("stored_labels", range.first, range.last,
            [&](std::size_t i) { return Json(pack.stored_label(i)); });
  json.member("tail_label", sequence.tail_label());
  json.list("tokens", range.first, range.last, [&](std::size_t i) { return Json(ids[i]); });
  json.end();
  out << "\n";
}

/// The columns `group` and `role` of one pack, where the file has them, and the names of the roles.
class Membership {
 public:
  Membership(const Reader& reader, const PackView& pack) {
    for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
      const std::string_view name = column_entry(reader, c).name_view();
      if (name == "group") group_ = take(pack.column(c), reader.path());
      if (name == "role") role_ = take(pack.column(c), reader.path());
    }
    if (!role_) return;
    // Without metadata, or with damaged ones, roles are numbers.
    const auto text = reader.metadata_json();
    if (!text) return;
    if (auto metadata = parse_metadata(*text)) names_ = std::move(metadata->roles);
  }

  std::string header() const {
    return (group_ ? fmt::format(" {:>10}", "group") : "") + (role_ ? "  role" : "");
  }
  std::string cells(std::size_t index) const {
    std::string out;
    if (group_)
      out += fmt::format(" {:>10}", with_commas(format::load<std::uint32_t>(group_->values, index * 4)));
    if (role_) {
      const std::optional<std::string> name = role_name(index);
      out += "  " + (name ? *name : std::to_string(role_number(index)));
    }
    return out;
  }
  /// " (NAME)" for the role of a sequence, or nothing.
  std::string role_in_brackets(std::size_t index) const {
    const std::optional<std::string> name = role_name(index);
    return name ? fmt::format(" ({})", *name) : "";
  }

 private:
  std::size_t role_number(std::size_t index) const {
    return std::to_integer<std::size_t>(role_->values[index]);
  }
  std::optional<std::string> role_name(std::size_t index) const {
    if (!role_ || role_number(index) >= names_.size()) return std::nullopt;
    return terminal_safe(names_[role_number(index)]);
  }

  std::optional<ColumnView> group_, role_;
  std::vector<std::string> names_;
};

std::string table_header(const Membership& members) {
  return fmt::format("  {:>12} {:>14} {:>12} {:>10} {:>10} {:>10}{}\n", "sequence", "source", "from token",
                     "length", "targets", "tail", members.header());
}

std::string table_row(const SequenceView& sequence, const Membership& members) {
  const std::int32_t ignore = sequence.pack().ignore_index();
  const std::int32_t tail = sequence.tail_label();
  const std::size_t length = sequence.tokens().size();
  // A sequence's first token has nothing before it to predict it from; the tail label is a target besides.
  std::uint64_t targets = tail != ignore ? 1 : 0;
  for (std::size_t i = 1; i < length; ++i) targets += sequence.stored_label(i) != ignore ? 1u : 0u;
  return fmt::format("  {:>12} {:>14} {:>12} {:>10} {:>10} {:>10}{}\n", with_commas(sequence.number()),
                     with_commas(sequence.source()), with_commas(sequence.first_token_position()),
                     with_commas(length), with_commas(targets), tail == ignore ? "-" : std::to_string(tail),
                     members.cells(sequence.index_in_pack()));
}

/// Words in lines of at most kLine characters behind `indent`.
class Wrapped {
 public:
  explicit Wrapped(std::string indent) : line_(indent), indent_(std::move(indent)) {}
  void add(std::string_view word) {
    constexpr std::size_t kLine = 100;
    if (line_.size() + 1 + word.size() > kLine) {
      out_ += line_ + "\n";
      line_ = indent_;
    }
    line_.append(" ").append(word);
  }
  std::string text() const { return out_ + line_ + "\n"; }

 private:
  std::string out_, line_, indent_;
};

/// Ids, wrapped. An id that is not trained on stands in brackets; a label that is another id follows a colon.
std::string token_text(const SequenceView& sequence) {
  const TokenSpan tokens = sequence.tokens();
  Wrapped ids("   ");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t label = sequence.stored_label(i);
    std::string word = std::to_string(tokens[i]);
    if (label == sequence.pack().ignore_index()) {
      word = "[" + word + "]";
    } else if (static_cast<std::uint64_t>(label) != tokens[i]) {
      word += ":" + std::to_string(label);
    }
    ids.add(word);
  }
  return ids.text();
}

/// Columns that have a row for each token.
std::string token_columns_text(const Reader& reader, const SequenceView& sequence) {
  std::string out;
  const Range tokens = token_range(sequence);
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const ColumnView column = take(sequence.pack().column(c), reader.path());
    if (column.scope != Scope::kToken) continue;
    Wrapped rows("     ");
    for (std::size_t i = tokens.first; i < tokens.last; ++i) {
      std::string value;
      append_row(value, column, i, true);
      rows.add(value);
    }
    out += fmt::format("    {} (one a token) =\n{}", column.name, rows.text());
  }
  return out;
}

std::string values_text(const Reader& reader, const SequenceView& sequence, const Membership& members) {
  std::string out;
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const ColumnView column = take(sequence.pack().column(c), reader.path());
    if (column.scope != Scope::kSequence) continue;
    std::string value;
    append_row(value, column, sequence.index_in_pack(), true);
    if (column.name == "role") value += members.role_in_brackets(sequence.index_in_pack());
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
  const double fill = utilization(pack.tokens().size(), 1, reader.header().capacity);
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
    print_pack_json(out, reader, pack);
    return;
  }
  const Membership members(reader, pack);
  out << pack_line(reader, pack) << boundaries(pack) << "\n" << table_header(members);
  const bool details = arguments.tokens;
  for (std::size_t s = 0; s < pack.sequences(); ++s) {
    const SequenceView sequence = pack.sequence(s);
    out << table_row(sequence, members);
    if (details)
      out << token_text(sequence) << token_columns_text(reader, sequence)
          << values_text(reader, sequence, members);
  }
}

void dump_sequence(Output& out, const Reader& reader, const DumpArguments& arguments) {
  const SequenceLocation where = take(reader.locate(*arguments.sequence), reader.path());
  const PackView pack = take(reader.pack(where.pack), reader.path());
  const SequenceView sequence = pack.sequence(static_cast<std::size_t>(where.index_in_pack));
  if (arguments.json) {
    print_sequence_json(out, reader, sequence);
    return;
  }
  out << fmt::format("{}, sequence {} of {}: number {} of {} in pack {}\n\n", terminal_safe(reader.path()),
                     with_commas(*arguments.sequence), with_commas(reader.sequences()),
                     sequence.index_in_pack(), counted(pack.sequences(), "sequence"),
                     with_commas(where.pack));
  const Membership members(reader, pack);
  out << table_header(members) << table_row(sequence, members);
  if (arguments.tokens) out << token_text(sequence) << token_columns_text(reader, sequence);
  out << values_text(reader, sequence, members);
}

}  // namespace tokpack::tools
