// Every kernel that this machine has, on one set of cases: equal bytes, and not one byte beside the cells.
#include "mask_kernels.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "naive_masks.h"
#include "poisoned.h"

using namespace tokpack;
using namespace tokpack::test;
using detail::MaskKernels;
using detail::MaskRows;
using detail::WriteRows;

namespace {

struct Path {
  std::string name;
  WriteRows write;
};
std::vector<Path> paths() {
  std::vector<Path> out;
  for (const MaskKernels& kernels : detail::mask_kernel_variants()) {
    out.push_back({std::string(kernels.name) + " ordinary", kernels.ordinary});
    out.push_back({std::string(kernels.name) + " streaming", kernels.streaming});
  }
  return out;
}

struct Shape {
  std::size_t batch = 1, positions = 1, element = 1, row_gap = 0, batch_gap = 0,
              offset = 0;  // gaps in elements
};

struct Values {
  std::uint32_t masked, attended;
};
Values values_of(std::size_t element) {
  if (element == 1) return {0, 0x01010101};
  return element == 2 ? Values{0xff7fff7f, 0} : Values{0xff7fffff, 0};
}

/// Runs every path on one case and compares the whole buffer, margins and gaps included, with what cell by
/// cell stores give.
void check_all_paths(const Shape& shape, const Ints& lo, const Ints& hi) {
  const std::size_t row_stride = (shape.positions + shape.row_gap) * shape.element;
  const std::size_t batch_stride = row_stride * shape.positions + shape.batch_gap * shape.element;
  const std::size_t bytes = shape.batch * batch_stride;
  const auto [masked, attended] = values_of(shape.element);
  Poisoned expected(shape.offset, bytes);
  for (std::size_t b = 0; b < shape.batch; ++b) {
    for (std::size_t r = 0; r < shape.positions; ++r) {
      const std::size_t i = b * shape.positions + r;
      const std::int64_t least = lo[i], most = hi.empty() ? static_cast<std::int64_t>(r) : hi[i];
      for (std::size_t c = 0; c < shape.positions; ++c) {
        const auto column = static_cast<std::int64_t>(c);
        const std::uint32_t value = least <= column && column <= most ? attended : masked;
        std::memcpy(expected.cells() + b * batch_stride + r * row_stride + c * shape.element, &value,
                    shape.element);
      }
    }
  }
  for (const Path& path : paths()) {
    Poisoned actual(shape.offset, bytes);
    const MaskRows rows{.lo = lo.data(),
                        .hi = hi.empty() ? nullptr : hi.data(),
                        .positions = static_cast<std::int64_t>(shape.positions),
                        .element_bytes = shape.element,
                        .cells = actual.cells(),
                        .row_stride = row_stride,
                        .batch_stride = batch_stride,
                        .masked = masked,
                        .attended = attended};
    path.write(rows, 0, static_cast<std::int64_t>(lo.size()));
    const bool same =
        std::equal(actual.all().begin() + static_cast<std::ptrdiff_t>(actual.first() - 64),
                   actual.all().begin() + static_cast<std::ptrdiff_t>(actual.first() + bytes + 64),
                   expected.all().begin() + static_cast<std::ptrdiff_t>(expected.first() - 64));
    CHECK_MESSAGE(same, path.name << ": batch " << shape.batch << ", S " << shape.positions << ", element "
                                  << shape.element << ", row gap " << shape.row_gap << ", batch gap "
                                  << shape.batch_gap << ", offset " << shape.offset);
  }
}

Intervals random_intervals(RandomCases& cases, const Shape& shape) {
  Intervals out;
  for (std::size_t b = 0; b < shape.batch; ++b) {
    const auto [lo, hi] = intervals_of(cases.next(static_cast<std::int32_t>(shape.positions)));
    out.lo.insert(out.lo.end(), lo.begin(), lo.end());
    out.hi.insert(out.hi.end(), hi.begin(), hi.end());
  }
  return out;
}

}  // namespace

TEST_CASE("there is a portable kernel, and the best is the last of those the machine can run") {
  const auto variants = detail::mask_kernel_variants();
  REQUIRE(!variants.empty());
  CHECK(std::string(variants.front().name) == "portable");
  CHECK(std::string(detail::mask_kernels().name) == variants.back().name);
}

TEST_CASE("all paths give equal bytes for every S from 1 to 300, contiguous rows") {
  RandomCases cases(5);
  for (std::size_t positions = 1; positions <= 300; ++positions) {
    for (const std::size_t element : {1U, 2U, 4U}) {
      const Shape shape{.positions = positions, .element = element};
      const auto [lo, hi] = random_intervals(cases, shape);
      check_all_paths(shape, lo, hi);
    }
  }
}

