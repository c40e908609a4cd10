#include "tokpack/core/mask_layout.h"

#include <limits>

#include "row_check.h"

namespace tokpack {
namespace {

using detail::make_error;

struct CellValues {
  std::uint32_t masked, attended;  // repeated to 4 bytes
};

CellValues cell_values(MaskForm form, MaskedValue masked) noexcept {
  const bool lowest = masked == MaskedValue::kLowestFinite;
  switch (form) {
    case MaskForm::kBool:
      return {0, 0x01010101};
    case MaskForm::kInvertedBool:
      return {0x01010101, 0};
    case MaskForm::kAdditiveF32:
      return {lowest ? 0xff7fffffU : 0xff800000U, 0};
    case MaskForm::kAdditiveBf16:
      return {lowest ? 0xff7fff7fU : 0xff80ff80U, 0};
    case MaskForm::kAdditiveF16:
      break;
  }
  return {lowest ? 0xfbfffbffU : 0xfc00fc00U, 0};
}

Result<void> check_options(const MaskOptions& options) {
  if (options.form > MaskForm::kAdditiveF16 || options.masked > MaskedValue::kLowestFinite ||
      options.stores > MaskStores::kStreaming) {
    return make_error(Errc::kOptions, "unknown mask form {}, masked value {} or kind of stores {}",
                      static_cast<unsigned>(options.form), static_cast<unsigned>(options.masked),
                      static_cast<unsigned>(options.stores));
  }
  return {};
}

}  // namespace

Result<MaskLayout> mask_layout(std::int64_t batch_count, std::int64_t position_count,
                               const MaskOptions& options, const MaskBuffer& out) {
  if (auto checked = check_options(options); !checked) return checked.error();
  const auto batch = static_cast<std::uint64_t>(batch_count);
  const auto positions = static_cast<std::uint64_t>(position_count);
  const std::size_t element = mask_element_bytes(options.form);
  if (out.row_stride < 0 || out.batch_stride < 0) {
    return make_error(Errc::kOptions, "row stride {} and batch stride {} may not be negative", out.row_stride,
                      out.batch_stride);
  }
  const auto [masked, attended] = cell_values(options.form, options.masked);
  MaskLayout layout{.row_stride = static_cast<std::uint64_t>(out.row_stride),
                    .batch_stride = static_cast<std::uint64_t>(out.batch_stride),
                    .element_bytes = element,
                    .masked = masked,
                    .attended = attended};
  if (layout.row_stride == 0) layout.row_stride = positions;
  if (layout.row_stride < positions) {
    return make_error(Errc::kOptions,
                      "the row stride is {} elements, expected at least the {} cells of a row",
                      layout.row_stride, positions);
  }
  // S is below 2^31, so that S x S fits; everything else may wrap and is asked.
  std::uint64_t span = 0, batches = 0, total = 0, bytes = 0;
  const std::uint64_t cells = positions * positions;
  const bool overflows = __builtin_mul_overflow(positions - 1, layout.row_stride, &span) ||
                         __builtin_add_overflow(span, positions, &span) ||
                         __builtin_mul_overflow(positions, layout.row_stride, &batches) ||
                         __builtin_mul_overflow(cells, batch, &layout.mask_bytes) ||
                         __builtin_mul_overflow(layout.mask_bytes, element, &layout.mask_bytes);
  if (!overflows && layout.batch_stride == 0) layout.batch_stride = batch == 1 ? span : batches;
  if (overflows || __builtin_mul_overflow(batch - 1, layout.batch_stride, &total) ||
      __builtin_add_overflow(total, span, &total) || __builtin_mul_overflow(total, element, &bytes) ||
      bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return make_error(
        Errc::kTooLarge,
        "{} batches of {} x {} cells with row stride {} and batch stride {} have no size that an "
        "address could hold; make fewer batches or shorter rows",
        batch, positions, positions, layout.row_stride, out.batch_stride);
  }
  if (batch > 1 && layout.batch_stride < span) {
    return make_error(
        Errc::kOptions,
        "the batch stride is {} elements, expected at least the {} that the rows of one batch span",
        layout.batch_stride, span);
  }
  if (layout.mask_bytes > kMaskBytesWithoutForce && !options.force) {
    return make_error(
        Errc::kTooLarge,
        "the mask of {} batches of {} x {} cells has {} bytes, above {} (4 GiB); set force to write it "
        "all the same, or use block lists or varlen attention, which need no dense mask",
        batch, positions, positions, layout.mask_bytes, kMaskBytesWithoutForce);
  }
  if (out.data == nullptr || out.bytes < bytes) {
    return make_error(
        Errc::kOptions,
        "the buffer has {} bytes, expected at least {}: {} batches of {} rows of {} cells of {} bytes, "
        "row stride {}, batch stride {}",
        out.data == nullptr ? 0 : out.bytes, bytes, batch, positions, positions, element, layout.row_stride,
        layout.batch_stride);
  }
  if (reinterpret_cast<std::uintptr_t>(out.data) % element != 0) {
    return make_error(Errc::kOptions, "the buffer's address {} is not a multiple of the {} bytes of a cell",
                      out.data, element);
  }
  return layout;
}

}  // namespace tokpack
