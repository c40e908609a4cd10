// Masks of the GPU against those of the CPU, whole buffers with their gaps and margins, and far cells at
// samples.
#include <array>
#include <cstring>

#include "device_memory.h"
#include "gpu_check.h"
#include "naive_masks.h"
#include "tokpack/core/mask_layout.h"
#include "tokpack/cuda/masks.h"

namespace tokpack::test {
namespace {

constexpr std::array kForms = {MaskForm::kBool, MaskForm::kInvertedBool, MaskForm::kAdditiveF32,
                               MaskForm::kAdditiveBf16, MaskForm::kAdditiveF16};

/// Gaps and offset in elements.
struct Buffer {
  std::size_t batch = 1, positions = 1, row_gap = 0, batch_gap = 0, offset = 0;
  std::string text() const {
    return "batch " + std::to_string(batch) + ", S " + std::to_string(positions) + ", row gap " +
           std::to_string(row_gap) + ", batch gap " + std::to_string(batch_gap) + ", offset " +
           std::to_string(offset);
  }
};

bool masks_agree(const Buffer& buffer, const Ints& lo, const Ints& hi, const MaskOptions& options) {
  const std::size_t element = mask_element_bytes(options.form), row = buffer.positions + buffer.row_gap,
                    batch = buffer.positions * row + buffer.batch_gap, bytes = buffer.batch * batch * element;
  const DeviceArray<unsigned char> memory(bytes, buffer.offset * element);
  const DeviceArray<std::int32_t> lo_array(lo), hi_array(hi);
  const auto place = [&](unsigned char* cells) {
    return MaskBuffer{.data = cells,
                      .bytes = bytes,
                      .row_stride = static_cast<std::int64_t>(row),
                      .batch_stride = static_cast<std::int64_t>(batch)};
  };
  const auto batches = static_cast<std::int64_t>(buffer.batch);
  RowIntervals on_device{.lo = lo_array.span(), .batch = batches};
  if (!hi.empty()) on_device.hi = hi_array.span();
  require(cuda::write_mask(on_device, options, place(memory.data()), {}));
  const auto actual = memory.all();
  std::vector<unsigned char> expected(actual.size(), DeviceArray<unsigned char>::kPoisonByte);
  require(
      write_mask({.lo = lo, .hi = hi, .batch = batches}, options, place(expected.data() + memory.first())));
  return actual == expected;
}

void random_intervals(RandomCases& cases, const Buffer& buffer, bool wild, Ints& lo, Ints& hi) {
  lo.clear(), hi.clear();
  for (std::size_t b = 0; b < buffer.batch; ++b) {
    const auto row = intervals_of(cases.next(static_cast<std::int32_t>(buffer.positions)));
    lo.insert(lo.end(), row.lo.begin(), row.lo.end());
    hi.insert(hi.end(), row.hi.begin(), row.hi.end());
  }
  for (std::size_t i = 0; wild && i < lo.size(); ++i) {
    if (cases.number(0, 3) == 0) lo[i] = cases.number(0, 1) == 0 ? -0x7fffffff - 1 : 0x7fffffff;
    if (cases.number(0, 3) == 0) hi[i] = cases.number(0, 1) == 0 ? -0x7fffffff - 1 : 0x7fffffff;
  }
}

/// A mask of `positions`, of which sampled rows are looked at.
std::string far_rows(std::size_t positions, MaskForm form) {
  const std::size_t element = mask_element_bytes(form), bytes = positions * positions * element;
  const auto count = static_cast<std::int32_t>(positions);
  const auto [lo, hi] = intervals_of({.cu_seqlens = {0, 1000, count - 500}, .positions = count});
  const DeviceArray<std::int32_t> lo_array(lo), hi_array(hi);
  const DeviceArray<unsigned char> memory(bytes);
  const MaskOptions options{.form = form, .force = true};
  const MaskBuffer out{.data = memory.data(), .bytes = bytes};
  require(cuda::write_mask({.lo = lo_array.span(), .hi = hi_array.span()}, options, out, {}));
  const auto layout = mask_layout(1, count, options, out);
  if (!layout) return layout.error().detail;
  for (const std::size_t r : {std::size_t{0}, std::size_t{999}, std::size_t{1000}, positions / 2 + 1,
                              positions - 501, positions - 500, positions - 1}) {
    const auto row = memory.some(r * positions * element, positions * element);
    for (std::size_t c = 0; c < positions; ++c) {
      const auto key = static_cast<std::int32_t>(c);
      const std::uint32_t& value = lo[r] <= key && key <= hi[r] ? layout->attended : layout->masked;
      if (std::memcmp(row.data() + c * element, &value, element) != 0) {
        return "S " + std::to_string(positions) + ", row " + std::to_string(r) + ", column " +
               std::to_string(c);
      }
    }
  }
  return memory.margins_kept() ? "" : "S " + std::to_string(positions) + ": written beside the mask";
}

}  // namespace

void check_masks(Report& report, bool quick) {
  RandomCases cases(3);
  Ints lo, hi;
  std::string fault;
  std::int64_t count = 0;
  const auto check = [&](const Buffer& buffer, const MaskOptions& options, bool wild, bool with_hi) {
    random_intervals(cases, buffer, wild, lo, hi);
    if (!fault.empty()) return;
    ++count;
    if (!masks_agree(buffer, lo, with_hi ? hi : Ints{}, options)) {
      fault = buffer.text() + ", form " + std::to_string(static_cast<int>(options.form));
    }
  };
  for (const std::size_t positions : {1U, 2U, 7U, 15U, 16U, 17U, 33U, 64U, 127U, 255U, 300U, 1234U, 2048U}) {
    for (const MaskForm form : kForms) {
      for (const MaskStores stores : {MaskStores::kOrdinary, MaskStores::kStreaming}) {
        const MaskedValue masked =
            stores == MaskStores::kOrdinary ? MaskedValue::kNegativeInfinity : MaskedValue::kLowestFinite;
        if (quick && positions > 300) continue;
        check({.positions = positions}, {.form = form, .masked = masked, .stores = stores}, false, true);
      }
    }
  }
  report.check("masks equal the CPU's, every form, masked value and kind of store", count, fault);

  fault.clear(), count = 0;
  for (int round = 0; round < (quick ? 20 : 400); ++round) {
    const MaskForm form = kForms[static_cast<std::size_t>(round) % kForms.size()];
    const Buffer buffer{.batch = static_cast<std::size_t>(cases.number(1, 3)),
                        .positions = static_cast<std::size_t>(cases.number(1, 300)),
                        .row_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100)),
                        .batch_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100)),
                        .offset = static_cast<std::size_t>(cases.number(0, 31))};
    check(buffer, {.form = form}, round % 3 == 0, round % 4 != 0);
  }
  report.check("masks at any offset and stride leave what lies between, any numbers in lo and hi", count,
               fault);

  fault.clear(), count = 0;
  if (!quick) {
    for (const MaskForm form : {MaskForm::kBool, MaskForm::kAdditiveBf16}) {
      check({.positions = 8193, .offset = 1}, {.form = form}, false, true);
      check({.batch = 3, .positions = 4096}, {.form = form}, false, false);
    }
  }
  check({.batch = 70'000, .positions = 2, .offset = 1}, {}, false, true);
  report.check("long rows, and more batches than a grid has blocks in y", count, fault);
}

void check_mask_offsets(Report& report) {
  std::size_t free_bytes = 0, total = 0;
  require(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
  struct Size {
    std::size_t positions;
    MaskForm form;
  };
  for (const Size size : {Size{46'341, MaskForm::kBool},
                          {65'537, MaskForm::kBool},
                          {46'341, MaskForm::kAdditiveF32},
                          {65'537, MaskForm::kAdditiveBf16}}) {
    const std::size_t bytes = size.positions * size.positions * mask_element_bytes(size.form);
    const std::string name = "a mask of " + std::to_string(size.positions) + " positions, " +
                             std::to_string(bytes) + " bytes, at sampled rows";
    if (bytes + (std::size_t{64} << 20) > free_bytes) {
      report.not_run(name, "less memory on the device");
    } else {
      report.check(name, 7, far_rows(size.positions, size.form));
    }
  }
}

}  // namespace tokpack::test
