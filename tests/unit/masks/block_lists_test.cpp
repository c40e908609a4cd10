#include "tokpack/core/block_lists.h"

#include <doctest/doctest.h>

#include "naive_masks.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr std::int32_t kUnwritten = -9;

/// Per block of queries: how many blocks, and which, without what stands past the counts.
struct Lists {
  Ints kv_num, full_num;
  std::vector<Ints> kv, full;
  bool operator==(const Lists&) const = default;
};

Lists lists_of(const Case& c, BlockSize size, bool with_hi = true) {
  const auto [lo, hi] = intervals_of(c);
  const auto counts = block_counts(c.positions, size).value();
  const auto queries = static_cast<std::size_t>(counts.query), keys = static_cast<std::size_t>(counts.key);
  Ints kv_num(queries, kUnwritten), full_num(queries, kUnwritten);
  Ints kv(queries * keys, kUnwritten), full(queries * keys, kUnwritten);
  const auto made = make_block_lists(
      {.lo = lo, .hi = with_hi ? std::span<const std::int32_t>(hi) : std::span<const std::int32_t>()}, size,
      {kv_num, kv, full_num, full});
  if (!made.ok()) FAIL(made.error().detail);
  Lists out{kv_num, full_num, {}, {}};
  const auto row = [&](const Ints& indices, std::size_t q, std::int32_t count) {
    const auto first = indices.begin() + static_cast<std::ptrdiff_t>(q * keys);
    CHECK(std::all_of(first + count, first + static_cast<std::ptrdiff_t>(keys),
                      [](auto v) { return v == kUnwritten; }));
    return Ints(first, first + count);
  };
  for (std::size_t q = 0; q < queries; ++q) {
    out.kv.push_back(row(kv, q, kv_num[q]));
    out.full.push_back(row(full, q, full_num[q]));
  }
  return out;
}

/// Every cell of every block looked at.
Lists naive_lists(const Case& c, BlockSize size) {
  Lists out;
  for (std::int32_t q = 0; q < c.positions; q += size.query) {
    Ints partial, full;
    for (std::int32_t k = 0; k < c.positions; k += size.key) {
      bool any = false, all = q + size.query <= c.positions && k + size.key <= c.positions;
      for (std::int32_t i = q; i < std::min(q + size.query, c.positions); ++i) {
        for (std::int32_t j = k; j < std::min(k + size.key, c.positions); ++j) {
          const bool attends = naive_attends(c, i, j);
          any = any || attends;
          all = all && attends;
        }
      }
      if (all) full.push_back(k / size.key);
      if (any && !all) partial.push_back(k / size.key);
    }
    out.kv_num.push_back(static_cast<std::int32_t>(partial.size()));
    out.full_num.push_back(static_cast<std::int32_t>(full.size()));
    out.kv.push_back(partial);
    out.full.push_back(full);
  }
  return out;
}

Case causal(const Ints& lengths) {
  Case c{.cu_seqlens = {0}};
  for (const std::int32_t length : lengths) c.cu_seqlens.push_back(c.cu_seqlens.back() + length);
  c.positions = c.cu_seqlens.back();
  return c;
}

Errc error_of(const Ints& lo, const Ints& hi, BlockSize size = {.query = 2, .key = 2}) {
  const std::size_t blocks = (lo.size() + 1) / 2;
  Ints num(blocks), kv(blocks * blocks), full_num(blocks), full(blocks * blocks);
  const auto made = make_block_lists({.lo = lo, .hi = hi}, size, {num, kv, full_num, full});
  REQUIRE_FALSE(made.ok());
  return made.error().code;
}

}  // namespace

TEST_CASE("block lists of causal rows, blocks of 128") {
  CHECK(lists_of(causal({384}), {}) == Lists{{1, 1, 1}, {0, 1, 2}, {{0}, {1}, {2}}, {{}, {0}, {0, 1}}});
  CHECK(lists_of(causal({100, 156}), {}) == Lists{{1, 2}, {0, 0}, {{0}, {0, 1}}, {{}, {}}});
  CHECK(lists_of(causal({130, 126}), {}) == Lists{{1, 2}, {0, 0}, {{0}, {0, 1}}, {{}, {}}});
  CHECK(lists_of(causal({128, 256}), {}) == Lists{{1, 1, 1}, {0, 0, 1}, {{0}, {1}, {2}}, {{}, {}, {1}}});
  CHECK(lists_of(causal({100, 28, 128}), {}) == Lists{{1, 1}, {0, 0}, {{0}, {1}}, {{}, {}}});
}

