#include "parsed_chunk.h"

#include <algorithm>

#include "tokpack/format/layout.h"

namespace tokpack::input {

using Labels = SampleBatch::Labels;

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
