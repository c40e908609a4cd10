#include "row_check.h"

#include "tokpack/core/row_intervals.h"

namespace tokpack {
namespace detail {

Result<std::int32_t> check_boundaries(std::span<const std::int32_t> cu_seqlens,
                                      std::size_t positions) noexcept {
  if (positions == 0) {
    return make_error(Errc::kOptions, "the row's buffer is empty; a row has at least 1 position");
  }
  if (positions > static_cast<std::size_t>(kMaxRowPositions)) {
    return make_error(Errc::kTooLarge,
                      "a row of {} positions is above the limit of {}; cut it into rows of a batch",
                      positions, kMaxRowPositions);
  }
  if (cu_seqlens.empty()) {
    return make_error(
        Errc::kCuSeqlens,
        "cu_seqlens is empty; expected 0 first, then the end of each sequence ([0] for pads alone)");
  }
  if (cu_seqlens.front() != 0) {
    return make_error(Errc::kCuSeqlens,
                      "cu_seqlens[0] is {}, expected 0; give the boundaries of one pack, from 0",
                      cu_seqlens.front());
  }
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    if (cu_seqlens[i] <= cu_seqlens[i - 1]) {
      return make_error(
          Errc::kCuSeqlens,
          "cu_seqlens[{}] is {}, expected more than cu_seqlens[{}] = {}; leave out empty sequences and what "
          "pads the array",
          i, cu_seqlens[i], i - 1, cu_seqlens[i - 1]);
    }
  }
  const std::int32_t tokens = cu_seqlens.back();
  if (static_cast<std::size_t>(tokens) > positions) {
    return make_error(Errc::kCuSeqlens,
                      "cu_seqlens ends at {}, expected at most the {} positions of the row; give longer rows",
                      tokens, positions);
  }
  return tokens;
}

}  // namespace detail

Result<std::int64_t> row_positions(const RowIntervals& intervals) {
  const auto [lo, hi, batch] = intervals;
  if (batch < 1) return detail::make_error(Errc::kOptions, "batch is {}, expected at least 1 row", batch);
  const auto rows = static_cast<std::size_t>(batch);
  if (lo.empty() || lo.size() % rows != 0) {
    return detail::make_error(Errc::kOptions,
                              "lo has {} elements, expected a positive multiple of the {} rows of the batch; "
                              "lo is [B,S], contiguous",
                              lo.size(), batch);
  }
  if (!hi.empty() && hi.size() != lo.size()) {
    return detail::make_error(Errc::kOptions,
                              "hi has {} elements and lo {}; give as many, or no hi where hi(r) = r",
                              hi.size(), lo.size());
  }
  const std::size_t positions = lo.size() / rows;
  if (positions > static_cast<std::size_t>(kMaxRowPositions)) {
    return detail::make_error(Errc::kTooLarge, "a row of {} positions is above the limit of {}", positions,
                              kMaxRowPositions);
  }
  return static_cast<std::int64_t>(positions);
}

}  // namespace tokpack