TEST_CASE("block lists of causal rows, blocks that are not square") {
  CHECK(lists_of(causal({384}), {.query = 256, .key = 128}) ==
        Lists{{2, 3}, {0, 0}, {{0, 1}, {0, 1, 2}}, {{}, {}}});
  CHECK(lists_of(causal({384}), {.query = 128, .key = 256}) ==
        Lists{{1, 1, 1}, {0, 0, 1}, {{0}, {0}, {1}}, {{}, {}, {0}}});
}

TEST_CASE("block lists without hi are those of hi(r) = r") {
  for (const Ints& lengths : {Ints{384}, Ints{100, 156}, Ints{1, 2, 3, 300, 5}}) {
    CHECK(lists_of(causal(lengths), {.query = 16, .key = 32}, false) ==
          lists_of(causal(lengths), {.query = 16, .key = 32}, true));
  }
}

TEST_CASE("a ragged tail block is never full") {
  const Case c{.cu_seqlens = {0, 10}, .positions = 10, .family = MaskFamily::kBidirectional};
  CHECK(lists_of(c, {.query = 4, .key = 4}) ==
        Lists{{1, 1, 3}, {2, 2, 0}, {{2}, {2}, {0, 1, 2}}, {{0, 1}, {0, 1}, {}}});
}

TEST_CASE("rows from the first pad on count as absent where pads attend nothing") {
  // 6 tokens, 6 pads, blocks of 4: the second block of queries has two rows, the third none.
  const Case c{.cu_seqlens = {0, 6}, .positions = 12, .pads = PadPolicy::kNone};
  CHECK(lists_of(c, {.query = 4, .key = 4}) == Lists{{1, 2, 0}, {0, 0, 0}, {{0}, {0, 1}, {}}, {{}, {}, {}}});
  const Case pads{.cu_seqlens = {0}, .positions = 8, .pads = PadPolicy::kNone};
  CHECK(lists_of(pads, {.query = 4, .key = 4}) == Lists{{0, 0}, {0, 0}, {{}, {}}, {{}, {}}});
}

TEST_CASE("block lists agree with looking at every cell, any family, pads and block size") {
  RandomCases cases(11);
  for (int round = 0; round < 2000; ++round) {
    const Case c = cases.next(1 + round % 150);
    const BlockSize size{.query = cases.number(1, 40), .key = cases.number(1, 40)};
    const bool same = lists_of(c, size) == naive_lists(c, size);
    CHECK_MESSAGE(same, "round " << round);
    if (!same) break;
  }
}

TEST_CASE("block lists of a batch stand one after the other") {
  const Case a = causal({5, 3}), b = causal({8});
  Intervals both = intervals_of(a);
  const auto second = intervals_of(b);
  both.lo.insert(both.lo.end(), second.lo.begin(), second.lo.end());
  Ints num(4), kv(8, kUnwritten), full_num(4), full(8, kUnwritten);
  REQUIRE(
      make_block_lists({.lo = both.lo, .batch = 2}, {.query = 4, .key = 4}, {num, kv, full_num, full}).ok());
  CHECK(num == Ints{1, 2, 1, 1});
  CHECK(kv == Ints{0, kUnwritten, 0, 1, 0, kUnwritten, 1, kUnwritten});
  CHECK(full_num == Ints{0, 0, 0, 1});
  CHECK(full == Ints{kUnwritten, kUnwritten, kUnwritten, kUnwritten, kUnwritten, kUnwritten, 0, kUnwritten});
}

