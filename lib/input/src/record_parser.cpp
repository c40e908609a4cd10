#include "record_parser.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "column_values.h"
#include "json_arrays.h"
#include "line_diagnosis.h"
#include "line_reader.h"
#include "quote.h"
#include "tokpack/format/checksum.h"

namespace tokpack::input {
namespace {

namespace dom = simdjson::dom;
static_assert(kPaddingBytes >= simdjson::SIMDJSON_PADDING);

using Labels = SampleBatch::Labels;
constexpr std::size_t kMaxRoles = 256;

/// The fields of one record that have a meaning, by their number in the table.
struct Members {
  struct Member {
    dom::element value;
    std::size_t place = 0;  // which member of the object
    bool present = false;
  };
  std::array<Member, kMaxFields> of{};
};

bool is_null(const dom::element& value) { return value.type() == dom::element_type::NULL_VALUE; }

}  // namespace

void ParsedChunk::clear(const Schema& schema, const FieldTable& table) {
  batch.tokens.clear();
  batch.lengths.clear();
  batch.label_form = schema.shape.labels;
  batch.loss_mask.clear();
  batch.labels.clear();
  batch.groups.clear();
  batch.columns.resize(schema.columns.size());
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    batch.columns[i].values.clear();
    batch.columns[i].offsets.clear();
    if (table.columns[schema.columns[i]].ragged) batch.columns[i].offsets.push_back(0);
  }
  lines.clear();
  line_count = 0;
  ungrouped.clear();
  roles.clear();
  role_first_sample.clear();
  failure.reset();
}

void ParsedChunk::truncate(std::size_t samples, const Schema& schema, const FieldTable& table) {
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < samples; ++i) tokens += batch.lengths[i];
  const auto shorten = [](auto& vector, std::size_t size) {
    if (vector.size() > size) vector.resize(size);
  };
  shorten(batch.lengths, samples);
  shorten(batch.tokens, tokens);
  shorten(batch.loss_mask, tokens);
  shorten(batch.labels, tokens);
  shorten(batch.groups, samples);
  shorten(lines, samples);
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const ColumnSpec& spec = table.columns[schema.columns[i]];
    auto& column = batch.columns[i];
    if (spec.ragged) shorten(column.offsets, samples + 1);
    const std::size_t rows = spec.ragged                   ? static_cast<std::size_t>(column.offsets.back())
                             : spec.scope == Scope::kToken ? tokens
                                                           : samples;
    shorten(column.values, rows * spec.width * format::element_bytes(spec.type));
  }
  std::erase_if(ungrouped, [samples](std::uint32_t sample) { return sample >= samples; });
  while (!role_first_sample.empty() && role_first_sample.back() >= samples) {
    role_first_sample.pop_back();
    roles.pop_back();
  }
}

struct RecordParser::Impl {
  const JsonlOptions& options;
  const FieldTable& table;
  dom::parser parser;
  Members members;
  std::vector<std::uint8_t> mask;  // of a record that has labels as well
  std::uint64_t token_limit, label_limit;
  std::string token_words, label_words;

  // The line in work.
  std::string_view line;
  Failure* failure = nullptr;

  Impl(const JsonlOptions& o, const FieldTable& t) : options(o), table(t) {
    constexpr std::uint64_t kIds = std::uint64_t{format::kMaxTokenId} + 1;
    label_limit = options.vocab_size == 0 ? kIds : std::min<std::uint64_t>(options.vocab_size, kIds);
    token_limit = options.u16_only ? std::min<std::uint64_t>(label_limit, 65536) : label_limit;
    token_words = fmt::format("an integer from 0 to {}", token_limit - 1);
    label_words = fmt::format("{} or an integer from 0 to {}", options.ignore_index, label_limit - 1);
  }

  bool fail(Errc code, std::string text) {
    failure->code = code;
    failure->text = std::move(text);
    return false;
  }
  /// The value of a field, or an element of it, is not what it must be.
  bool fail_value(std::size_t place, std::string_view expected, ValuePath path = {}) {
    return fail(Errc::kJsonField, describe_value(line, place, path, expected));
  }

