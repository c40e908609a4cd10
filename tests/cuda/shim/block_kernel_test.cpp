// The block list kernel against the library's CPU implementation, and over intervals that it refuses.
#include <doctest/doctest.h>

#include <limits>

#include "naive_masks.h"
#include "shim_kernels.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr std::int32_t kUnwritten = -9;

/// The four arrays, with a guard on either side of each.
struct Lists {
  Ints kv_num, kv, full_num, full;
  Lists(std::size_t rows, std::size_t keys)
      : kv_num(rows + 2, kUnwritten),
        kv(rows * keys + 2, kUnwritten),
        full_num(rows + 2, kUnwritten),
        full(rows * keys + 2, kUnwritten) {}
  BlockLists buffers() {
    const auto inner = [](Ints& all) { return std::span(all).subspan(1, all.size() - 2); };
    return {inner(kv_num), inner(kv), inner(full_num), inner(full)};
  }
  bool kept() const {
    for (const Ints* all : {&kv_num, &kv, &full_num, &full}) {
      if (all->front() != kUnwritten || all->back() != kUnwritten) return false;
    }
    return true;
  }
  bool operator==(const Lists&) const = default;
};

Lists empty_lists(std::size_t batch, std::int32_t positions, BlockSize size) {
  const auto counts = block_counts(positions, size).value();
  return {batch * static_cast<std::size_t>(counts.query), static_cast<std::size_t>(counts.key)};
}

}  // namespace

TEST_CASE("block lists of random batches equal the CPU's, and entries past a count stay unwritten") {
  RandomCases cases(41);
  for (int round = 0; round < 2000; ++round) {
    const std::int32_t positions = 1 + round % 300;
    const auto batch = static_cast<std::size_t>(cases.number(1, 3));
    Intervals all;
    for (std::size_t b = 0; b < batch; ++b) {
      const auto [lo, hi] = intervals_of(cases.next(positions));
      all.lo.insert(all.lo.end(), lo.begin(), lo.end());
      all.hi.insert(all.hi.end(), hi.begin(), hi.end());
    }
    const BlockSize size{.query = cases.number(1, 40), .key = cases.number(1, 40)};
    Lists actual = empty_lists(batch, positions, size), expected = actual;
    const RowIntervals intervals{.lo = all.lo, .hi = all.hi, .batch = static_cast<std::int64_t>(batch)};
    REQUIRE(make_block_lists(intervals, size, expected.buffers()).ok());
    REQUIRE(shim_list(intervals, size, actual.buffers()).ok());
    CHECK_MESSAGE(actual == expected, "round " << round);
  }
}

TEST_CASE("block lists without hi, of long rows, of blocks larger than the row") {
  for (const std::int32_t positions : {1, 1234, 8193, 32'768}) {
    const Case c{.cu_seqlens = {0, (positions + 1) / 2}, .positions = positions, .pads = PadPolicy::kNone};
    const Ints lo = intervals_of(c).lo;
    for (const BlockSize size :
         {BlockSize{128, 128}, {64, 256}, {1 << 20, 16}, {0x7fffffff, 0x7fffffff}, {100, 0x7fffffff}}) {
      Lists actual = empty_lists(1, positions, size), expected = actual;
      REQUIRE(make_block_lists({.lo = lo}, size, expected.buffers()).ok());
      REQUIRE(shim_list({.lo = lo}, size, actual.buffers()).ok());
      CHECK(actual == expected);
    }
  }
}

TEST_CASE("any intervals at all write nothing outside the index rows") {
  RandomCases cases(42);
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  for (int round = 0; round < 2000; ++round) {
    const std::int32_t positions = cases.number(1, 40);
    Ints lo, hi;
    const auto any = [&] {
      const std::int32_t kind = cases.number(0, 12);
      if (kind == 0) return least + cases.number(0, 2);
      if (kind == 1) return most - cases.number(0, 2);
      return cases.number(-3, positions + 3);
    };
    for (std::int32_t i = 0; i < positions; ++i) lo.push_back(any()), hi.push_back(any());
    if (round % 2 == 0) std::sort(lo.begin(), lo.end()), std::sort(hi.begin(), hi.end());
    const BlockSize size{.query = cases.number(1, 5), .key = cases.number(1, 5)};
    Lists lists = empty_lists(1, positions, size);
    REQUIRE(shim_list({.lo = lo, .hi = round % 5 == 0 ? std::span<const std::int32_t>() : hi}, size,
                      lists.buffers())
                .ok());
    CHECK(lists.kept());
    const auto counts = block_counts(positions, size).value();
    for (std::size_t q = 1; q + 1 < lists.kv_num.size(); ++q) {
      const std::int32_t partial = lists.kv_num[q], full = lists.full_num[q];
      CHECK((partial >= 0 && full >= 0 && partial + full <= counts.key));
      // Written up to the count, ascending, and not one entry further.
      const auto row = [&](const Ints& all, std::int32_t count) {
        const auto first = all.begin() + 1 + static_cast<std::ptrdiff_t>(q - 1) * counts.key;
        return std::is_sorted(first, first + count) && (count == 0 || *first >= 0) &&
               std::all_of(first + count, first + counts.key, [](auto v) { return v == kUnwritten; });
      };
      CHECK(row(lists.kv, partial));
      CHECK(row(lists.full, full));
    }
  }
}

TEST_CASE("more rows than a grid has blocks in y are all listed") {
  const std::size_t batch = 65'535 + 9;
  const Ints lo(2 * batch, 0);
  Lists lists = empty_lists(batch, 2, {2, 2});
  REQUIRE(shim_list({.lo = lo, .batch = static_cast<std::int64_t>(batch)}, {2, 2}, lists.buffers()).ok());
  CHECK(std::all_of(lists.kv_num.begin() + 1, lists.kv_num.end() - 1, [](auto n) { return n == 1; }));
  CHECK(std::all_of(lists.kv.begin() + 1, lists.kv.end() - 1, [](auto k) { return k == 0; }));
}
