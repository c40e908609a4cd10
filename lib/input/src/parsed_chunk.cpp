#include "parsed_chunk.h"

#include <algorithm>

#include "tokpack/format/layout.h"

namespace tokpack::input {

using Labels = SampleBatch::Labels;

std::string_view IgnoredCount::shortened(std::string_view name) noexcept {
  std::size_t end = kMaxIgnoredNameBytes;  // not within a character
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) --end;
  return name.substr(0, end);
}

bool IgnoredCount::find(std::string_view name) {
  const auto found = std::ranges::find(all_.fields, name, &IgnoredField::name);
  const auto place = static_cast<std::size_t>(found - all_.fields.begin());
  if (found == all_.fields.end()) {
    if (place == kMaxIgnoredFields) {
      all_.more = true;
      return false;
    }
    all_.fields.push_back({std::string(name), 0, false});
    records_.push_back(0);  // records are numbered from 1
  }
  next_ = place;
  return true;
}

void add_ignored(const IgnoredFields& from, IgnoredFields& to) {
  to.more |= from.more;
  for (const IgnoredField& field : from.fields) {
    const auto found = std::ranges::find(to.fields, field.name, &IgnoredField::name);
    if (found != to.fields.end()) {
      found->samples += field.samples;
    } else if (to.fields.size() < kMaxIgnoredFields) {
      to.fields.push_back(field);
    } else {
      to.more = true;
    }
  }
}

void ParsedChunk::clear(const Schema& schema, const FieldTable& table) {
  batch.tokens.clear();
  batch.lengths.clear();
  batch.loss_mask.clear();
  batch.labels.clear();
  batch.groups.clear();
  batch.columns.resize(schema.columns.size());
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    batch.columns[i].values.clear();
    batch.columns[i].offsets.clear();
    if (table.columns[schema.columns[i]].ragged) batch.columns[i].offsets.push_back(0);
  }
  forms.clear();
  lines.clear();
  line_count = 0;
  ungrouped.clear();
  roles.clear();
  role_first_sample.clear();
  ignored.clear();
  masked_attention.reset();
  failure.reset();
}

void ParsedChunk::truncate(std::size_t samples, const Schema& schema, const FieldTable& table) {
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < samples; ++i) tokens += batch.lengths[i];
  const auto shorten = [](auto& vector, std::size_t size) {
    if (vector.size() > size) vector.resize(size);
  };
  std::size_t masked = 0, labelled = 0, first = 0;
  for (FormRun& run : forms) {
    run.samples = std::min(run.samples, samples - first);
    for (std::size_t i = first; i < first + run.samples; ++i) {
      if (run.form == Labels::kMask) masked += batch.lengths[i];
      if (run.form == Labels::kLabels) labelled += batch.lengths[i];
    }
    first += run.samples;
  }
  std::erase_if(forms, [](const FormRun& run) { return run.samples == 0; });
  shorten(batch.lengths, samples);
  shorten(batch.tokens, tokens);
  shorten(batch.loss_mask, masked);
  shorten(batch.labels, labelled);
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

}  // namespace tokpack::input