  bool collect(dom::object object);
  bool parse_line(ParsedChunk& out, const Schema& schema);
  bool take_labels(ParsedChunk& out, const Schema& schema, std::size_t n);
  bool take_group(ParsedChunk& out, const Schema& schema);
  bool take_columns(ParsedChunk& out, const Schema& schema, std::size_t n);
  bool take_role(ParsedChunk& out, const Schema& schema, const Members::Member& member,
                 SampleBatch::Column& column);
  bool same_length(const Field& field, std::size_t found, std::size_t n);
  Labels label_form() const;
  const Members::Member& member(const Field& field) const {
    return members.of[static_cast<std::size_t>(&field - table.fields.data())];
  }
  const Members::Member& column_member(std::size_t column) const {
    // Columns stand last in the table, in their order.
    return members.of[table.fields.size() - table.columns.size() + column];
  }
};

/// Sorts the object's members into `members`. A null counts as absent, as exporters write what is missing.
bool RecordParser::Impl::collect(dom::object object) {
  for (std::size_t i = 0; i < table.fields.size(); ++i) members.of[i].present = false;
  std::array<bool, kMaxFields> seen{};
  std::size_t place = 0;
  for (const dom::key_value_pair pair : object) {
    if (const Field* field = table.find(pair.key)) {
      const auto number = static_cast<std::size_t>(field - table.fields.data());
      if (seen[number]) {
        return fail(Errc::kJsonField,
                    fmt::format("field \"{}\" stands twice in one record", escaped(pair.key)));
      }
      seen[number] = true;
      members.of[number] = {pair.value, place, !is_null(pair.value)};
    }
    ++place;
  }
  return true;
}

Labels RecordParser::Impl::label_form() const {
  Labels form = Labels::kNone;
  for (const Field& field : table.fields) {
    if (!member(field).present) continue;
    if (field.kind == FieldKind::kLabels) return Labels::kLabels;
    if (field.kind == FieldKind::kMask) form = Labels::kMask;
  }
  return form;
}

bool RecordParser::Impl::same_length(const Field& field, std::size_t found, std::size_t n) {
  if (found == n) return true;
  return fail(Errc::kJsonField,
              fmt::format("field \"{}\" has {} elements, the tokens are {}; both must be equal",
                          escaped(field.name), found, n));
}

namespace {

/// Gives the samples so far the label form `form`: what has none is trained in full.
void raise_label_form(SampleBatch& batch, Labels form, std::size_t tokens, std::int32_t ignore_index) {
  if (form <= batch.label_form) return;
  if (batch.label_form == Labels::kNone && form == Labels::kMask) {
    batch.loss_mask.assign(tokens, 1);
  } else {
    const bool masked = batch.label_form == Labels::kMask;
    batch.labels.resize(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      batch.labels[i] =
          masked && batch.loss_mask[i] == 0 ? ignore_index : static_cast<std::int32_t>(batch.tokens[i]);
    }
    batch.loss_mask.clear();
  }
  batch.label_form = form;
}

}  // namespace

bool RecordParser::Impl::take_labels(ParsedChunk& out, const Schema& schema, std::size_t n) {
  SampleBatch& batch = out.batch;
  const std::size_t base = batch.tokens.size() - n;
  const Labels form = label_form();
  if (form != schema.shape.labels && options.missing_labels == MissingLabels::kError) {
    return fail(
        Errc::kLabelsMissing,
        fmt::format("this record has {}, but the first record, {}, has {}; give all records the same, or "
                    "let those without labels be trained in full with --missing-labels train",
                    label_form_words(form), schema.first, label_form_words(schema.shape.labels)));
  }
  raise_label_form(batch, form, base, options.ignore_index);

  // Masks are and-ed where they are stored, or beside the labels that they thin out.
  const bool store_mask = batch.label_form == Labels::kMask;
  std::uint8_t* bits = nullptr;
  if (store_mask) {
    batch.loss_mask.resize(base + n, 1);
    bits = batch.loss_mask.data() + base;
  }
  bool any_mask = false;
  for (const Field& field : table.fields) {
    if (field.kind != FieldKind::kMask) continue;
    const Members::Member& value = member(field);
    if (!value.present) {
      if (field.required_mask && options.missing_labels == MissingLabels::kError) {
        return fail(
            Errc::kLabelsMissing,
            fmt::format("the mask field \"{}\" is missing; it was named, so every record must have it",
                        escaped(field.name)));
      }
      continue;
    }
    if (!any_mask && !store_mask) {
      mask.assign(n, 1);
      bits = mask.data();
    }
    any_mask = true;
    dom::array array;
    if (value.value.get_array().get(array) != simdjson::SUCCESS) {
      return fail_value(value.place, "a list of 0 and 1");
    }
    if (!same_length(field, count_elements(array), n)) return false;
    const std::size_t bad = and_mask(array, bits);
    if (bad != kAllGood) return fail_value(value.place, "0, 1, false or true", {bad});
  }
  if (batch.label_form != Labels::kLabels) return true;

  const Field& labels_field = *std::ranges::find(table.fields, FieldKind::kLabels, &Field::kind);
  const Members::Member& labels = member(labels_field);
  if (labels.present) {
    dom::array array;
    if (labels.value.get_array().get(array) != simdjson::SUCCESS)
      return fail_value(labels.place, "a list of labels");
    if (!same_length(labels_field, count_elements(array), n)) return false;
    const std::size_t bad = append_labels(array, label_limit, options.ignore_index, batch.labels);
    if (bad != kAllGood) return fail_value(labels.place, label_words, {bad});
  } else {
    for (std::size_t i = 0; i < n; ++i)
      batch.labels.push_back(static_cast<std::int32_t>(batch.tokens[base + i]));
  }
  if (any_mask) {
    for (std::size_t i = 0; i < n; ++i) {
      if (bits[i] == 0) batch.labels[base + i] = options.ignore_index;
    }
  }
  return true;
}

