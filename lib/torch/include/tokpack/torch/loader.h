// tokpack/core/loader.h for LibTorch: the same batches, in the same order, with the same state, as tensors on
// a device. Nothing is copied on the way to the CPU; one block of pinned memory on the way to a GPU.
//
// A batch is the caller's as long as he holds any of its tensors, or a view of one: its memory is filled
// again only when nothing refers to it any more, and until then the loader goes on with other memory. So
// batches may be kept, queued, or used by another thread. A loop that lets go of each batch uses `ahead + 2`
// blocks for ever. Its tensors may be written, but not made larger (torch refuses).
//
// CUDA: each batch is one non-blocking copy on the current stream of the calling thread, of which the tensors
// are parts. Pinned memory is filled again after its copy's event; the tensors belong to that stream, as any
// tensor that it allocates (for use on another, record_stream). No CUDA header is needed, only a torch that
// has CUDA.
//
// Ownership: shares the reader's file. Threads: one calls. Errors: Exception, as core's Loader;
// c10::Error where a device has no memory for a batch, which counts as handed out: resume from an earlier
// state.
//
//   namespace tl = tokpack::libtorch;
//   const tokpack::LoaderOptions core{.sampler = {.seed = 7, .batch = 8}, .targets = true};
//   tl::TensorLoader loader(reader, {.core = core, .device = at::kCUDA});
//   for (auto step = loader.steps_left(); step > 0; --step) {
//     const tl::TensorBatch batch = loader.next();
//     train(batch.input_ids, batch.targets, batch.counts.targets);
//   }
//   save(to_text(loader.state()));
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tokpack/core/loader.h"
#include "tokpack/torch/exception.h"

namespace tokpack::libtorch {

struct TensorLoaderOptions {
  LoaderOptions core = {};  ///< `kept` is not looked at
  c10::Device device = c10::kCPU;
};

/// One step of one rank. What was not wanted is an undefined tensor.
struct TensorBatch {
  at::Tensor input_ids;                  ///< [B, S] int64
  at::Tensor labels;                     ///< [B, S] int64, aligned with input_ids
  at::Tensor targets;                    ///< [B, S] int64, what each position must predict
  at::Tensor position_ids;               ///< [B, S] int64
  at::Tensor lo;                         ///< [B, S] int32 row intervals (masks.h)
  at::Tensor hi;                         ///< [B, S] int32; undefined for families where hi(r) = r
  at::Tensor document_ids;               ///< [B, S] int32
  at::Tensor boundaries;                 ///< [B, N + 1] int32: each row's cu_seqlens, the last repeated
  at::Tensor lengths;                    ///< [B] int32, tokens without pads
  std::vector<std::uint64_t> packs;      ///< [B]; Sampler::kNoPack for an empty row
  Sampler::Position position;            ///< before this step
  BatchCounts counts;                    ///< of this rank: the divisors of a loss
  std::uint64_t step_targets = 0;        ///< of all ranks, for `targets`; where it was wanted
  std::uint64_t step_label_targets = 0;  ///< of all ranks, for `labels`
};

class TensorLoader {
 public:
  TensorLoader(const Reader& reader, const TensorLoaderOptions& options,
               const SamplerState* resume = nullptr);
  TensorLoader(TensorLoader&&) noexcept;
  TensorLoader& operator=(TensorLoader&&) noexcept;
  ~TensorLoader();  ///< batches that are held live on

  TensorBatch next();

  std::uint64_t steps_left() const noexcept;  ///< batches before this epoch ends
  std::uint64_t steps() const noexcept;       ///< of a whole epoch
  SamplerState state() const noexcept;        ///< after the batches handed out so far
  std::uint32_t row_length() const noexcept;  ///< S
  /// Blocks of memory for batches on the host so far: how many a caller holds at once shows here.
  std::size_t blocks() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tokpack::libtorch
