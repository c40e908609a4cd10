// The operators on the CPU: tokpack/core on the tensors' memory.
#include <algorithm>

#include "operators.h"

namespace tokpack::ops {
namespace {

/// Below this much mask for each, starting a thread costs more than it saves.
constexpr std::uint64_t kMaskBytesOfThread = std::uint64_t{2} << 20;

class Cpu {
 public:
  explicit Cpu(const Tensor& on) {
    if (!on.is_cpu()) refuse("the first tensor is not on the CPU, where another one is; move one of them");
  }

  Result<void> row_intervals(const Boundaries& boundaries, const IntervalOptions& options,
                             std::span<std::int32_t> lo, std::span<std::int32_t> hi) {
    const auto entries = static_cast<std::size_t>(boundaries.sequences) + 1;
    const std::size_t positions = lo.size() / static_cast<std::size_t>(boundaries.batch);
    for (std::size_t b = 0; b < static_cast<std::size_t>(boundaries.batch); ++b) {
      const auto row = boundaries.cu_seqlens.subspan(b * entries, entries);
      std::size_t sequences = entries - 1;  // of this row: the last boundary is repeated behind it
      while (sequences > 0 && row[sequences] == row[sequences - 1]) --sequences;
      IntervalOptions of_row = options;
      if (!options.prefixes.empty()) {
        of_row.prefixes = options.prefixes.subspan(b * (entries - 1), sequences);
      }
      auto built = build_row_intervals(row.first(sequences + 1), of_row, lo.subspan(b * positions, positions),
                                       hi.subspan(b * positions, positions));
      if (!built) {
        Error error = std::move(built).error();
        if (boundaries.batch > 1) error.detail = "row " + std::to_string(b) + ": " + error.detail;
        if (error.code == Errc::kCuSeqlens)
          error.detail += "; a shorter row repeats its last boundary to the end";
        return error;
      }
    }
    return {};
  }

  Result<void> write_mask(const RowIntervals& intervals, MaskOptions options, const MaskBuffer& out,
                          std::uint64_t bytes) {
    options.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(
        bytes / kMaskBytesOfThread, 1, std::max<std::uint64_t>(torch::stable::get_num_threads(), 1)));
    return tokpack::write_mask(intervals, options, out);
  }

  Result<void> block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out) {
    return make_block_lists(intervals, size, out);
  }
};

}  // namespace
}  // namespace tokpack::ops

STABLE_TORCH_LIBRARY_IMPL(tokpack, CPU, library) {
  tokpack::ops::Operators<tokpack::ops::Cpu>::implement(library);
}