bool RecordParser::Impl::take_group(ParsedChunk& out, const Schema& schema) {
  const Field& field = *std::ranges::find(table.fields, FieldKind::kGroup, &Field::kind);
  const Members::Member& group = member(field);
  if (!schema.shape.group) {
    if (!group.present) return true;
    return fail(
        Errc::kJsonField,
        fmt::format("field \"{}\" stands here but not in the first record, {}; the first record decides "
                    "whether samples are grouped",
                    escaped(field.name), schema.first));
  }
  std::uint64_t key = 0;
  if (!group.present) {
    out.ungrouped.push_back(static_cast<std::uint32_t>(out.batch.samples() - 1));
  } else {
    std::string_view text;
    std::int64_t number;
    if (group.value.get_string().get(text) == simdjson::SUCCESS) {
      key = format::xxh3_64(std::as_bytes(std::span(text)));
    } else if (group.value.get_int64().get(number) == simdjson::SUCCESS) {
      key = static_cast<std::uint64_t>(number);
    } else if (group.value.get_uint64().get(key) != simdjson::SUCCESS) {
      return fail_value(group.place, "a string or an integer");
    }
  }
  out.batch.groups.push_back(key);
  return true;
}

bool RecordParser::Impl::take_role(ParsedChunk& out, const Schema& schema, const Members::Member& role,
                                   SampleBatch::Column& column) {
  std::string_view text;
  if (schema.shape.role_is_text) {
    if (role.value.get_string().get(text) != simdjson::SUCCESS) {
      return fail_value(role.place, "a string, as in the first record");
    }
    const auto found = std::ranges::find(out.roles, text);
    const auto number = static_cast<std::size_t>(found - out.roles.begin());
    if (found == out.roles.end()) {
      if (number == kMaxRoles) return fail_value(role.place, "one of at most 256 different roles");
      if (text.size() > 256) return fail_value(role.place, "a role of at most 256 bytes");
      out.roles.emplace_back(text);
      out.role_first_sample.push_back(static_cast<std::uint32_t>(out.batch.samples() - 1));
    }
    column.values.push_back(static_cast<std::byte>(number));
    return true;
  }
  std::int64_t number;
  if (role.value.get_int64().get(number) != simdjson::SUCCESS || number < 0 || number > 255) {
    return fail_value(role.place, "an integer from 0 to 255");
  }
  column.values.push_back(static_cast<std::byte>(number));
  return true;
}

