#include "record_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "json_arrays.h"
#include "line_reader.h"
#include "quote.h"
#include "record_impl.h"

namespace tokpack::input {
namespace {

namespace dom = simdjson::dom;
static_assert(kPaddingBytes >= simdjson::SIMDJSON_PADDING);

bool is_null(const dom::element& value) { return value.type() == dom::element_type::NULL_VALUE; }

}  // namespace

RecordParser::Impl::Impl(const JsonlOptions& o, const FieldTable& t) : options(o), table(t) {
  constexpr std::uint64_t kIds = std::uint64_t{format::kMaxTokenId} + 1;
  label_limit = options.vocab_size == 0 ? kIds : std::min<std::uint64_t>(options.vocab_size, kIds);
  token_limit = options.u16_only ? std::min<std::uint64_t>(label_limit, 65536) : label_limit;
  token_words = fmt::format("an integer from 0 to {}", token_limit - 1);
  label_words = fmt::format("{} or an integer from 0 to {}", options.ignore_index, label_limit - 1);
}

/// Sorts the object's members into `members`. A null counts as absent, as exporters write what is missing.
bool RecordParser::Impl::collect(dom::object object) {
  for (std::size_t i = 0; i < table.fields.size(); ++i) members.of[i].present = false;
  std::array<bool, kMaxFields> seen{};
  std::size_t place = 0;
  if (chunk != nullptr) chunk->ignored.begin_record();
  for (const dom::key_value_pair pair : object) {
    if (const Field* field = table.find(pair.key); field != nullptr && !field->ignored) {
      const auto number = static_cast<std::size_t>(field - table.fields.data());
      if (seen[number]) {
        return fail(Errc::kJsonField,
                    fmt::format("field \"{}\" stands twice in one record", escaped(pair.key)));
      }
      seen[number] = true;
      members.of[number] = {pair.value, place, !is_null(pair.value)};
    } else if (chunk != nullptr) {
      note_ignored(pair.key, pair.value);
    }
    ++place;
  }
  return true;
}

void RecordParser::Impl::note_ignored(std::string_view key, dom::element value) {
  if (is_null(value)) return;
  chunk->ignored.add(key, [&value] { return value.is_array(); });
  // Padded samples bring masks with zeros: their pads would be packed as tokens. A few records tell.
  constexpr std::size_t kRecords = 64;
  if (!chunk->look_at_attention || chunk->masked_attention || chunk->batch.samples() >= kRecords ||
      key != "attention_mask")
    return;
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  for (const dom::element element : array) {
    std::uint8_t bit = 1;
    if (!read_mask_bit(element, bit)) return;
    if (bit == 0) {
      chunk->masked_attention = static_cast<std::uint32_t>(chunk->batch.samples());
      return;
    }
  }
}

/// Parses `line`. A number that simdjson cannot read, where none is needed, does not cost the record.
simdjson::error_code RecordParser::Impl::parse_document(dom::element& document) {
  const auto code = parser.parse(line.data(), line.size(), false).get(document);
  if (code == simdjson::SUCCESS || code == simdjson::MEMALLOC) return code;
  auto readable = with_readable_numbers(line, [this](std::string_view key) {
    // An escaped key may be any field's.
    if (key.find('\\') != std::string_view::npos) return LargeNumber::kRefused;
    const Field* field = table.find(key);
    if (field == nullptr) return LargeNumber::kUnread;
    if (field->kind != FieldKind::kColumn) return LargeNumber::kRefused;
    const ElementType type = table.columns[field->column].type;
    const bool is_float =
        type == ElementType::kF16 || type == ElementType::kBF16 || type == ElementType::kF32;
    return is_float ? LargeNumber::kFloat : LargeNumber::kRefused;
  });
  if (!readable) return code;
  readable_line = std::move(*readable);
  const auto again = parser.parse(readable_line.data(), readable_line.size(), true).get(document);
  if (again == simdjson::SUCCESS) line = readable_line;
  return again == simdjson::SUCCESS || again == simdjson::MEMALLOC ? again : code;
}

bool RecordParser::Impl::parse_line(ParsedChunk& out, const Schema& schema) {
  dom::element document;
  const auto code = parse_document(document);
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
  impl.chunk = nullptr;
  dom::element document;
  dom::object object;
  const auto code = impl.parse_document(document);
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
  if (code != simdjson::SUCCESS) return std::nullopt;
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
  impl.chunk = &out;
  out.line_count = for_each_line(text, [&](std::string_view line, std::uint64_t number, std::size_t offset) {
    const std::size_t samples = out.batch.samples();
    impl.line = line;
    if (impl.parse_line(out, schema)) {
      out.add_form(impl.form);
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
