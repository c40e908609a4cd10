#include <doctest/doctest.h>

#include <cstring>

#include "naive_masks.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

std::string rows_of(MaskFamily family, PadPolicy pads, std::size_t first, std::size_t last) {
  return picture(example(family, pads)).substr(first * 9, (last - first + 1) * 9 - 1);
}

template <typename Cell>
std::vector<Cell> mask_of(const Case& c, const MaskOptions& options) {
  const auto [lo, hi] = intervals_of(c);
  std::vector<Cell> cells(lo.size() * lo.size(), Cell{0x5a});
  REQUIRE(sizeof(Cell) == mask_element_bytes(options.form));
  REQUIRE(
      write_mask({.lo = lo, .hi = hi}, options, {.data = cells.data(), .bytes = cells.size() * sizeof(Cell)})
          .ok());
  return cells;
}

/// 0 where the value is 0, X where it is `masked`, ? elsewhere.
template <typename Cell>
std::string additive_picture(const std::vector<Cell>& cells, Cell masked, std::size_t positions) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0 && i % positions == 0) out += '/';
    out += cells[i] == 0 ? '0' : cells[i] == masked ? 'X' : '?';
  }
  return out;
}

const char* const kExampleAdditive =
    "0XXXXXXX/00XXXXXX/000XXXXX/XXX0XXXX/XXX00XXX/XXXXX0XX/XXXXX00X/XXXXX000";

}  // namespace

TEST_CASE("the rows of real tokens of the example are the same under all pad policies") {
  for (const PadPolicy pads : {PadPolicy::kSegment, PadPolicy::kSelf, PadPolicy::kNone, PadPolicy::kLast}) {
    CHECK(rows_of(MaskFamily::kCausal, pads, 0, 4) == "10000000/11000000/11100000/00010000/00011000");
    CHECK(rows_of(MaskFamily::kSlidingWindow, pads, 0, 4) == "10000000/11000000/01100000/00010000/00011000");
    CHECK(rows_of(MaskFamily::kPrefixLm, pads, 0, 4) == "11000000/11000000/11100000/00010000/00011000");
    CHECK(rows_of(MaskFamily::kBidirectional, pads, 0, 4) == "11100000/11100000/11100000/00011000/00011000");
  }
}

TEST_CASE("the pad rows of the example under each pad policy") {
  const MaskFamily causal = MaskFamily::kCausal, sliding = MaskFamily::kSlidingWindow,
                   both = MaskFamily::kBidirectional;
  CHECK(rows_of(causal, PadPolicy::kSegment, 5, 7) == "00000100/00000110/00000111");
  CHECK(rows_of(causal, PadPolicy::kLast, 5, 7) == "00011100/00011110/00011111");
  CHECK(rows_of(sliding, PadPolicy::kSegment, 5, 7) == "00000100/00000110/00000011");
  CHECK(rows_of(sliding, PadPolicy::kLast, 5, 7) == "00001100/00000110/00000011");
  CHECK(rows_of(both, PadPolicy::kSegment, 5, 7) == "00000111/00000111/00000111");
  CHECK(rows_of(both, PadPolicy::kLast, 5, 7) == "00011111/00011111/00011111");
  for (const MaskFamily family : {causal, sliding, both}) {
    CHECK(rows_of(family, PadPolicy::kSelf, 5, 7) == "00000100/00000010/00000001");
    CHECK(rows_of(family, PadPolicy::kNone, 5, 7) == "00000000/00000000/00000000");
  }
}

TEST_CASE("one sequence of each family") {
  CHECK(picture({.cu_seqlens = {0, 3}, .positions = 3}) == "100/110/111");
  CHECK(picture({.cu_seqlens = {0, 4}, .positions = 4, .family = MaskFamily::kSlidingWindow, .window = 2}) ==
        "1000/1100/0110/0011");
  CHECK(picture({.cu_seqlens = {0, 4}, .positions = 4, .family = MaskFamily::kPrefixLm, .prefixes = {2}}) ==
        "1100/1100/1110/1111");
  CHECK(picture({.cu_seqlens = {0, 2}, .positions = 2, .family = MaskFamily::kBidirectional}) == "11/11");
  CHECK(picture({.cu_seqlens = {0, 1}, .positions = 1}) == "1");
}

TEST_CASE("several causal sequences with a pad, and without") {
  CHECK(picture({.cu_seqlens = {0, 3, 5}, .positions = 6}) == "100000/110000/111000/000100/000110/000001");
  CHECK(picture({.cu_seqlens = {0, 3, 5, 6}, .positions = 6}) == "100000/110000/111000/000100/000110/000001");
  CHECK(picture({.cu_seqlens = {0, 2, 4, 6}, .positions = 6}) == "100000/110000/001000/001100/000010/000011");
}