bool RecordParser::Impl::take_columns(ParsedChunk& out, const Schema& schema, std::size_t n) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const std::size_t which = schema.columns[i];
    const ColumnSpec& spec = table.columns[which];
    const Members::Member& value = column_member(which);
    if (!value.present) {
      return fail(
          Errc::kJsonField,
          fmt::format("field \"{}\" is missing; {}", escaped(spec.name),
                      which < table.declared
                          ? std::string("it is declared as a column, so every record must have it")
                          : fmt::format("the first record, {}, has it, so every record must", schema.first)));
    }
    if (which == table.role) {
      if (!take_role(out, schema, value, out.batch.columns[i])) return false;
    } else if (auto fault = append_column(value.value, spec, n, out.batch.columns[i])) {
      return fail_value(value.place, fault->expected, fault->path);
    }
  }
  // Role and weight that the first record did not bring would be lost in silence.
  for (std::size_t which = table.declared; which < table.columns.size(); ++which) {
    const bool brought = which == table.role ? schema.shape.role : schema.shape.weight;
    if (brought || !column_member(which).present) continue;
    return fail(Errc::kJsonField,
                fmt::format("field \"{}\" stands here but not in the first record, {}, which "
                            "decides what all have",
                            table.columns[which].name, schema.first));
  }
  return true;
}

bool RecordParser::Impl::parse_line(ParsedChunk& out, const Schema& schema) {
  dom::element document;
  const auto code = parser.parse(line.data(), line.size(), false).get(document);
  if (code != simdjson::SUCCESS) {
    if (code == simdjson::MEMALLOC) return fail(Errc::kOutOfMemory, "no memory to parse this line");
    const SyntaxProblem problem = explain_syntax(line, simdjson::error_message(code));
    return fail(problem.code, problem.text);
  }
  dom::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) {
    return fail(Errc::kJsonSyntax, fmt::format("expected one JSON object a line, found {}", escaped(line)));
  }
  if (!collect(object)) return false;
  const Members::Member &input_ids = members.of[0], &plain_tokens = members.of[1];
  if (input_ids.present == plain_tokens.present) {
    return fail(Errc::kJsonField, input_ids.present
                                      ? "the record has both \"input_ids\" and \"tokens\"; give one"
                                      : "the record has neither \"input_ids\" nor \"tokens\"");
  }
  const Members::Member& ids = input_ids.present ? input_ids : plain_tokens;
  dom::array array;
  if (ids.value.get_array().get(array) != simdjson::SUCCESS)
    return fail_value(ids.place, "a list of token ids");
  const std::size_t before = out.batch.tokens.size();
  const std::size_t bad = append_ids(array, token_limit, out.batch.tokens);
  if (bad != kAllGood) return fail_value(ids.place, token_words, {bad});
  const std::size_t n = out.batch.tokens.size() - before;
  out.batch.lengths.push_back(static_cast<std::uint32_t>(n));
  return take_labels(out, schema, n) && take_group(out, schema) && take_columns(out, schema, n);
}

RecordParser::RecordParser(const JsonlOptions& options, const FieldTable& table)
    : impl_(std::make_unique<Impl>(options, table)) {}
RecordParser::~RecordParser() = default;

std::optional<RecordShape> RecordParser::shape_of(std::string_view line) {
  RecordShape shape;
  Failure ignored;
  Impl& impl = *impl_;
  impl.line = line;
  impl.failure = &ignored;
  dom::element document;
  dom::object object;
  if (impl.parser.parse(line.data(), line.size(), false).get(document) != simdjson::SUCCESS)
    return std::nullopt;
  if (document.get_object().get(object) != simdjson::SUCCESS || !impl.collect(object)) return std::nullopt;
  shape.labels = impl.label_form();
  for (const Field& field : impl.table.fields) {
    if (field.kind == FieldKind::kGroup) shape.group = impl.member(field).present;
  }
  const Members::Member& role = impl.column_member(impl.table.role);
  shape.role = role.present;
  shape.role_is_text = role.present && role.value.is_string();
  shape.weight = impl.column_member(impl.table.weight).present;
  return shape;
}

void RecordParser::parse(std::string_view text, const Schema& schema, ParsedChunk& out) {
  Impl& impl = *impl_;
  out.clear(schema, impl.table);
  Failure failure;
  impl.failure = &failure;
  out.line_count = for_each_line(text, [&](std::string_view line, std::uint64_t number, std::size_t offset) {
    const std::size_t samples = out.batch.samples();
    impl.line = line;
    if (impl.parse_line(out, schema)) {
      out.lines.push_back(static_cast<std::uint32_t>(number));
      return true;
    }
    failure.line = number;
    failure.offset = offset;
    out.truncate(samples, schema, impl.table);
    out.failure = std::move(failure);
    return false;
  });
}

}  // namespace tokpack::input
