// The loops that write masks: rows of three runs (masked, attended, masked), in one version for each
// instruction set and kind of store.
//
// `ordinary` leaves cells in the caches, `streaming` goes past them, and ends with a fence, so that whoever
// is told that the mask is ready sees it. Both write exactly the cells of their rows. The choice is made
// once, at run time. Threads: pure functions on the caller's buffer; disjoint rows may be written at once,
// though they share cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tokpack::detail {

/// Rows of all batches in bytes. Row i is row i % positions of batch i / positions.
struct MaskRows {
  const std::int32_t* lo = nullptr;
  const std::int32_t* hi = nullptr;  ///< null: hi(r) = r
  std::int64_t positions = 0;        ///< S; a row has S x element_bytes bytes
  std::size_t element_bytes = 1;     ///< 1, 2 or 4
  unsigned char* cells = nullptr;
  std::size_t row_stride = 0;    ///< bytes
  std::size_t batch_stride = 0;  ///< bytes
  std::uint32_t masked = 0;      ///< the value of a cell, repeated to 4 bytes
  std::uint32_t attended = 0;
};

/// Writes rows [first, last).
using WriteRows = void (*)(const MaskRows& rows, std::int64_t first, std::int64_t last) noexcept;

struct MaskKernels {
  const char* name;
  WriteRows ordinary;
  WriteRows streaming;
};

/// What this machine runs best.
const MaskKernels& mask_kernels() noexcept;
/// All that it can run, for tests.
std::span<const MaskKernels> mask_kernel_variants() noexcept;

}  // namespace tokpack::detail
