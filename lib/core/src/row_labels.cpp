#include "tokpack/core/row_labels.h"

#include <algorithm>
#include <numeric>

#include "batch_fill.h"
#include "row_check.h"

namespace tokpack {
namespace {

template <typename Position>
Result<void> positions_of(std::span<const std::int32_t> cu_seqlens, PadPositions pads,
                          std::span<Position> positions) {
  const auto tokens = detail::check_boundaries(cu_seqlens, positions.size());
  if (!tokens) return tokens.error();
  if (pads > PadPositions::kContinue) {
    return detail::make_error(Errc::kOptions, "unknown positions of pads {}", static_cast<unsigned>(pads));
  }
  const IntOutput out(positions.data());
  std::int64_t next = 0;
  for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
    next = cu_seqlens[s + 1] - cu_seqlens[s];
    detail::count_up(detail::at(out, static_cast<std::size_t>(cu_seqlens[s])), 0,
                     static_cast<std::size_t>(next));
  }
  const auto tokens_here = static_cast<std::size_t>(*tokens);
  detail::pad_positions(detail::at(out, tokens_here), pads, next, positions.size() - tokens_here);
  return {};
}

}  // namespace

Result<void> fill_document_ids(std::span<const std::int32_t> cu_seqlens, PadPolicy pads,
                               DocumentIds numbering, std::span<std::int32_t> ids) {
  const auto tokens = detail::check_boundaries(cu_seqlens, ids.size());
  if (!tokens) return tokens.error();
  if (pads > PadPolicy::kLast || numbering > DocumentIds::kFromOne) {
    return detail::make_error(Errc::kOptions, "unknown pad policy {} or numbering {}",
                              static_cast<unsigned>(pads), static_cast<unsigned>(numbering));
  }
  const std::int32_t first = numbering == DocumentIds::kFromOne ? 1 : 0;
  std::int32_t next = first;
  for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
    std::fill(ids.begin() + cu_seqlens[s], ids.begin() + cu_seqlens[s + 1], next++);
  }
  const auto pad_ids = ids.subspan(static_cast<std::size_t>(*tokens));
  switch (pads) {
    case PadPolicy::kSegment:
      std::fill(pad_ids.begin(), pad_ids.end(), next);
      break;
    case PadPolicy::kSelf:
      std::iota(pad_ids.begin(), pad_ids.end(), next);
      break;
    case PadPolicy::kNone:
      std::fill(pad_ids.begin(), pad_ids.end(), first - 1);
      break;
    case PadPolicy::kLast:
      std::fill(pad_ids.begin(), pad_ids.end(), std::max(first, next - 1));
      break;
  }
  return {};
}

Result<void> fill_positions(std::span<const std::int32_t> cu_seqlens, PadPositions pads,
                            std::span<std::int64_t> positions) {
  return positions_of(cu_seqlens, pads, positions);
}
Result<void> fill_positions(std::span<const std::int32_t> cu_seqlens, PadPositions pads,
                            std::span<std::int32_t> positions) {
  return positions_of(cu_seqlens, pads, positions);
}

}  // namespace tokpack
