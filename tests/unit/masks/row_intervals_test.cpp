#include <doctest/doctest.h>

#include "naive_masks.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr PadPolicy kSegment = PadPolicy::kSegment, kSelf = PadPolicy::kSelf, kNone = PadPolicy::kNone,
                    kLast = PadPolicy::kLast;

Ints lo_of(MaskFamily family, PadPolicy pads) { return intervals_of(example(family, pads)).lo; }
Ints hi_of(MaskFamily family, PadPolicy pads) { return intervals_of(example(family, pads)).hi; }

const Ints kOwn = {0, 1, 2, 3, 4, 5, 6, 7};

Errc error_of(const Case& c) {
  const auto positions = static_cast<std::size_t>(std::max(c.positions, 0));
  Ints lo(positions, -7), hi(positions, -7);
  const auto built = build_row_intervals(c.cu_seqlens, c.options(), lo, hi);
  REQUIRE_FALSE(built.ok());
  CHECK(lo == Ints(positions, -7));  // nothing written
  CHECK(hi == Ints(positions, -7));
  CHECK_FALSE(built.error().detail.empty());
  return built.error().code;
}

}  // namespace

TEST_CASE("the example's causal intervals under each pad policy") {
  CHECK(lo_of(MaskFamily::kCausal, kSegment) == Ints{0, 0, 0, 3, 3, 5, 5, 5});
  CHECK(lo_of(MaskFamily::kCausal, kSelf) == Ints{0, 0, 0, 3, 3, 5, 6, 7});
  CHECK(lo_of(MaskFamily::kCausal, kNone) == Ints{0, 0, 0, 3, 3, 8, 8, 8});
  CHECK(lo_of(MaskFamily::kCausal, kLast) == Ints{0, 0, 0, 3, 3, 3, 3, 3});
  for (const PadPolicy pads : {kSegment, kSelf, kNone, kLast})
    CHECK(hi_of(MaskFamily::kCausal, pads) == kOwn);
}

TEST_CASE("the example's sliding intervals of 2 keys under each pad policy") {
  CHECK(lo_of(MaskFamily::kSlidingWindow, kSegment) == Ints{0, 0, 1, 3, 3, 5, 5, 6});
  CHECK(lo_of(MaskFamily::kSlidingWindow, kSelf) == Ints{0, 0, 1, 3, 3, 5, 6, 7});
  CHECK(lo_of(MaskFamily::kSlidingWindow, kNone) == Ints{0, 0, 1, 3, 3, 8, 8, 8});
  CHECK(lo_of(MaskFamily::kSlidingWindow, kLast) == Ints{0, 0, 1, 3, 3, 4, 5, 6});
  for (const PadPolicy pads : {kSegment, kSelf, kNone, kLast}) {
    CHECK(hi_of(MaskFamily::kSlidingWindow, pads) == kOwn);
  }
}

TEST_CASE("the example's bidirectional intervals under each pad policy") {
  CHECK(hi_of(MaskFamily::kBidirectional, kSegment) == Ints{2, 2, 2, 4, 4, 7, 7, 7});
  CHECK(hi_of(MaskFamily::kBidirectional, kSelf) == Ints{2, 2, 2, 4, 4, 5, 6, 7});
  CHECK(hi_of(MaskFamily::kBidirectional, kNone) == Ints{2, 2, 2, 4, 4, 5, 6, 7});
  CHECK(hi_of(MaskFamily::kBidirectional, kLast) == Ints{2, 2, 2, 4, 4, 7, 7, 7});
  for (const PadPolicy pads : {kSegment, kSelf, kNone, kLast}) {
    CHECK(lo_of(MaskFamily::kBidirectional, pads) == lo_of(MaskFamily::kCausal, pads));
  }
}

TEST_CASE("the example's prefix intervals under each pad policy") {
  for (const PadPolicy pads : {kSegment, kSelf, kNone, kLast}) {
    CHECK(hi_of(MaskFamily::kPrefixLm, pads) == Ints{1, 1, 2, 3, 4, 5, 6, 7});
    CHECK(lo_of(MaskFamily::kPrefixLm, pads) == lo_of(MaskFamily::kCausal, pads));
  }
}

TEST_CASE("hi may be left out for causal and sliding rows") {
  Ints lo(8);
  CHECK(build_row_intervals(Ints{0, 3, 5}, {}, lo).ok());
  CHECK(lo == Ints{0, 0, 0, 3, 3, 5, 5, 5});
  CHECK(build_row_intervals(Ints{0, 3, 5}, {.family = MaskFamily::kSlidingWindow, .window = 2}, lo).ok());
  CHECK(lo == Ints{0, 0, 1, 3, 3, 5, 5, 6});
  CHECK_FALSE(build_row_intervals(Ints{0, 3, 5}, {.family = MaskFamily::kBidirectional}, lo).ok());
  const Ints prefixes = {1, 1};
  CHECK_FALSE(
      build_row_intervals(Ints{0, 3, 5}, {.family = MaskFamily::kPrefixLm, .prefixes = prefixes}, lo).ok());
}

