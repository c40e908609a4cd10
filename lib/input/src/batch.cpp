#include "tokpack/input/source.h"

namespace tokpack::input {

Batch SampleBatch::view(std::vector<ColumnInput>& storage) const& {
  storage.clear();
  for (const Column& column : columns) storage.push_back({column.values, column.offsets});
  Batch batch;
  batch.tokens = TokenInput(std::span<const std::uint32_t>(tokens));
  batch.lengths = lengths;
  if (label_form == Labels::kMask) batch.loss_mask = loss_mask;
  if (label_form == Labels::kLabels) batch.labels = labels;
  batch.groups = groups;
  batch.columns = storage;
  return batch;
}

}  // namespace tokpack::input