TEST_CASE("one sequence per token, and a row of pads alone under each pad policy") {
  CHECK(picture({.cu_seqlens = {0, 1, 2, 3}, .positions = 3}) == "100/010/001");
  CHECK(picture({.cu_seqlens = {0}, .positions = 3}) == "100/110/111");
  CHECK(picture({.cu_seqlens = {0}, .positions = 3, .pads = PadPolicy::kLast}) == "100/110/111");
  CHECK(picture({.cu_seqlens = {0}, .positions = 3, .pads = PadPolicy::kSelf}) == "100/010/001");
  CHECK(picture({.cu_seqlens = {0}, .positions = 3, .pads = PadPolicy::kNone}) == "000/000/000");
}

TEST_CASE("the example as additive f32, bf16 and f16 with minus infinity") {
  const Case c = example(MaskFamily::kCausal, PadPolicy::kSegment);
  const auto f32 = mask_of<std::uint32_t>(c, {.form = MaskForm::kAdditiveF32});
  CHECK(additive_picture(f32, 0xff800000U, 8) == kExampleAdditive);
  const auto bf16 = mask_of<std::uint16_t>(c, {.form = MaskForm::kAdditiveBf16});
  CHECK(additive_picture(bf16, std::uint16_t{0xff80}, 8) == kExampleAdditive);
  const auto f16 = mask_of<std::uint16_t>(c, {.form = MaskForm::kAdditiveF16});
  CHECK(additive_picture(f16, std::uint16_t{0xfc00}, 8) == kExampleAdditive);
}

TEST_CASE("the example as additive f32, bf16 and f16 with the lowest finite value") {
  const Case c = example(MaskFamily::kCausal, PadPolicy::kSegment);
  const MaskedValue lowest = MaskedValue::kLowestFinite;
  const auto f32 = mask_of<std::uint32_t>(c, {.form = MaskForm::kAdditiveF32, .masked = lowest});
  CHECK(additive_picture(f32, 0xff7fffffU, 8) == kExampleAdditive);
  const auto bf16 = mask_of<std::uint16_t>(c, {.form = MaskForm::kAdditiveBf16, .masked = lowest});
  CHECK(additive_picture(bf16, std::uint16_t{0xff7f}, 8) == kExampleAdditive);
  const auto f16 = mask_of<std::uint16_t>(c, {.form = MaskForm::kAdditiveF16, .masked = lowest});
  CHECK(additive_picture(f16, std::uint16_t{0xfbff}, 8) == kExampleAdditive);
}

TEST_CASE("the inverted bool form is True where nothing is attended") {
  const auto inverted =
      mask_of<std::uint8_t>({.cu_seqlens = {0, 2, 3}, .positions = 4}, {.form = MaskForm::kInvertedBool});
  CHECK(inverted == std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0});
}

TEST_CASE("a bool mask agrees cell by cell with the naive one, in rows of 1 to 130 positions of every kind") {
  RandomCases cases(4);
  for (int round = 0; round < 1000; ++round) {
    const Case c = cases.next(1 + round % 130);
    const bool same = picture(c) == naive_picture(c);
    CHECK_MESSAGE(same, "round " << round);
    if (!same) break;
  }
}

TEST_CASE("rows of 7, 1234 and 8193 positions end where they should") {
  for (const std::int32_t positions : {7, 1234, 8193}) {
    for (const MaskStores stores : {MaskStores::kOrdinary, MaskStores::kStreaming, MaskStores::kAuto}) {
      const Case c{.cu_seqlens = {0, positions / 3, positions - 2}, .positions = positions};
      const auto mask = mask_of<std::uint8_t>(c, {.stores = stores});
      const auto width = static_cast<std::size_t>(positions);
      bool same = true;
      for (std::int32_t q = 0; q < positions; q += q % 97 == 0 ? 1 : 13) {
        for (std::int32_t k = 0; k < positions; ++k) {
          const std::int32_t start = q < positions / 3   ? 0
                                     : q < positions - 2 ? positions / 3
                                                         : positions - 2;
          const std::uint8_t expected = k >= start && k <= q ? 1 : 0;
          same = same && mask[static_cast<std::size_t>(q) * width + static_cast<std::size_t>(k)] == expected;
        }
      }
      CHECK(same);
    }
  }
}
