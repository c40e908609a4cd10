// Cells further away than 32 bits can say, in memory that exists where it is touched: chosen blocks alone
// run.
#include <doctest/doctest.h>

#include <cstring>

#include "naive_masks.h"
#include "shim_kernels.h"
#include "sparse_memory.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

/// Runs the block that has row `row` of `batch`, and whether that row is right and what follows it untouched.
bool row_is_right(const cuda::MaskJob& job, std::uint32_t batch, std::uint32_t row) {
  const cuda::LaunchShape shape = shape_of(job);
  const std::uint32_t x = row / shape.rows % shape.grid_x;
  run(job, true, shape, {x, x + 1, batch, batch + 1});
  const std::size_t i = std::size_t{batch} * static_cast<std::size_t>(job.positions) + row;
  const unsigned char* cells = job.cells + batch * job.batch_stride + row * job.row_stride;
  bool right = true;
  for (std::int64_t c = 0; c < job.positions; ++c) {
    const bool attended = job.lo[i] <= c && c <= (job.hi == nullptr ? std::int64_t{row} : job.hi[i]);
    const std::uint32_t expected = attended ? job.attended : job.masked;
    right = right && std::memcmp(cells + (c << job.element_shift), &expected, 1U << job.element_shift) == 0;
  }
  return right;
}

}  // namespace

TEST_CASE("masks of just above 2^31 and 2^32 cells are right at sampled rows, in cells of 1 and 4 bytes") {
  for (const std::uint32_t positions : {46'341U, 65'537U}) {
    const auto count = static_cast<std::int32_t>(positions);
    const auto [lo, hi] = intervals_of({.cu_seqlens = {0, 1000, count - 500}, .positions = count});
    for (const MaskForm form : {MaskForm::kBool, MaskForm::kAdditiveF32}) {
      const std::size_t bytes = std::size_t{positions} * positions * mask_element_bytes(form);
      const SparseMemory memory(bytes);
      REQUIRE(memory.data() != nullptr);
      const auto job = cuda::mask_job({.lo = lo, .hi = hi}, {.form = form, .force = true},
                                      {.data = memory.data(), .bytes = bytes});
      REQUIRE(job.ok());
      for (const std::uint32_t row : {0U, 999U, 1000U, positions / 2, positions - 500, positions - 1}) {
        CHECK(row_is_right(*job, 0, row));
      }
    }
  }
}

TEST_CASE("the offset of a batch has 64 bits, and so has that of a row by a large stride") {
  const std::size_t row = 40'000'003, batch = std::size_t{6} << 30;
  const SparseMemory memory(3 * batch);
  REQUIRE(memory.data() != nullptr);
  const Ints lo(300, 7);
  const auto job = cuda::mask_job({.lo = lo, .batch = 3}, {.form = MaskForm::kInvertedBool},
                                  {.data = memory.data(),
                                   .bytes = 3 * batch,
                                   .row_stride = static_cast<std::int64_t>(row),
                                   .batch_stride = static_cast<std::int64_t>(batch)});
  REQUIRE(job.ok());
  for (const std::uint32_t b : {0U, 1U, 2U}) {
    for (const std::uint32_t r : {0U, 53U, 54U, 99U}) {
      CHECK(row_is_right(*job, b, r));
      CHECK(memory.data()[b * batch + r * row + 100] == 0);  // the gap was never touched
    }
  }
}

TEST_CASE("rows past the blocks of a grid are written by the blocks that it has") {
  // One more row than 65535 blocks take at once: the first block has the first rows and that one.
  const std::uint32_t rows = cuda::mask_shape(1, 1 << 20, 1).rows, positions = 65'535 * rows + 1;
  const std::size_t bytes = std::size_t{positions} * positions;
  const SparseMemory memory(bytes);
  if (memory.data() == nullptr) {
    MESSAGE("no address space of " << bytes << " bytes here: not run");
    return;
  }
  Ints lo(positions, 3);
  lo[positions - 1] = static_cast<std::int32_t>(positions) - 2;
  const auto job = cuda::mask_job({.lo = lo}, {.force = true}, {.data = memory.data(), .bytes = bytes});
  REQUIRE(job.ok());
  CHECK(shape_of(*job).grid_x == 65'535);
  CHECK(row_is_right(*job, 0, positions - 1));
  CHECK(row_is_right(*job, 0, rows - 1));
}
