#include "tokpack/torch/masks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "tokpack/core/mask_layout.h"
#ifdef TOKPACK_HAS_CUDA
#include "tokpack/cuda/masks.h"
#endif

namespace tokpack::libtorch {
namespace {

/// Below this much mask for each, starting a thread costs more than it saves.
constexpr std::uint64_t kMaskBytesOfThread = std::uint64_t{2} << 20;

[[noreturn]] void refuse(std::string detail) {
  throw Exception({Errc::kOptions, Error::kNoOffset, std::move(detail)});
}

std::string described(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << ' ' << tensor.sizes() << " on " << tensor.device();
  return text.str();
}

std::span<const std::int32_t> int32s(const at::Tensor& tensor, const char* name) {
  if (!tensor.defined() || !(tensor.is_cpu() || tensor.is_cuda()) || tensor.layout() != at::kStrided ||
      tensor.scalar_type() != at::kInt || tensor.dim() != 2 || !tensor.is_contiguous()) {
    refuse(std::string(name) + " is " + (tensor.defined() ? described(tensor) : "undefined") +
           ", expected a contiguous int32 [B,S] on cpu or cuda");
  }
  const auto before = static_cast<std::size_t>(tensor.storage_offset()) * sizeof(std::int32_t);
  const auto count = static_cast<std::size_t>(tensor.numel());
  const std::size_t storage = tensor.storage().nbytes();
  if (storage < before || (storage - before) / sizeof(std::int32_t) < count) {
    refuse(std::string(name) + " is " + described(tensor) + " over a storage of " + std::to_string(storage) +
           " bytes, which holds less; its storage was resized");
  }
  return {tensor.const_data_ptr<std::int32_t>(), count};
}

RowIntervals intervals_of(const at::Tensor& lo, const at::Tensor& hi) {
  RowIntervals intervals{.lo = int32s(lo, "lo"), .batch = lo.size(0)};
  if (!hi.defined()) return intervals;
  intervals.hi = int32s(hi, "hi");
  if (hi.sizes() != lo.sizes() || hi.device() != lo.device()) {
    refuse("hi is " + described(hi) + " and lo " + described(lo) + "; expected one shape and device");
  }
  return intervals;
}

at::ScalarType type_of(MaskForm form) {
  if (form == MaskForm::kAdditiveF32) return at::kFloat;
  if (form == MaskForm::kAdditiveBf16) return at::kBFloat16;
  return form == MaskForm::kAdditiveF16 ? at::kHalf : at::kBool;
}

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

void expect_apart(const MaskBuffer& out, std::uintptr_t end, std::span<const std::int32_t> read,
                  const char* name) {
  if (address(read.data() + read.size()) <= address(out.data) || end <= address(read.data())) return;
  refuse(std::string("out and ") + name + " overlap in memory");
}

MaskBuffer buffer_of(const at::Tensor& out, const at::Tensor& lo, const RowIntervals& intervals,
                     MaskForm form) {
  const std::int64_t rows = lo.size(0), positions = lo.size(1), dim = out.defined() ? out.dim() : 0;
  if ((dim != 3 && dim != 4) || out.layout() != at::kStrided || out.size(0) != rows ||
      (dim == 4 && out.size(1) != 1) || out.size(dim - 2) != positions || out.size(dim - 1) != positions ||
      out.device() != lo.device() || out.scalar_type() != type_of(form)) {
    refuse("out is " + (out.defined() ? described(out) : "undefined") + " and lo " + described(lo) +
           "; expected [B,1,S,S] or [B,S,S] on its device, of the type of the form");
  }
  if (positions > 1 && (out.stride(dim - 1) != 1 || out.stride(dim - 2) < positions)) {
    refuse("the rows of out have cells that do not follow each other, or lie in one place");
  }
  if (rows > 1 && out.stride(0) < 1) refuse("the batches of out lie in one place");
  const auto element = static_cast<std::size_t>(out.element_size());
  const std::size_t before = static_cast<std::size_t>(out.storage_offset()) * element;
  const std::size_t storage = out.storage().nbytes();
  const MaskBuffer buffer{.data = out.mutable_data_ptr(),
                          .bytes = storage < before ? 0 : storage - before,
                          .row_stride = positions > 1 ? out.stride(dim - 2) : 0,
                          .batch_stride = rows > 1 ? out.stride(0) : 0};
  std::uint64_t last = 0;
  for (std::int64_t d = 0; d < dim; ++d) {
    last += static_cast<std::uint64_t>(out.size(d) - 1) * static_cast<std::uint64_t>(out.stride(d));
  }
  const std::uintptr_t end = address(buffer.data) + (last + 1) * element;
  expect_apart(buffer, end, intervals.lo, "lo");
  if (!intervals.hi.empty()) expect_apart(buffer, end, intervals.hi, "hi");
  return buffer;
}

Result<void> write_on_device([[maybe_unused]] c10::Device device,
                             [[maybe_unused]] const RowIntervals& intervals,
                             [[maybe_unused]] const MaskOptions& options,
                             [[maybe_unused]] const MaskBuffer& out) {
#ifdef TOKPACK_HAS_CUDA
  const c10::DeviceGuard guard(device);
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  return cuda::write_mask(
      intervals, options, out,
      {.stream = static_cast<CUstream_st*>(stream.native_handle()), .device = device.index()});
#else
  return Error{Errc::kCuda, Error::kNoOffset,
               "tokpack was built without lib/cuda, so masks are made on the CPU alone; build with "
               "-DTOKPACK_BUILD_CUDA=ON"};
#endif
}

void write(const RowIntervals& intervals, MaskOptions options, const at::Tensor& lo, const MaskBuffer& out) {
  const auto layout =
      value_or_throw(mask_layout(intervals.batch, value_or_throw(row_positions(intervals)), options, out));
  if (lo.is_cuda()) return value_or_throw(write_on_device(lo.device(), intervals, options, out));
  options.threads = static_cast<unsigned>(
      std::clamp<std::uint64_t>(layout.mask_bytes / kMaskBytesOfThread, 1,
                                static_cast<std::uint64_t>(std::max(at::get_num_threads(), 1))));
  value_or_throw(write_mask(intervals, options, out));
}

MaskOptions core_options(const AttentionMaskOptions& options) {
  return {.form = options.form, .masked = options.masked, .force = options.force};
}

}  // namespace

at::Tensor attention_mask(const at::Tensor& lo, const at::Tensor& hi, const AttentionMaskOptions& options) {
  const RowIntervals intervals = intervals_of(lo, hi);
  // Refused before memory is taken; the buffer is compared, not followed.
  alignas(16) static char anywhere[16];
  value_or_throw(mask_layout(intervals.batch, value_or_throw(row_positions(intervals)), core_options(options),
                             {.data = anywhere, .bytes = std::numeric_limits<std::size_t>::max()}));
  const at::Tensor out = at::empty({lo.size(0), 1, lo.size(1), lo.size(1)},
                                   at::TensorOptions().dtype(type_of(options.form)).device(lo.device()));
  write(intervals, core_options(options), lo, buffer_of(out, lo, intervals, options.form));
  return out;
}

at::Tensor attention_mask(const TensorBatch& batch, const AttentionMaskOptions& options) {
  if (!batch.lo.defined()) refuse("the batch has no row intervals; set `intervals` of the loader's options");
  return attention_mask(batch.lo, batch.hi, options);
}

void write_attention_mask(const at::Tensor& lo, const at::Tensor& hi, const AttentionMaskOptions& options,
                          const at::Tensor& out) {
  const RowIntervals intervals = intervals_of(lo, hi);
  if (out.defined() && out.requires_grad() && c10::GradMode::is_enabled()) {
    refuse("out requires grad, and what is written has none; give out.detach()");
  }
  if (out.defined() && (out.is_neg() || out.is_conj()))
    refuse("out is a negated or conjugated view; give a tensor of its own");
  if (out.defined() && out.is_inference() && !c10::InferenceMode::is_enabled()) {
    refuse("out was made in inference mode and is written outside of it; give another");
  }
  const MaskBuffer buffer = buffer_of(out, lo, intervals, options.form);
  write(intervals, core_options(options), lo, buffer);
  if (out.is_inference()) return;             // has no version
  out.unsafeGetTensorImpl()->bump_version();  // autograd sees the change
}

bool has_cuda_masks() noexcept {
#ifdef TOKPACK_HAS_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace tokpack::libtorch
