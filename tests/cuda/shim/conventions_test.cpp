// Every value of the conventions, from boundaries to cells and block lists, through the kernels alone.
#include <doctest/doctest.h>

#include "naive_masks.h"
#include "shim_kernels.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr MaskFamily kCausal = MaskFamily::kCausal, kSliding = MaskFamily::kSlidingWindow,
                     kBoth = MaskFamily::kBidirectional, kPrefix = MaskFamily::kPrefixLm;
constexpr PadPolicy kSegment = PadPolicy::kSegment, kSelf = PadPolicy::kSelf, kNone = PadPolicy::kNone,
                    kLast = PadPolicy::kLast;
constexpr std::array kPolicies = {kSegment, kSelf, kNone, kLast};
const Ints kOwn = {0, 1, 2, 3, 4, 5, 6, 7};

Intervals built(const Case& c) {
  Intervals out{Ints(static_cast<std::size_t>(c.positions), -7), {}};
  out.hi = out.lo;
  const auto done = shim_build({.cu_seqlens = c.cu_seqlens}, c.options(), out.lo, out.hi);
  if (!done.ok()) FAIL(done.error().detail);
  return out;
}
Ints lo_of(MaskFamily family, PadPolicy pads) { return built(example(family, pads)).lo; }
Ints hi_of(MaskFamily family, PadPolicy pads) { return built(example(family, pads)).hi; }

template <typename Cell>
std::vector<Cell> mask_of(const Case& c, const MaskOptions& options) {
  const auto [lo, hi] = built(c);
  std::vector<Cell> cells(lo.size() * lo.size(), Cell{0x5a});
  REQUIRE(sizeof(Cell) == mask_element_bytes(options.form));
  const MaskBuffer out{.data = cells.data(), .bytes = cells.size() * sizeof(Cell)};
  REQUIRE(shim_write({.lo = lo, .hi = hi}, options, out).ok());
  return cells;
}

/// A letter for each of two values, ? for others; "/" between rows.
template <typename Cell>
std::string drawn(const std::vector<Cell>& cells, std::size_t positions, Cell zero, Cell one,
                  const char* letters) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0 && i % positions == 0) out += '/';
    out += cells[i] == zero ? letters[0] : cells[i] == one ? letters[1] : '?';
  }
  return out;
}
std::string shown(const Case& c) {
  return drawn<std::uint8_t>(mask_of<std::uint8_t>(c, {}), static_cast<std::size_t>(c.positions), 0, 1, "01");
}
std::string rows_of(MaskFamily family, PadPolicy pads, std::size_t first, std::size_t last) {
  return shown(example(family, pads)).substr(first * 9, (last - first + 1) * 9 - 1);
}

/// Per block of queries: how many blocks, and which.
struct Lists {
  Ints kv_num, full_num;
  std::vector<Ints> kv, full;
  bool operator==(const Lists&) const = default;
};

}  // namespace

TEST_CASE("the example's intervals of every family under each pad policy") {
  CHECK(lo_of(kCausal, kSegment) == Ints{0, 0, 0, 3, 3, 5, 5, 5});
  CHECK(lo_of(kCausal, kSelf) == Ints{0, 0, 0, 3, 3, 5, 6, 7});
  CHECK(lo_of(kCausal, kNone) == Ints{0, 0, 0, 3, 3, 8, 8, 8});
  CHECK(lo_of(kCausal, kLast) == Ints{0, 0, 0, 3, 3, 3, 3, 3});
  CHECK(lo_of(kSliding, kSegment) == Ints{0, 0, 1, 3, 3, 5, 5, 6});
  CHECK(lo_of(kSliding, kSelf) == Ints{0, 0, 1, 3, 3, 5, 6, 7});
  CHECK(lo_of(kSliding, kNone) == Ints{0, 0, 1, 3, 3, 8, 8, 8});
  CHECK(lo_of(kSliding, kLast) == Ints{0, 0, 1, 3, 3, 4, 5, 6});
  CHECK(hi_of(kBoth, kSegment) == Ints{2, 2, 2, 4, 4, 7, 7, 7});
  CHECK(hi_of(kBoth, kSelf) == Ints{2, 2, 2, 4, 4, 5, 6, 7});
  CHECK(hi_of(kBoth, kNone) == Ints{2, 2, 2, 4, 4, 5, 6, 7});
  CHECK(hi_of(kBoth, kLast) == Ints{2, 2, 2, 4, 4, 7, 7, 7});
  for (const PadPolicy pads : kPolicies) {
    CHECK(hi_of(kCausal, pads) == kOwn);
    CHECK(hi_of(kSliding, pads) == kOwn);
    CHECK(hi_of(kPrefix, pads) == Ints{1, 1, 2, 3, 4, 5, 6, 7});
    CHECK(lo_of(kBoth, pads) == lo_of(kCausal, pads));
    CHECK(lo_of(kPrefix, pads) == lo_of(kCausal, pads));
  }
}

