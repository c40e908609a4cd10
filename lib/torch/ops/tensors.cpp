#include "tensors.h"

#include <torch/csrc/stable/device.h>

#include <array>
#include <initializer_list>
#include <limits>

namespace tokpack::ops {
namespace {

std::string shape_of(const Tensor& tensor) {
  std::string text = "[";
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    text += (d == 0 ? "" : ",") + std::to_string(tensor.size(d));
  }
  return text + "]";
}

std::string device_of(const Tensor& tensor) {
  if (tensor.is_cpu()) return "the CPU";
  if (tensor.is_cuda()) return "CUDA device " + std::to_string(tensor.get_device_index());
  return "another kind of device";
}

void expect_dtype(const Tensor& tensor, ScalarType dtype, const char* name, const char* dtype_name) {
  if (tensor.scalar_type() == dtype) return;
  refuse(std::string(name) + " is " + torch::headeronly::toString(tensor.scalar_type()) + ", expected " +
         dtype_name);
}

void expect_contiguous(const Tensor& tensor, const char* name) {
  if (tensor.is_contiguous()) return;
  refuse(std::string(name) + " is not contiguous; give " + name + ".contiguous()");
}

void expect_device(const Tensor& tensor, const char* name, const Tensor& like, const char* like_name) {
  if (tensor.is_cpu() == like.is_cpu() && tensor.is_cuda() == like.is_cuda() &&
      tensor.get_device_index() == like.get_device_index()) {
    return;
  }
  refuse(std::string(name) + " is on " + device_of(tensor) + " and " + like_name + " on " + device_of(like) +
         "; move one to the other's device");
}

/// Addresses from the first element's to behind the last one's.
struct Extent {
  std::uintptr_t begin = 0, end = 0;
};

Extent extent_of(const Tensor& tensor) {
  if (tensor.numel() == 0) return {};
  std::uint64_t last = 0;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    last += static_cast<std::uint64_t>(tensor.size(d) - 1) * static_cast<std::uint64_t>(tensor.stride(d));
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
  return {begin, begin + (last + 1) * tensor.element_size()};
}

void expect_apart(const Tensor& out, const char* out_name, const Tensor& other, const char* other_name) {
  const Extent a = extent_of(out), b = extent_of(other);
  if (a.begin == a.end || b.begin == b.end || a.end <= b.begin || b.end <= a.begin) return;
  refuse(std::string(out_name) + " and " + other_name +
         " overlap in memory; what is written must lie apart from what is read");
}

/// Bytes of the tensor's storage from its first element on.
std::uint64_t storage_bytes(const Tensor& tensor) {
  std::int64_t storage = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_storage_size(tensor.get(), &storage));
  const auto before = static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.element_size();
  const auto bytes = static_cast<std::uint64_t>(storage);
  return bytes < before ? 0 : bytes - before;
}

/// A contiguous tensor's memory, which may have been resized under it.
std::span<const std::int32_t> int32s(const Tensor& tensor, const char* name) {
  if (storage_bytes(tensor) / sizeof(std::int32_t) < static_cast<std::uint64_t>(tensor.numel())) {
    refuse(std::string(name) + " is " + shape_of(tensor) + " over a storage of " +
           std::to_string(storage_bytes(tensor)) + " bytes, which holds less; its storage was resized");
  }
  return {static_cast<const std::int32_t*>(tensor.const_data_ptr()),
          static_cast<std::size_t>(tensor.numel())};
}

struct Word {
  std::string_view name;
  int value;
};

int value_of(std::string_view name, std::initializer_list<Word> words, const char* what) {
  std::string choices;
  for (const Word& word : words) {
    if (word.name == name) return word.value;
    choices.append(choices.empty() ? "" : ", ").append(word.name);
  }
  refuse(std::string(what) + " is '" + std::string(name) + "', expected one of " + choices);
}

}  // namespace

