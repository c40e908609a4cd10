// Labels and masks of one record.

#include <fmt/format.h>

#include <algorithm>

#include "json_arrays.h"
#include "quote.h"
#include "record_impl.h"

namespace tokpack::input {

namespace dom = simdjson::dom;
using Labels = SampleBatch::Labels;

Labels RecordParser::Impl::label_form() const {
  Labels found = Labels::kNone;
  for (const Field& field : table.fields) {
    if (!member(field).present) continue;
    if (field.kind == FieldKind::kLabels) return Labels::kLabels;
    if (field.kind == FieldKind::kMask) found = Labels::kMask;
  }
  return found;
}

bool RecordParser::Impl::same_length(const Field& field, std::size_t found, std::size_t n) {
  if (found == n) return true;
  return fail(Errc::kJsonField,
              fmt::format("field \"{}\" has {} element{}, the tokens are {}; both must be equal",
                          escaped(field.name), found, found == 1 ? "" : "s", n));
}

bool RecordParser::Impl::take_labels(ParsedChunk& out, const Schema& schema, std::size_t n) {
  SampleBatch& batch = out.batch;
  form = label_form();
  if (form != schema.shape.labels && options.missing_labels == MissingLabels::kError) {
    return fail(
        Errc::kLabelsMissing,
        fmt::format("this record has {}, but the first record, {}, has {}; give all records the same, or "
                    "let those without labels be trained in full (missing_labels = train)",
                    label_form_words(form), schema.first, label_form_words(schema.shape.labels)));
  }

  // Masks are and-ed where they are stored, or beside the labels that they thin out.
  std::uint8_t* bits = nullptr;
  if (form == Labels::kMask) {
    const std::size_t base = batch.loss_mask.size();
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
    if (!any_mask && form == Labels::kLabels) {
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
  if (form != Labels::kLabels) return true;

  const Field& labels_field = *std::ranges::find(table.fields, FieldKind::kLabels, &Field::kind);
  const Members::Member& labels = member(labels_field);
  dom::array array;
  if (labels.value.get_array().get(array) != simdjson::SUCCESS)
    return fail_value(labels.place, "a list of labels");
  if (!same_length(labels_field, count_elements(array), n)) return false;
  const std::size_t base = batch.labels.size();
  const std::size_t bad = append_labels(array, label_limit, options.ignore_index, batch.labels);
  if (bad != kAllGood) return fail_value(labels.place, label_words, {bad});
  if (any_mask) {
    for (std::size_t i = 0; i < n; ++i) {
      if (bits[i] == 0) batch.labels[base + i] = options.ignore_index;
    }
  }
  return true;
}

}  // namespace tokpack::input
