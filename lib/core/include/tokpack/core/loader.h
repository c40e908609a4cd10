// Batches filled ahead of the trainer by background threads, into a ring of buffers.
//
// next() hands out batches in the sampler's order, whatever the number of threads, and goes on over the end
// of an epoch. A batch stays valid until `kept` more were handed out. What was prepared but not handed out
// does not count in state(), so a run resumed from it gets exactly the batches that this one would have got.
//
// Ownership: the loader shares the reader's file; buffers are its own or the caller's, which must outlive it.
// Destroying it stops the threads, also in the middle of an epoch. Threads: one calls. After a fork only the
// parent's loader works. Errors: create: kOptions, kSamplerState, kOutOfMemory, kIo
// (no thread can be had); next: those of filling, again
// at every later call.
//
//   auto loader = Loader::create(reader, {.sampler = {.seed = 7, .batch = 8}, .labels = true});
//   for (auto step = loader->steps_left(); step > 0; --step) {
//     auto batch = loader->next();
//     if (!batch) return batch.error();
//     train((*batch)->rows.input_ids, (*batch)->rows.labels, (*batch)->counts.label_targets);
//   }
//   save(to_text(loader->state()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tokpack/core/batch.h"
#include "tokpack/core/sampler.h"

namespace tokpack {

struct LoaderOptions {
  SamplerOptions sampler = {};
  RowOptions rows = {};
  bool labels = false;        ///< wants labels
  bool targets = false;       ///< wants targets
  bool position_ids = false;  ///< wants position ids
  bool intervals = false;     ///< wants row intervals, as rows.intervals says
  bool document_ids = false;  ///< wants document ids, as rows.document_ids and rows.intervals.pads say
  bool boundaries = false;    ///< wants boundaries, [B, N + 1]
  bool step_targets = false;  ///< wants the targets of the whole step, over all ranks
  unsigned threads = 1;       ///< that fill ahead; 0: next() fills, nothing is prepared ahead
  std::size_t ahead = 2;      ///< batches prepared ahead, at least 1
  std::size_t kept = 1;       ///< batches handed out that stay valid, at least 1
};

struct LoadedBatch {
  RowOutputs rows;                       ///< where this batch stands
  std::size_t slot = 0;                  ///< which buffers of the ring
  Sampler::Position position;            ///< before this step
  std::vector<std::uint64_t> packs;      ///< [B]; Sampler::kNoPack for an empty row
  BatchCounts counts;                    ///< of this rank
  std::uint64_t step_targets = 0;        ///< of all ranks, for `targets`; where it was wanted
  std::uint64_t step_label_targets = 0;  ///< of all ranks, for `labels`
};

class Loader {
 public:
  /// Buffers of its own: int64 ids, labels, targets and positions, int32 of the rest, 64-byte aligned.
  static Result<Loader> create(const Reader& reader, const LoaderOptions& options,
                               const SamplerState* resume = nullptr);
  /// The caller's buffers, `ahead + kept` of them, all wanting the same arrays (`labels` and the like of the
  /// options are not looked at).
  static Result<Loader> create(const Reader& reader, const LoaderOptions& options,
                               std::span<const RowOutputs> ring, const SamplerState* resume = nullptr);
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// The next batch. Waits until it is filled. The pointer is never null; it and the batch's buffers are
  /// valid until `kept` more batches were handed out, and not longer than the loader.
  Result<const LoadedBatch*> next();
  /// The same; and the buffers that this call takes back, those of the batch handed out `kept` calls before,
  /// stay as they are: `instead` (of the same sizes, wanting the same arrays) stands in the ring from now on.
  /// Not where there is an error. REQUIRES: `kept` batches were handed out.
  Result<const LoadedBatch*> next(const RowOutputs& instead);

  /// Batches that next() hands out before this epoch ends.
  std::uint64_t steps_left() const noexcept;
  std::uint64_t steps() const noexcept;  ///< of a whole epoch
  /// After the batches handed out so far.
  SamplerState state() const noexcept;
  std::uint32_t row_length() const noexcept;     ///< S
  std::uint32_t max_sequences() const noexcept;  ///< N of boundaries

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl) noexcept;
  Result<const LoadedBatch*> take(const RowOutputs* instead);
  static Result<Loader> start(const Reader& reader, const LoaderOptions& options,
                              std::span<const RowOutputs> ring, const SamplerState* resume, bool own);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tokpack