Boundaries boundaries_of(const Tensor& cu_seqlens) {
  expect_dtype(cu_seqlens, ScalarType::Int, "cu_seqlens", "int32");
  const std::int64_t dim = cu_seqlens.dim();
  if ((dim != 1 && dim != 2) || cu_seqlens.numel() == 0) {
    refuse("cu_seqlens is " + shape_of(cu_seqlens) +
           ", expected [N + 1], or [B, N + 1] with the last boundary of a row repeated to its end");
  }
  expect_contiguous(cu_seqlens, "cu_seqlens");
  return {int32s(cu_seqlens, "cu_seqlens"), dim == 1 ? 1 : cu_seqlens.size(0), cu_seqlens.size(dim - 1) - 1};
}

std::span<const std::int32_t> prefixes_of(const Tensor& prefixes, const Tensor& cu_seqlens,
                                          const Boundaries& boundaries) {
  expect_dtype(prefixes, ScalarType::Int, "prefixes", "int32");
  const std::int64_t dim = prefixes.dim();
  if (dim != cu_seqlens.dim() || prefixes.size(dim - 1) != boundaries.sequences ||
      (dim == 2 && prefixes.size(0) != boundaries.batch)) {
    refuse("prefixes is " + shape_of(prefixes) + " and cu_seqlens " + shape_of(cu_seqlens) +
           "; expected one prefix for each sequence: as many dimensions, one entry less in the last");
  }
  expect_contiguous(prefixes, "prefixes");
  expect_device(prefixes, "prefixes", cu_seqlens, "cu_seqlens");
  return int32s(prefixes, "prefixes");
}

MaskFamily family_of(std::string_view name) {
  return static_cast<MaskFamily>(value_of(name,
                                          {{"causal", static_cast<int>(MaskFamily::kCausal)},
                                           {"bidirectional", static_cast<int>(MaskFamily::kBidirectional)},
                                           {"sliding_window", static_cast<int>(MaskFamily::kSlidingWindow)},
                                           {"prefix_lm", static_cast<int>(MaskFamily::kPrefixLm)}},
                                          "family"));
}

PadPolicy pads_of(std::string_view name) {
  return static_cast<PadPolicy>(value_of(name,
                                         {{"segment", static_cast<int>(PadPolicy::kSegment)},
                                          {"self", static_cast<int>(PadPolicy::kSelf)},
                                          {"none", static_cast<int>(PadPolicy::kNone)},
                                          {"last", static_cast<int>(PadPolicy::kLast)}},
                                         "pads"));
}

std::int32_t int32_of(std::int64_t value, const char* name) {
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
    refuse(std::string(name) + " is " + std::to_string(value) + ", expected 0 to 2147483647");
  }
  return static_cast<std::int32_t>(value);
}

RowIntervals intervals_of(const Tensor& lo, const std::optional<Tensor>& hi) {
  expect_dtype(lo, ScalarType::Int, "lo", "int32");
  if (lo.dim() != 2 || lo.numel() == 0) {
    refuse("lo is " + shape_of(lo) + ", expected [B,S] of at least one row and one position");
  }
  expect_contiguous(lo, "lo");
  RowIntervals intervals{.lo = int32s(lo, "lo"), .batch = lo.size(0)};
  if (hi) {
    expect_dtype(*hi, ScalarType::Int, "hi", "int32");
    if (hi->dim() != 2 || hi->size(0) != lo.size(0) || hi->size(1) != lo.size(1)) {
      refuse("hi is " + shape_of(*hi) + " and lo " + shape_of(lo) + "; expected one shape");
    }
    expect_contiguous(*hi, "hi");
    expect_device(*hi, "hi", lo, "lo");
    intervals.hi = int32s(*hi, "hi");
  }
  return intervals;
}