TEST_CASE("all paths leave gaps between rows and batches as they were") {
  RandomCases cases(6);
  for (int round = 0; round < 400; ++round) {
    Shape shape{.batch = static_cast<std::size_t>(cases.number(1, 3)),
                .positions = static_cast<std::size_t>(cases.number(1, 200)),
                .element = std::size_t{1} << cases.number(0, 2),
                .row_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100)),
                .batch_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100))};
    shape.offset = static_cast<std::size_t>(cases.number(0, 63)) / shape.element * shape.element;
    const auto [lo, hi] = random_intervals(cases, shape);
    check_all_paths(shape, lo, hi);
  }
}

TEST_CASE("all paths write a buffer that begins at any byte of a cache line") {
  RandomCases cases(7);
  for (const std::size_t positions : {1U, 63U, 64U, 65U, 127U, 128U, 200U, 257U}) {
    for (std::size_t offset = 0; offset < 64; ++offset) {
      for (const std::size_t element : {1U, 2U, 4U}) {
        if (offset % element != 0) continue;
        const Shape shape{.positions = positions, .element = element, .offset = offset};
        const auto [lo, hi] = random_intervals(cases, shape);
        check_all_paths(shape, lo, hi);
      }
    }
  }
}

TEST_CASE(
    "all paths take every interval of a row: empty, of one key, to the ends, and across every vector edge") {
  for (const std::int32_t positions : {64, 130, 193}) {
    Ints lo, hi;
    for (std::int32_t begin = 0; begin < positions; ++begin) {
      for (std::int32_t end = begin - 1; end < positions; ++end) {
        lo.push_back(begin);
        hi.push_back(end);
      }
    }
    // As many batches as there are intervals for; what is left over repeats the last.
    const auto count = static_cast<std::size_t>(positions);
    while (lo.size() % count != 0) lo.push_back(lo.back()), hi.push_back(hi.back());
    check_all_paths({.batch = lo.size() / count, .positions = count}, lo, hi);
  }
}

TEST_CASE("all paths read any intervals as the rule says, with nothing outside the row") {
  RandomCases cases(8);
  const Ints extremes = {
      std::numeric_limits<std::int32_t>::min(), -1000, -1, 0, 1, std::numeric_limits<std::int32_t>::max() - 1,
      std::numeric_limits<std::int32_t>::max()};
  for (int round = 0; round < 200; ++round) {
    const Shape shape{.batch = 2,
                      .positions = static_cast<std::size_t>(cases.number(1, 150)),
                      .element = std::size_t{1} << cases.number(0, 2)};
    Ints lo, hi;
    const auto any = [&] {
      const std::int32_t at = cases.number(-20, static_cast<std::int32_t>(extremes.size()) - 1);
      return at >= 0 ? extremes[static_cast<std::size_t>(at)]
                     : cases.number(-5, static_cast<std::int32_t>(shape.positions) + 5);
    };
    for (std::size_t i = 0; i < 2 * shape.positions; ++i) lo.push_back(any()), hi.push_back(any());
    check_all_paths(shape, lo, round % 4 == 0 ? Ints{} : hi);
  }
}

TEST_CASE("all paths write rows longer than a group of rows") {
  RandomCases cases(9);
  for (const std::size_t positions : {8191U, 16385U, 40000U}) {
    const Case c = cases.next(static_cast<std::int32_t>(positions));
    const auto intervals = intervals_of(c);
    const auto [masked, attended] = values_of(2);
    std::vector<unsigned char> first;
    for (const Path& path : paths()) {
      Poisoned buffer(2, 24 * positions * 2);
      // The last 24 rows, as the part of a thread.
      const MaskRows rows{.lo = intervals.lo.data(),
                          .hi = intervals.hi.data(),
                          .positions = static_cast<std::int64_t>(positions),
                          .element_bytes = 2,
                          .cells = buffer.cells() - (positions - 24) * positions * 2,
                          .row_stride = positions * 2,
                          .batch_stride = positions * positions * 2,
                          .masked = masked,
                          .attended = attended};
      path.write(rows, static_cast<std::int64_t>(positions) - 24, static_cast<std::int64_t>(positions));
      const auto at = buffer.all().begin() + static_cast<std::ptrdiff_t>(buffer.first() - 64);
      std::vector<unsigned char> bytes(at, at + static_cast<std::ptrdiff_t>(24 * positions * 2 + 128));
      if (first.empty()) {
        bool same = true;
        for (std::size_t r = 0; r < 24; ++r) {
          const std::size_t row = positions - 24 + r;
          for (std::size_t k = 0; k < positions; ++k) {
            std::uint16_t cell;
            std::memcpy(&cell, bytes.data() + 64 + (r * positions + k) * 2, 2);
            const auto key = static_cast<std::int32_t>(k);
            const bool attends = intervals.lo[row] <= key && key <= intervals.hi[row];
            same = same && cell == (attends ? 0 : 0xff7f);
          }
        }
        CHECK(same);
        first = std::move(bytes);
      } else {
        CHECK_MESSAGE(bytes == first, path.name);
      }
    }
  }
}
