// The operators on CUDA devices: tokpack/cuda on the tensors' memory, the tensors' device and its current
// stream. A library of its own: a torch without CUDA lacks what it needs.
#include <torch/csrc/stable/accelerator.h>

#include "operators.h"
#include "tokpack/cuda/masks.h"

// libtorch_cuda.so has it; torch's header declares it for those alone who define USE_CUDA.
extern "C" AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device_index, void** ret_stream);

namespace tokpack::ops {
namespace {

class Cuda {
 public:
  explicit Cuda(const Tensor& on) : guard_(index_of(on)) {
    void* stream = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(on.get_device_index(), &stream));
    launch_ = {.stream = static_cast<CUstream_st*>(stream), .device = on.get_device_index()};
  }

  Result<void> row_intervals(const Boundaries& boundaries, const IntervalOptions& options,
                             std::span<std::int32_t> lo, std::span<std::int32_t> hi) {
    return cuda::build_row_intervals({.cu_seqlens = boundaries.cu_seqlens, .batch = boundaries.batch},
                                     options, lo, hi, launch_);
  }

  Result<void> write_mask(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out,
                          std::uint64_t /*bytes*/) {
    return cuda::write_mask(intervals, options, out, launch_);
  }

  Result<void> block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out) {
    return cuda::make_block_lists(intervals, size, out, launch_);
  }

 private:
  static torch::stable::accelerator::DeviceIndex index_of(const Tensor& on) {
    if (!on.is_cuda()) refuse("the first tensor is not on a CUDA device, where another one is; move one");
    return on.get_device_index();
  }

  torch::stable::accelerator::DeviceGuard guard_;
  cuda::Launch launch_;
};

}  // namespace
}  // namespace tokpack::ops

STABLE_TORCH_LIBRARY_IMPL(tokpack, CUDA, library) {
  tokpack::ops::Operators<tokpack::ops::Cuda>::implement(library);
}