MaskOptions mask_options(std::optional<ScalarType> dtype, bool inverted, bool lowest, bool force) {
  MaskOptions options{.masked = lowest ? MaskedValue::kLowestFinite : MaskedValue::kNegativeInfinity,
                      .force = force};
  switch (dtype.value_or(ScalarType::Bool)) {
    case ScalarType::Bool:
      if (lowest) refuse("lowest is set for a bool mask; it chooses what an additive one holds");
      options.form = inverted ? MaskForm::kInvertedBool : MaskForm::kBool;
      return options;
    case ScalarType::Float:
      options.form = MaskForm::kAdditiveF32;
      break;
    case ScalarType::BFloat16:
      options.form = MaskForm::kAdditiveBf16;
      break;
    case ScalarType::Half:
      options.form = MaskForm::kAdditiveF16;
      break;
    default:
      refuse(std::string("a mask of ") + torch::headeronly::toString(*dtype) +
             "; expected bool, or float32, bfloat16 or float16 for an additive one");
  }
  if (inverted) refuse("inverted is set for an additive mask; only a bool mask can be inverted");
  return options;
}

MaskBuffer mask_buffer_of(const Tensor& out, const Tensor& lo, const std::optional<Tensor>& hi) {
  const std::int64_t dim = out.dim(), rows = lo.size(0), positions = lo.size(1);
  if ((dim != 3 && dim != 4) || out.size(0) != rows || (dim == 4 && out.size(1) != 1) ||
      out.size(dim - 2) != positions || out.size(dim - 1) != positions) {
    refuse("out is " + shape_of(out) + " and lo " + shape_of(lo) + "; expected [B,1,S,S] or [B,S,S]");
  }
  // Strides of dimensions of one element mean nothing.
  if (positions > 1 && (out.stride(dim - 1) != 1 || out.stride(dim - 2) < positions)) {
    refuse("out has the strides " + std::to_string(out.stride(dim - 2)) + " and " +
           std::to_string(out.stride(dim - 1)) +
           " from row to row and cell to cell, expected at least S and exactly 1: rows may lie apart, not in "
           "one place");
  }
  if (rows > 1 && out.stride(0) < 1) refuse("the batches of out lie in one place; give a tensor of its own");
  expect_device(out, "out", lo, "lo");
  expect_apart(out, "out", lo, "lo");
  if (hi) expect_apart(out, "out", *hi, "hi");

  return {.data = out.mutable_data_ptr(),
          .bytes = storage_bytes(out),
          .row_stride = positions > 1 ? out.stride(dim - 2) : 0,
          .batch_stride = rows > 1 ? out.stride(0) : 0};
}

BlockLists block_lists_of(const Tensor& kv_num_blocks, const Tensor& kv_indices,
                          const Tensor& full_kv_num_blocks, const Tensor& full_kv_indices, const Tensor& lo,
                          const std::optional<Tensor>& hi, BlockCounts counts) {
  struct List {
    const Tensor& tensor;
    const char* name;
    bool indices;
  };
  const std::array<List, 4> lists{{{kv_num_blocks, "kv_num_blocks", false},
                                   {kv_indices, "kv_indices", true},
                                   {full_kv_num_blocks, "full_kv_num_blocks", false},
                                   {full_kv_indices, "full_kv_indices", true}}};
  std::array<std::span<std::int32_t>, 4> spans;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Tensor& list = lists[i].tensor;
    const char* name = lists[i].name;
    expect_dtype(list, ScalarType::Int, name, "int32");
    if (list.dim() != (lists[i].indices ? 4 : 3) || list.size(0) != lo.size(0) || list.size(1) != 1 ||
        list.size(2) != counts.query || (lists[i].indices && list.size(3) != counts.key)) {
      refuse(std::string(name) + " is " + shape_of(list) + ", expected [" + std::to_string(lo.size(0)) +
             ",1," + std::to_string(counts.query) +
             (lists[i].indices ? "," + std::to_string(counts.key) : std::string()) + "]");
    }
    expect_contiguous(list, name);
    expect_device(list, name, lo, "lo");
    expect_apart(list, name, lo, "lo");
    if (hi) expect_apart(list, name, *hi, "hi");
    for (std::size_t k = 0; k < i; ++k) expect_apart(list, name, lists[k].tensor, lists[k].name);
    spans[i] = {static_cast<std::int32_t*>(list.mutable_data_ptr()), int32s(list, name).size()};
  }
  return {spans[0], spans[1], spans[2], spans[3]};
}

}  // namespace tokpack::ops
