#include "batch_block.h"

#include <ATen/ops/empty.h>

#include <atomic>

namespace tokpack::libtorch {
namespace {

constexpr std::int64_t kAlignment = 64;

}  // namespace

BatchLayout::BatchLayout(const Reader& reader, const LoaderOptions& options)
    : rows_(options.sampler.batch),
      positions_(options.rows.row_length != 0 ? options.rows.row_length : reader.header().capacity),
      boundaries_(std::int64_t{options.rows.max_sequences != 0 ? options.rows.max_sequences
                                                               : reader.header().most_sequences_in_pack} +
                  1) {
  std::int64_t cells = 0, entries = 0, most = 0;
  if (__builtin_mul_overflow(rows_, positions_, &cells) ||
      __builtin_mul_overflow(rows_, options.boundaries ? boundaries_ : 0, &entries) ||
      __builtin_add_overflow(cells, entries, &most) ||
      __builtin_mul_overflow(most, std::int64_t{64}, &most)) {  // all arrays, with room to round up
    throw Exception({Errc::kOutOfMemory, Error::kNoOffset, "a batch larger than memory can be"});
  }
  place(kInputIds, true, cells);
  place(kLabels, options.labels, cells);
  place(kTargets, options.targets, cells);
  place(kPositionIds, options.position_ids, cells);
  place(kLo, options.intervals, cells);
  place(kHi, options.intervals && needs_hi(options.rows.intervals.family), cells);
  place(kDocumentIds, options.document_ids, cells);
  place(kBoundaries, options.boundaries, entries);
  place(kLengths, true, rows_);
}

void BatchLayout::place(Array array, bool wanted, std::int64_t elements) {
  offsets_[array] = wanted ? bytes_ : kAbsent;
  const std::int64_t element_bytes = array < kLo ? 8 : 4;
  if (wanted) bytes_ += (elements * element_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
T* BatchLayout::pointer(const at::Tensor& block, Array array) const {
  if (offsets_[array] == kAbsent) return nullptr;
  return static_cast<T*>(static_cast<void*>(block.mutable_data_ptr<std::uint8_t>() + offsets_[array]));
}

RowOutputs BatchLayout::outputs(const at::Tensor& block) const {
  return {.input_ids = pointer<std::int64_t>(block, kInputIds),
          .labels = pointer<std::int64_t>(block, kLabels),
          .targets = pointer<std::int64_t>(block, kTargets),
          .position_ids = pointer<std::int64_t>(block, kPositionIds),
          .lengths = pointer<std::int32_t>(block, kLengths),
          .lo = pointer<std::int32_t>(block, kLo),
          .hi = pointer<std::int32_t>(block, kHi),
          .document_ids = pointer<std::int32_t>(block, kDocumentIds),
          .boundaries = pointer<std::int32_t>(block, kBoundaries)};
}

at::Tensor BatchLayout::tensor(const at::Tensor& block, Array array) const {
  if (offsets_[array] == kAbsent) return at::Tensor();
  const bool wide = array < kLo;
  at::Tensor out = at::empty({0}, block.options().dtype(wide ? at::kLong : at::kInt).pinned_memory(false));
  const std::int64_t offset = offsets_[array] / (wide ? 8 : 4);
  if (array == kLengths) return out.set_(block.storage(), offset, {rows_}, {1});
  const std::int64_t columns = array == kBoundaries ? boundaries_ : positions_;
  return out.set_(block.storage(), offset, {rows_, columns}, {columns, 1});
}

void BatchLayout::give(const at::Tensor& block, TensorBatch& batch) const {
  batch.input_ids = tensor(block, kInputIds);
  batch.labels = tensor(block, kLabels);
  batch.targets = tensor(block, kTargets);
  batch.position_ids = tensor(block, kPositionIds);
  batch.lo = tensor(block, kLo);
  batch.hi = tensor(block, kHi);
  batch.document_ids = tensor(block, kDocumentIds);
  batch.boundaries = tensor(block, kBoundaries);
  batch.lengths = tensor(block, kLengths);
}

bool is_held(const at::Tensor& block) noexcept {
  if (block.storage().use_count() > 1) return true;
  std::atomic_thread_fence(std::memory_order_acquire);  // what another thread read came before it let go
  return false;
}

}  // namespace tokpack::libtorch