TEST_CASE("the example's rows of real tokens, the same under all pad policies") {
  for (const PadPolicy pads : kPolicies) {
    CHECK(rows_of(kCausal, pads, 0, 4) == "10000000/11000000/11100000/00010000/00011000");
    CHECK(rows_of(kSliding, pads, 0, 4) == "10000000/11000000/01100000/00010000/00011000");
    CHECK(rows_of(kPrefix, pads, 0, 4) == "11000000/11000000/11100000/00010000/00011000");
    CHECK(rows_of(kBoth, pads, 0, 4) == "11100000/11100000/11100000/00011000/00011000");
  }
}

TEST_CASE("the example's pad rows under each pad policy") {
  CHECK(rows_of(kCausal, kSegment, 5, 7) == "00000100/00000110/00000111");
  CHECK(rows_of(kCausal, kLast, 5, 7) == "00011100/00011110/00011111");
  CHECK(rows_of(kSliding, kSegment, 5, 7) == "00000100/00000110/00000011");
  CHECK(rows_of(kSliding, kLast, 5, 7) == "00001100/00000110/00000011");
  CHECK(rows_of(kBoth, kSegment, 5, 7) == "00000111/00000111/00000111");
  CHECK(rows_of(kBoth, kLast, 5, 7) == "00011111/00011111/00011111");
  for (const MaskFamily family : {kCausal, kSliding, kBoth}) {
    CHECK(rows_of(family, kSelf, 5, 7) == "00000100/00000010/00000001");
    CHECK(rows_of(family, kNone, 5, 7) == "00000000/00000000/00000000");
  }
}

TEST_CASE("small values: one sequence of each family, several with a pad and without, pads alone") {
  CHECK(shown({.cu_seqlens = {0, 3}, .positions = 3}) == "100/110/111");
  CHECK(shown({.cu_seqlens = {0, 4}, .positions = 4, .family = kSliding, .window = 2}) ==
        "1000/1100/0110/0011");
  CHECK(shown({.cu_seqlens = {0, 4}, .positions = 4, .family = kPrefix, .prefixes = {2}}) ==
        "1100/1100/1110/1111");
  CHECK(shown({.cu_seqlens = {0, 3, 5}, .positions = 6}) == "100000/110000/111000/000100/000110/000001");
  CHECK(shown({.cu_seqlens = {0, 2, 4, 6}, .positions = 6}) == "100000/110000/001000/001100/000010/000011");
  CHECK(shown({.cu_seqlens = {0, 1, 2, 3}, .positions = 3}) == "100/010/001");
  for (const PadPolicy pads : {kSegment, kLast}) {
    CHECK(shown({.cu_seqlens = {0}, .positions = 3, .pads = pads}) == "100/110/111");
  }
  CHECK(shown({.cu_seqlens = {0}, .positions = 3, .pads = kSelf}) == "100/010/001");
  CHECK(shown({.cu_seqlens = {0}, .positions = 3, .pads = kNone}) == "000/000/000");
}

