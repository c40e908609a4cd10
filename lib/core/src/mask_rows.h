// One row of a mask as bytes, and its runs: what every kernel of mask_kernels.h shares.
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mask_kernels.h"

namespace tokpack::detail {

/// Of the cells of a row, without what may lie between it and the next.
inline std::size_t row_bytes(const MaskRows& rows) noexcept {
  return static_cast<std::size_t>(rows.positions) * rows.element_bytes;
}

/// The bytes [begin, end) of a row are attended, begin <= end <= its length.
struct AttendedBytes {
  std::size_t begin, end;
};

/// lo and hi may be any int32: what lies outside the row is cut off.
inline AttendedBytes attended_bytes(const MaskRows& rows, std::int64_t i, std::int64_t r) noexcept {
  const std::int64_t hi = rows.hi == nullptr ? r : rows.hi[i];
  const std::int64_t end = std::clamp<std::int64_t>(hi + 1, 0, rows.positions);
  const std::int64_t begin = std::clamp<std::int64_t>(rows.lo[i], 0, end);
  return {static_cast<std::size_t>(begin) * rows.element_bytes,
          static_cast<std::size_t>(end) * rows.element_bytes};
}

/// Walks rows from `first` on: index over all batches, position in its batch, first byte.
class RowCursor {
 public:
  std::int64_t index, position;
  unsigned char* cells;

  RowCursor(const MaskRows& rows, std::int64_t first) noexcept
      : index(first), position(first % rows.positions), cells(rows.cells), rows_(rows) {
    cells += static_cast<std::size_t>(first / rows.positions) * rows.batch_stride +
             static_cast<std::size_t>(position) * rows.row_stride;
  }
  void next() noexcept {
    ++index;
    ++position;
    cells += rows_.row_stride;
    if (position == rows_.positions) {
      position = 0;
      cells = rows_.cells + static_cast<std::size_t>(index / rows_.positions) * rows_.batch_stride;
    }
  }

 private:
  const MaskRows& rows_;
};

/// Fills with a value that repeats every 4 bytes. REQUIRES: `bytes` and the phase of `to` are multiples of
/// the element, so that any element's pattern fits wherever it begins.
void fill_pattern(unsigned char* to, std::size_t bytes, std::uint32_t pattern) noexcept;

/// Bytes [first, last) of a row, whatever their number and place.
inline void fill_part(const MaskRows& rows, unsigned char* row, std::size_t first, std::size_t last,
                      AttendedBytes attended) noexcept {
  const std::size_t begin = std::clamp(attended.begin, first, last),
                    end = std::clamp(attended.end, begin, last);
  fill_pattern(row + first, begin - first, rows.masked);
  fill_pattern(row + begin, end - begin, rows.attended);
  fill_pattern(row + end, last - end, rows.masked);
}

}  // namespace tokpack::detail
