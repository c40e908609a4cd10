// Where the cells of a dense mask stand and which bits they hold: what every writer of masks, on the CPU or
// on a GPU, checks and computes before it writes the first cell.
//
// Threads: pure functions. Errors: kOptions, kTooLarge, as in mask.h.
#pragma once

#include <cstdint>

#include "tokpack/core/mask.h"
#include "tokpack/format/result.h"

namespace tokpack {

/// Sizes are checked: every cell lies within the buffer, no two in one place, and no byte offset of a cell
/// exceeds int64. Strides are in elements.
struct MaskLayout {
  std::uint64_t row_stride = 0;
  std::uint64_t batch_stride = 0;
  std::uint64_t mask_bytes = 0;     ///< of all cells, without what lies between them
  std::uint64_t element_bytes = 0;  ///< 1, 2 or 4
  std::uint32_t masked = 0;         ///< bits of a cell that is not attended, repeated to 4 bytes
  std::uint32_t attended = 0;       ///< bits of one that is
};

/// The layout of B x S x S cells in `out`. `out.data` is compared, not followed: it may be device memory.
/// REQUIRES: 1 <= batch, 1 <= positions <= kMaxRowPositions, as row_positions() gives them.
Result<MaskLayout> mask_layout(std::int64_t batch, std::int64_t positions, const MaskOptions& options,
                               const MaskBuffer& out);

}  // namespace tokpack
