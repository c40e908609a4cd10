// A packed dataset for torch::data::make_data_loader: asked for pack numbers, it gives one batch of padded
// rows.
//
// Of use where a trainer already has torch's samplers and loaders. What it costs against TensorLoader:
// torch's sampler holds the whole order in memory, and its state is no part of a checkpoint.
//
// Ownership: shares the reader's file; copy it freely. Threads: get_batch from any number, as torch's workers
// do. Errors: Exception, as fill_rows().
//
//   auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
//       tokpack::libtorch::PackDataset(reader, {.targets = true, .intervals = true}),
//       torch::data::DataLoaderOptions().batch_size(8).workers(2));
//   for (const tokpack::libtorch::TensorBatch& batch : *loader) train(batch.input_ids, batch.targets);
#pragma once

#include <torch/data/datasets/base.h>

#include <cstddef>
#include <optional>

#include "tokpack/core/loader.h"
#include "tokpack/core/reader.h"
#include "tokpack/torch/loader.h"

namespace tokpack::libtorch {

class PackDataset : public torch::data::datasets::BatchDataset<PackDataset, TensorBatch> {
 public:
  /// Of the options: `rows`, and which arrays are wanted. `sampler` and the ring are not looked at.
  explicit PackDataset(const Reader& reader, const LoaderOptions& options = {})
      : reader_(reader), options_(options) {}

  /// [indices, S] tensors on the CPU, of their own memory.
  TensorBatch get_batch(c10::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override { return static_cast<std::size_t>(reader_.packs()); }

 private:
  Reader reader_;
  LoaderOptions options_;
};

}  // namespace tokpack::libtorch