TEST_CASE("a row of pads alone has rows as the pad policy says, and none is empty unless asked") {
  for (const PadPolicy pads : {kSegment, kLast}) {
    CHECK(intervals_of({.cu_seqlens = {0}, .positions = 4, .pads = pads}).lo == Ints{0, 0, 0, 0});
    CHECK(
        intervals_of({.cu_seqlens = {0}, .positions = 3, .family = MaskFamily::kBidirectional, .pads = pads})
            .hi == Ints{2, 2, 2});
  }
  CHECK(intervals_of({.cu_seqlens = {0}, .positions = 4, .pads = kSelf}).lo == Ints{0, 1, 2, 3});
  CHECK(intervals_of({.cu_seqlens = {0}, .positions = 4, .pads = kNone}).lo == Ints{4, 4, 4, 4});
}

TEST_CASE("windows of one key, of the whole sequence and larger than any sequence") {
  const auto sliding = [](std::int32_t window) {
    return intervals_of({.cu_seqlens = {0, 4, 6},
                         .positions = 6,
                         .family = MaskFamily::kSlidingWindow,
                         .window = window})
        .lo;
  };
  CHECK(sliding(1) == Ints{0, 1, 2, 3, 4, 5});
  CHECK(sliding(3) == Ints{0, 0, 0, 1, 4, 4});
  CHECK(sliding(4) == Ints{0, 0, 0, 0, 4, 4});
  CHECK(sliding(0x7fffffff) == Ints{0, 0, 0, 0, 4, 4});
}

TEST_CASE("intervals agree with the mask cell by cell, in rows of 1 to 100 positions of every kind") {
  RandomCases cases(1);
  for (int round = 0; round < 1500; ++round) {
    const Case c = cases.next(1 + round % 100);
    const auto [lo, hi] = intervals_of(c);
    REQUIRE(lo.size() == static_cast<std::size_t>(c.positions));
    bool same = true;
    for (std::int32_t q = 0; q < c.positions; ++q) {
      const auto row = static_cast<std::size_t>(q);
      for (std::int32_t k = 0; k < c.positions; ++k) {
        same = same && (lo[row] <= k && k <= hi[row]) == naive_attends(c, q, k);
      }
      if (c.pads != kNone) same = same && lo[row] <= hi[row];
    }
    CHECK_MESSAGE(same, "round " << round);
    if (!same) break;
  }
}

TEST_CASE("lo and hi never descend, whatever the family and pad policy") {
  RandomCases cases(2);
  for (int round = 0; round < 500; ++round) {
    const auto [lo, hi] = intervals_of(cases.next(1 + round % 200));
    CHECK(std::is_sorted(lo.begin(), lo.end()));
    CHECK(std::is_sorted(hi.begin(), hi.end()));
  }
}

TEST_CASE("wrong boundaries are refused and nothing is written") {
  CHECK(error_of({.cu_seqlens = {}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {1, 3}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {-1, 3}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {0, 3, 3, 5}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {0, 5, 3}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {0, -2}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {0, 3, 9}, .positions = 8}) == Errc::kCuSeqlens);
  CHECK(error_of({.cu_seqlens = {0, 0x7fffffff}, .positions = 8}) == Errc::kCuSeqlens);
}

TEST_CASE("wrong rows, windows, prefixes and policies are refused and nothing is written") {
  CHECK(error_of({.cu_seqlens = {0}, .positions = 0}) == Errc::kOptions);
  const MaskFamily sliding = MaskFamily::kSlidingWindow, prefix = MaskFamily::kPrefixLm;
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = sliding}) == Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = sliding, .window = -1}) == Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .window = 2}) == Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = prefix}) == Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = prefix, .prefixes = {4}}) ==
        Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = prefix, .prefixes = {-1}}) ==
        Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = prefix, .prefixes = {1, 1}}) ==
        Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .prefixes = {1}}) == Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .family = static_cast<MaskFamily>(4)}) ==
        Errc::kOptions);
  CHECK(error_of({.cu_seqlens = {0, 3}, .positions = 4, .pads = static_cast<PadPolicy>(4)}) ==
        Errc::kOptions);
  Ints lo(8, -7), hi(7, -7);
  CHECK(build_row_intervals(Ints{0, 3}, {}, lo, hi).error().code == Errc::kOptions);
  CHECK(lo == Ints(8, -7));
}

TEST_CASE("a row longer than int32 can count is refused before anything is read or written") {
  std::int32_t one = -7;
  const std::span<std::int32_t> claimed(&one, std::size_t{0x7fffffff});
  CHECK(build_row_intervals(Ints{0, 1}, {}, claimed).error().code == Errc::kTooLarge);
  CHECK(one == -7);
}

TEST_CASE("an error says what was expected, what was found and what to do") {
  Ints lo(8);
  CHECK(build_row_intervals(Ints{0, 3, 3, 5}, {}, lo).error().detail ==
        "cu_seqlens[2] is 3, expected more than cu_seqlens[1] = 3; leave out empty sequences and what "
        "pads the array");
  CHECK(build_row_intervals(Ints{0, 9}, {}, lo).error().detail ==
        "cu_seqlens ends at 9, expected at most the 8 positions of the row; give longer rows");
}
