#include "tokpack/torch/dataset.h"

#include <ATen/ops/empty.h>

#include "batch_block.h"

namespace tokpack::libtorch {

TensorBatch PackDataset::get_batch(c10::ArrayRef<std::size_t> indices) {
  LoaderOptions options = options_;
  options.sampler.batch = static_cast<std::uint32_t>(indices.size());
  const BatchLayout layout(reader_, options);
  const at::Tensor block = at::empty({layout.bytes()}, at::kByte);
  block.storage().unsafeGetStorageImpl()->set_resizable(false);
  TensorBatch batch;
  batch.packs.assign(indices.begin(), indices.end());
  batch.counts = value_or_throw(fill_rows(reader_, batch.packs, options.rows, layout.outputs(block)));
  layout.give(block, batch);
  return batch;
}

}  // namespace tokpack::libtorch
