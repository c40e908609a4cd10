// How many blocks of how many threads each kernel gets: pure functions of the sizes, so that the tests run
// the kernels in the shape that a GPU does.
//
// Every kernel loops over its grid: any shape gives the same bytes. In a block, x are lanes that share one
// row (of positions, of a mask, or of an index list) and y are rows; the grid's x goes over the rows of a
// batch and its y over batches, so that no thread divides to learn where it is.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tokpack::cuda {

struct LaunchShape {
  std::uint32_t grid_x, grid_y;
  std::uint32_t lanes, rows;  ///< of a block
};

inline constexpr std::uint32_t kThreads = 256;  ///< most of a block
/// The hardware's limit in y. In x it is 2^31 - 1; past this many, blocks that take further rows cost less.
inline constexpr std::int64_t kMostBlocks = 65535;

inline constexpr std::uint32_t kVectorBytes = 16;
/// Whole warps would idle over the three runs of a short row.
inline constexpr std::uint32_t kLeastMaskLanes = 8;
/// A warp. More lanes share the cost of finding a row's runs among fewer stores each: with 128 a row of 8192
/// bytes costs twice the instructions.
inline constexpr std::uint32_t kMostMaskLanes = 32;
/// A lane has at least this many vectors of a row, if more lanes can be had at all.
inline constexpr std::uint64_t kVectorsOfALane = 4;

inline std::uint32_t blocks_for(std::int64_t items, std::int64_t of_a_block) noexcept {
  return static_cast<std::uint32_t>(std::min(kMostBlocks, (items - 1) / of_a_block + 1));
}

/// REQUIRES of all: batch and sizes of at least 1.
inline LaunchShape mask_shape(std::int64_t batch, std::int64_t positions,
                              std::uint32_t element_bytes) noexcept {
  const std::uint64_t vectors = static_cast<std::uint64_t>(positions) * element_bytes / kVectorBytes;
  std::uint32_t lanes = kLeastMaskLanes;
  while (lanes < kMostMaskLanes && vectors >= 2 * lanes * kVectorsOfALane) lanes *= 2;
  const std::uint32_t rows = kThreads / lanes;
  return {blocks_for(positions, rows), blocks_for(batch, 1), lanes, rows};
}

/// A thread per position.
inline LaunchShape interval_shape(std::int64_t batch, std::int64_t positions) noexcept {
  return {blocks_for(positions, kThreads), blocks_for(batch, 1), kThreads, 1};
}

/// A warp per block of queries.
inline LaunchShape block_shape(std::int64_t batch, std::int64_t query_blocks) noexcept {
  constexpr std::uint32_t lanes = 32, rows = 4;
  return {blocks_for(query_blocks, rows), blocks_for(batch, 1), lanes, rows};
}

}  // namespace tokpack::cuda
