#include "jsonl_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "quote.h"

namespace tokpack::input {
namespace {

constexpr std::array<std::string_view, 3> kKnownMasks = {"loss_mask", "completion_mask", "assistant_masks"};

Error bad_option(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

}  // namespace

std::string_view label_form_words(SampleBatch::Labels form) noexcept {
  if (form == SampleBatch::Labels::kLabels) return "labels";
  return form == SampleBatch::Labels::kMask ? "a loss mask" : "no labels";
}

Result<FieldTable> make_field_table(const JsonlOptions& options) {
  FieldTable table;
  table.fields = {
      {"input_ids", FieldKind::kTokens}, {"tokens", FieldKind::kTokens}, {"labels", FieldKind::kLabels}};
  for (const std::string_view mask : kKnownMasks)
    table.fields.push_back({std::string(mask), FieldKind::kMask});
  for (const std::string& mask : options.mask_fields) {
    const auto known = std::ranges::find(table.fields, mask, &Field::name);
    if (known == table.fields.end()) {
      table.fields.push_back({mask, FieldKind::kMask, true});
    } else if (known->kind == FieldKind::kMask) {
      known->required_mask = true;
    } else {
      return bad_option(fmt::format("mask field \"{}\" has another meaning already", escaped(mask)));
    }
  }
  const auto add = [&table](Field field) {
    const bool fresh = table.find(field.name) == nullptr;
    if (fresh) table.fields.push_back(std::move(field));
    return fresh;
  };
  if (!options.group_field.empty() && !add({options.group_field, FieldKind::kGroup})) {
    return bad_option(
        fmt::format("group field \"{}\" has another meaning already", escaped(options.group_field)));
  }
  table.columns = options.columns;
  table.declared = options.columns.size();
  for (const ColumnSpec& column : options.columns) {
    if (auto good = check_column(column); !good) return good.error();
  }
  const auto place = [&table](std::string_view name, ElementType type) {
    const auto found = std::ranges::find(table.columns, name, &ColumnSpec::name);
    const auto at = static_cast<std::size_t>(found - table.columns.begin());
    if (found == table.columns.end()) table.columns.push_back({std::string(name), type});
    return at;
  };
  table.role = place("role", ElementType::kU8);
  table.weight = place("weight", ElementType::kF32);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!add({table.columns[i].name, FieldKind::kColumn, false, i})) {
      return bad_option(
          fmt::format("column \"{}\": a field of that name has another meaning already, or the "
                      "column stands twice",
                      escaped(table.columns[i].name)));
    }
  }
  for (const std::string& name : options.ignore_fields) {
    const auto field = std::ranges::find(table.fields, name, &Field::name);
    if (field == table.fields.end()) continue;  // has no meaning in any case
    const bool declared = field->kind == FieldKind::kColumn && field->column < table.declared;
    const bool named_group = field->kind == FieldKind::kGroup && name != JsonlOptions{}.group_field;
    if (declared || field->required_mask || named_group) {
      return bad_option(fmt::format(
          "field \"{}\" is to be ignored and named as a {} as well; give one of the two", escaped(name),
          declared      ? "column"
          : named_group ? "group"
                        : "mask"));
    }
    field->ignored = true;
  }
  if (table.fields.size() > kMaxFields) {
    return bad_option(
        fmt::format("{} fields are named, at most {} are possible", table.fields.size(), kMaxFields));
  }
  return table;
}

}  // namespace tokpack::input
