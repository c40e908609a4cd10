// One block of memory that holds every array of a batch, so that one copy brings all of it to a device.
//
// Each array begins at a multiple of 64 bytes. Tensors over a block share its storage and nothing else (also
// no version counter: an in-place change of the labels does not count as one of the ids).
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tokpack/core/batch.h"
#include "tokpack/core/loader.h"
#include "tokpack/torch/loader.h"

namespace tokpack::libtorch {

/// Where the arrays of B rows of S positions stand.
class BatchLayout {
 public:
  /// S and N of the options, where they are 0, are the file's. Exception (kOutOfMemory): sizes that cannot be
  /// counted.
  BatchLayout(const Reader& reader, const LoaderOptions& options);

  std::int64_t bytes() const noexcept { return bytes_; }
  RowOutputs outputs(const at::Tensor& block) const;
  /// The tensors of `batch`, over the storage of `block`.
  void give(const at::Tensor& block, TensorBatch& batch) const;

 private:
  // int64 as far as position ids, int32 from lo on.
  enum Array : std::size_t {
    kInputIds,
    kLabels,
    kTargets,
    kPositionIds,
    kLo,
    kHi,
    kDocumentIds,
    kBoundaries,
    kLengths,
    kArrays
  };
  static constexpr std::int64_t kAbsent = -1;

  void place(Array array, bool wanted, std::int64_t elements);
  template <typename T>
  T* pointer(const at::Tensor& block, Array array) const;
  at::Tensor tensor(const at::Tensor& block, Array array) const;

  std::int64_t rows_, positions_, boundaries_;
  std::array<std::int64_t, kArrays> offsets_{};
  std::int64_t bytes_ = 0;
};

/// Whether anything but `block` itself refers to its storage.
bool is_held(const at::Tensor& block) noexcept;

}  // namespace tokpack::libtorch