TEST_CASE("the example in the forms that are not bool, to the bit") {
  const Case c = example(kCausal, kSegment);
  const char* const additive = "0XXXXXXX/00XXXXXX/000XXXXX/XXX0XXXX/XXX00XXX/XXXXX0XX/XXXXX00X/XXXXX000";
  const auto f32 = [&](MaskedValue masked, std::uint32_t bits) {
    const auto cells = mask_of<std::uint32_t>(c, {.form = MaskForm::kAdditiveF32, .masked = masked});
    return drawn<std::uint32_t>(cells, 8, 0, bits, "0X");
  };
  const auto half = [&](MaskForm form, MaskedValue masked, std::uint16_t bits) {
    return drawn<std::uint16_t>(mask_of<std::uint16_t>(c, {.form = form, .masked = masked}), 8, 0, bits,
                                "0X");
  };
  const MaskedValue infinity = MaskedValue::kNegativeInfinity, lowest = MaskedValue::kLowestFinite;
  CHECK(f32(infinity, 0xff800000) == additive);
  CHECK(f32(lowest, 0xff7fffff) == additive);
  CHECK(half(MaskForm::kAdditiveBf16, infinity, 0xff80) == additive);
  CHECK(half(MaskForm::kAdditiveBf16, lowest, 0xff7f) == additive);
  CHECK(half(MaskForm::kAdditiveF16, infinity, 0xfc00) == additive);
  CHECK(half(MaskForm::kAdditiveF16, lowest, 0xfbff) == additive);
  CHECK(drawn<std::uint8_t>(mask_of<std::uint8_t>(c, {.form = MaskForm::kInvertedBool}), 8, 0, 1, "0X") ==
        additive);
}

TEST_CASE("block lists of causal rows, square blocks and others") {
  const auto lists = [](const Ints& lengths, BlockSize size) {
    Case c{.cu_seqlens = {0}};
    for (const std::int32_t length : lengths) c.cu_seqlens.push_back(c.cu_seqlens.back() + length);
    c.positions = c.cu_seqlens.back();
    const auto [lo, hi] = built(c);
    const auto counts = block_counts(c.positions, size).value();
    const auto queries = static_cast<std::size_t>(counts.query), keys = static_cast<std::size_t>(counts.key);
    Ints kv_num(queries), full_num(queries), kv(queries * keys, -9), full(queries * keys, -9);
    REQUIRE(shim_list({.lo = lo}, size, {kv_num, kv, full_num, full}).ok());
    Lists out{kv_num, full_num, {}, {}};
    for (std::size_t q = 0; q < queries; ++q) {
      const auto at = static_cast<std::ptrdiff_t>(q * keys);
      out.kv.emplace_back(kv.begin() + at, kv.begin() + at + kv_num[q]);
      out.full.emplace_back(full.begin() + at, full.begin() + at + full_num[q]);
    }
    return out;
  };
  CHECK(lists({384}, {}) == Lists{{1, 1, 1}, {0, 1, 2}, {{0}, {1}, {2}}, {{}, {0}, {0, 1}}});
  CHECK(lists({100, 156}, {}) == Lists{{1, 2}, {0, 0}, {{0}, {0, 1}}, {{}, {}}});
  CHECK(lists({130, 126}, {}) == Lists{{1, 2}, {0, 0}, {{0}, {0, 1}}, {{}, {}}});
  CHECK(lists({128, 256}, {}) == Lists{{1, 1, 1}, {0, 0, 1}, {{0}, {1}, {2}}, {{}, {}, {1}}});
  CHECK(lists({100, 28, 128}, {}) == Lists{{1, 1}, {0, 0}, {{0}, {1}}, {{}, {}}});
  CHECK(lists({384}, {256, 128}) == Lists{{2, 3}, {0, 0}, {{0, 1}, {0, 1, 2}}, {{}, {}}});
  CHECK(lists({384}, {128, 256}) == Lists{{1, 1, 1}, {0, 0, 1}, {{0}, {0}, {1}}, {{}, {}, {0}}});
}
