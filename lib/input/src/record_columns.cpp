// Group and columns of one record.

#include <fmt/format.h>

#include <algorithm>

#include "column_values.h"
#include "group_key.h"
#include "quote.h"
#include "record_impl.h"

namespace tokpack::input {
namespace {

constexpr std::size_t kMaxRoleBytes = 256;  // every exported sample repeats the name

}  // namespace

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
    std::uint64_t large;
    if (group.value.get_string().get(text) == simdjson::SUCCESS) {
      key = group_key(text);
    } else if (group.value.get_int64().get(number) == simdjson::SUCCESS) {
      key = group_key(number);
    } else if (group.value.get_uint64().get(large) == simdjson::SUCCESS) {
      key = group_key(large);
    } else {
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
      return fail_value(role.place, "a string, one per sample, as in the first record");
    }
    const auto found = std::ranges::find(out.roles, text);
    const auto number = static_cast<std::size_t>(found - out.roles.begin());
    if (found == out.roles.end()) {
      if (number == kMaxRoles)
        return fail_value(role.place, fmt::format("one of at most {} different roles", kMaxRoles));
      if (text.size() > kMaxRoleBytes)
        return fail_value(role.place, fmt::format("a role of at most {} bytes", kMaxRoleBytes));
      out.roles.emplace_back(text);
      out.role_first_sample.push_back(static_cast<std::uint32_t>(out.batch.samples() - 1));
    }
    column.values.push_back(static_cast<std::byte>(number));
    return true;
  }
  if (role.value.is_string())
    return fail_value(role.place, "an integer from 0 to 255, as in the first record");
  if (!role.value.is_number()) {
    return fail_value(role.place, "a string, or an integer from 0 to 255, one per sample");
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
          fmt::format(
              "field \"{}\" is missing; {}", escaped(spec.name),
              which < table.declared
                  ? std::string("it is declared as a column, so every record must have it")
                  : fmt::format("the first record, {}, has it, so every record must; give it to all or "
                                "ignore it",
                                schema.first)));
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
                            "decides what all have; give it to all or ignore it",
                            table.columns[which].name, schema.first));
  }
  return true;
}

}  // namespace tokpack::input