TEST_CASE("block sizes and buffers that do not fit are refused") {
  CHECK(block_counts(8, {.query = 0, .key = 4}).error().code == Errc::kOptions);
  CHECK(block_counts(8, {.query = 4, .key = -1}).error().code == Errc::kOptions);
  CHECK(block_counts(0, {}).error().code == Errc::kTooLarge);
  CHECK(block_counts(8193, {}).value().query == 65);
  CHECK(block_counts(1, {.query = 0x7fffffff, .key = 0x7fffffff}).value().key == 1);
  const Ints lo(8, 0);
  Ints two(2, kUnwritten), four(4, kUnwritten), more(4, kUnwritten), three(3, kUnwritten);
  const BlockSize size{.query = 4, .key = 4};
  CHECK(make_block_lists({.lo = lo}, size, {two, four, two, more}).ok());
  CHECK(make_block_lists({.lo = lo}, size, {three, four, two, more}).error().code == Errc::kOptions);
  CHECK(make_block_lists({.lo = lo}, size, {two, three, two, more}).error().code == Errc::kOptions);
  CHECK(make_block_lists({.lo = lo}, size, {two, four, three, more}).error().code == Errc::kOptions);
  CHECK(make_block_lists({.lo = lo}, size, {two, four, two, three}).error().code == Errc::kOptions);
  CHECK(make_block_lists({.lo = lo, .batch = 3}, size, {two, four, two, more}).error().code ==
        Errc::kOptions);
  CHECK(make_block_lists({.lo = lo}, {.query = 0, .key = 4}, {two, four, two, more}).error().code ==
        Errc::kOptions);
  CHECK(three == Ints(3, kUnwritten));
}

TEST_CASE("intervals that descend or leave the row are refused where blocks begin or end") {
  CHECK(error_of({0, 0, 2, 1}, {0, 1, 2, 3}) == Errc::kOptions);   // lo descends within a block
  CHECK(error_of({1, 1, 0, 0}, {1, 1, 2, 3}) == Errc::kOptions);   // and between two
  CHECK(error_of({0, 0, 0, 0}, {3, 3, 2, 3}) == Errc::kOptions);   // hi descends between two
  CHECK(error_of({-1, 0, 0, 0}, {0, 1, 2, 3}) == Errc::kOptions);  // before the row
  CHECK(error_of({0, 0, 0, 0}, {0, 1, 2, 4}) == Errc::kOptions);   // past the row
  CHECK(error_of({0, 0, 3, 3}, {0, 1, 2, 3}) == Errc::kOptions);   // an empty row that is present
  CHECK(error_of({0, 3, 3, 3}, {0, 1, 3, 3}) == Errc::kOptions);   // the same as the last of its block
}

TEST_CASE("any intervals at all write nothing outside the index rows") {
  RandomCases cases(12);
  for (int round = 0; round < 500; ++round) {
    const std::int32_t positions = cases.number(1, 40);
    Ints lo, hi;
    for (std::int32_t i = 0; i < positions; ++i) {
      lo.push_back(cases.number(-3, positions + 3));
      hi.push_back(cases.number(-3, positions + 3));
    }
    if (round % 2 == 0) std::sort(lo.begin(), lo.end()), std::sort(hi.begin(), hi.end());
    const BlockSize size{.query = cases.number(1, 5), .key = cases.number(1, 5)};
    const auto counts = block_counts(positions, size).value();
    const auto rows = static_cast<std::size_t>(counts.query),
               cells = rows * static_cast<std::size_t>(counts.key);
    Ints numbers(2 * rows + 3, kUnwritten), indices(2 * cells + 3, kUnwritten);
    const auto number = std::span(numbers), index = std::span(indices);
    (void)make_block_lists({.lo = lo, .hi = hi}, size,
                           {number.subspan(1, rows), index.subspan(1, cells), number.subspan(rows + 2, rows),
                            index.subspan(cells + 2, cells)});
    for (const std::size_t at : {std::size_t{0}, rows + 1, 2 * rows + 2}) CHECK(numbers[at] == kUnwritten);
    for (const std::size_t at : {std::size_t{0}, cells + 1, 2 * cells + 2}) CHECK(indices[at] == kUnwritten);
  }
}
