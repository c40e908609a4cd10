// The interval kernel against the library's CPU builder, batches of rows padded to one number of boundaries.
#include <doctest/doctest.h>

#include <limits>

#include "naive_masks.h"
#include "shim_kernels.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr std::int32_t kGuard = -77;

/// Rows of one family, pads and window as the arrays of a batch, `spare` more boundaries than the most.
struct Batch {
  std::vector<Case> rows;
  std::size_t sequences = 0;  // N
  Ints cu_seqlens, prefixes;

  Batch(std::vector<Case> cases, std::size_t spare, std::int32_t behind) : rows(std::move(cases)) {
    for (const Case& c : rows) sequences = std::max(sequences, c.cu_seqlens.size() - 1);
    sequences += spare;
    for (const Case& c : rows) {
      cu_seqlens.insert(cu_seqlens.end(), c.cu_seqlens.begin(), c.cu_seqlens.end());
      cu_seqlens.resize(cu_seqlens.size() + sequences + 1 - c.cu_seqlens.size(), c.tokens());
      prefixes.insert(prefixes.end(), c.prefixes.begin(), c.prefixes.end());
      prefixes.resize(cu_seqlens.size() / (sequences + 1) * sequences, behind);  // counts for nothing
    }
  }
  IntervalOptions options() const {
    IntervalOptions out = rows.front().options();
    out.prefixes = {};
    if (out.family == MaskFamily::kPrefixLm) out.prefixes = prefixes;
    return out;
  }
};

/// `count` random rows that have family, pads and window in common.
std::vector<Case> alike(RandomCases& cases, std::int32_t positions, int count) {
  std::vector<Case> rows;
  while (static_cast<int>(rows.size()) < count) {
    Case c = cases.next(positions);
    if (!rows.empty()) {
      c.family = rows.front().family;
      c.pads = rows.front().pads;
      c.window = rows.front().window;
      c.prefixes.clear();
      for (std::size_t s = 1; c.family == MaskFamily::kPrefixLm && s < c.cu_seqlens.size(); ++s) {
        c.prefixes.push_back(cases.number(0, c.cu_seqlens[s] - c.cu_seqlens[s - 1]));
      }
    }
    rows.push_back(std::move(c));
  }
  return rows;
}

/// B x S numbers with a guard on either side.
struct Guarded {
  Ints all;
  explicit Guarded(std::size_t count) : all(count + 2, kGuard) {}
  std::span<std::int32_t> inner() { return std::span(all).subspan(1, all.size() - 2); }
  bool kept() const { return all.front() == kGuard && all.back() == kGuard; }
};

}  // namespace

TEST_CASE("intervals of random batches equal the CPU's, whatever the family, pads and spare boundaries") {
  RandomCases cases(31);
  for (int round = 0; round < 1500; ++round) {
    const std::int32_t positions = 1 + round % 300;
    const Batch batch(alike(cases, positions, cases.number(1, 4)),
                      static_cast<std::size_t>(cases.number(0, 5)), cases.number(-9, 9));
    Guarded lo(batch.rows.size() * static_cast<std::size_t>(positions)), hi = lo;
    const auto built = shim_build({batch.cu_seqlens, static_cast<std::int64_t>(batch.rows.size())},
                                  batch.options(), lo.inner(), hi.inner());
    if (!built.ok()) FAIL(built.error().detail);
    Ints expected_lo, expected_hi;
    for (const Case& c : batch.rows) {
      const auto row = intervals_of(c);
      expected_lo.insert(expected_lo.end(), row.lo.begin(), row.lo.end());
      expected_hi.insert(expected_hi.end(), row.hi.begin(), row.hi.end());
    }
    CHECK(std::equal(expected_lo.begin(), expected_lo.end(), lo.inner().begin()));
    CHECK(std::equal(expected_hi.begin(), expected_hi.end(), hi.inner().begin()));
    CHECK(lo.kept());
    CHECK(hi.kept());
  }
}

TEST_CASE("intervals of long rows and large windows equal the CPU's") {
  for (const std::int32_t positions : {1234, 8193, 300'001}) {
    for (const std::int32_t window : {1, 128, 0x7fffffff}) {
      Case c{.cu_seqlens = {0, 1, 1000}, .positions = positions};
      c.family = MaskFamily::kSlidingWindow;
      c.window = window;
      Ints lo(static_cast<std::size_t>(positions));
      REQUIRE(shim_build({.cu_seqlens = c.cu_seqlens}, c.options(), lo).ok());
      CHECK(lo == intervals_of(c).lo);
    }
  }
}

TEST_CASE("more rows than a grid has blocks in y are all built") {
  const std::size_t batch = 65'535 + 77;
  Ints cu_seqlens, expected;
  for (std::size_t b = 0; b < batch; ++b) {
    const auto length = static_cast<std::int32_t>(b % 3);  // 0: pads alone
    cu_seqlens.insert(cu_seqlens.end(), {0, length});
    for (std::int32_t r = 0; r < 2; ++r) expected.push_back(r < length ? 0 : length);
  }
  Ints lo(2 * batch, kGuard);
  REQUIRE(shim_build({cu_seqlens, static_cast<std::int64_t>(batch)}, {}, lo).ok());
  CHECK(lo == expected);
}

TEST_CASE("rows without any boundary but the first are pads") {
  Ints lo(6, kGuard), hi(6, kGuard);
  REQUIRE(shim_build({.cu_seqlens = Ints{0, 0}, .batch = 2}, {.family = MaskFamily::kBidirectional}, lo, hi)
              .ok());
  CHECK(lo == Ints{0, 0, 0, 0, 0, 0});
  CHECK(hi == Ints{2, 2, 2, 2, 2, 2});
  const IntervalOptions prefixed{.family = MaskFamily::kPrefixLm, .pads = PadPolicy::kLast};
  REQUIRE(shim_build({.cu_seqlens = Ints{0}}, prefixed, lo, hi).ok());
  CHECK(hi == Ints{0, 1, 2, 3, 4, 5});
}

TEST_CASE("any numbers for boundaries and prefixes read and write nothing outside the arrays") {
  RandomCases cases(32);
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  for (int round = 0; round < 2000; ++round) {
    const std::int32_t positions = cases.number(1, 60);
    const std::size_t batch = static_cast<std::size_t>(cases.number(1, 3)),
                      sequences = static_cast<std::size_t>(cases.number(0, 9));
    // Exactly as long as they must be: the sanitizers see a read past them.
    Ints cu_seqlens(batch * (sequences + 1)), prefixes(batch * sequences);
    const auto any = [&] {
      const std::int32_t kind = cases.number(0, 9);
      if (kind == 0) return least + cases.number(0, 2);
      if (kind == 1) return most - cases.number(0, 2);
      return cases.number(-3, positions + 3);
    };
    for (std::int32_t& value : cu_seqlens) value = any();
    for (std::int32_t& value : prefixes) value = any();
    if (round % 3 == 0) std::sort(cu_seqlens.begin(), cu_seqlens.end());
    IntervalOptions options{.family = static_cast<MaskFamily>(round % 4),
                            .pads = static_cast<PadPolicy>(round / 4 % 4)};
    if (options.family == MaskFamily::kSlidingWindow) options.window = round % 7 == 0 ? most : 3;
    if (options.family == MaskFamily::kPrefixLm) options.prefixes = prefixes;
    Guarded lo(batch * static_cast<std::size_t>(positions)), hi = lo;
    REQUIRE(shim_build({cu_seqlens, static_cast<std::int64_t>(batch)}, options, lo.inner(), hi.inner()).ok());
    CHECK(lo.kept());
    CHECK(hi.kept());
  }
}
