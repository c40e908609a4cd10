#include "tokpack/core/row_labels.h"

#include <doctest/doctest.h>

#include "naive_masks.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

Ints ids(const Ints& cu_seqlens, std::size_t positions, PadPolicy pads, DocumentIds numbering) {
  Ints out(positions, -7);
  REQUIRE(fill_document_ids(cu_seqlens, pads, numbering, out).ok());
  return out;
}
Ints positions(const Ints& cu_seqlens, std::size_t count, PadPositions pads) {
  Ints out(count, -7);
  std::vector<std::int64_t> wide(count, -7);
  REQUIRE(fill_positions(cu_seqlens, pads, out).ok());
  REQUIRE(fill_positions(cu_seqlens, pads, wide).ok());
  CHECK(std::equal(out.begin(), out.end(), wide.begin()));
  return out;
}
const Ints kExample = {0, 3, 5};

}  // namespace

TEST_CASE("the example's document ids under each pad policy") {
  const DocumentIds zero = DocumentIds::kFromZero, one = DocumentIds::kFromOne;
  CHECK(ids(kExample, 8, PadPolicy::kSegment, zero) == Ints{0, 0, 0, 1, 1, 2, 2, 2});
  CHECK(ids(kExample, 8, PadPolicy::kSelf, zero) == Ints{0, 0, 0, 1, 1, 2, 3, 4});
  CHECK(ids(kExample, 8, PadPolicy::kNone, zero) == Ints{0, 0, 0, 1, 1, -1, -1, -1});
  CHECK(ids(kExample, 8, PadPolicy::kLast, zero) == Ints{0, 0, 0, 1, 1, 1, 1, 1});
  CHECK(ids(kExample, 8, PadPolicy::kNone, one) == Ints{1, 1, 1, 2, 2, 0, 0, 0});
  CHECK(ids(kExample, 8, PadPolicy::kSegment, one) == Ints{1, 1, 1, 2, 2, 3, 3, 3});
}

TEST_CASE("document ids of pads alone, of no pads, and of one token each") {
  CHECK(ids({0}, 3, PadPolicy::kSegment, DocumentIds::kFromZero) == Ints{0, 0, 0});
  CHECK(ids({0}, 3, PadPolicy::kSelf, DocumentIds::kFromOne) == Ints{1, 2, 3});
  CHECK(ids({0}, 3, PadPolicy::kNone, DocumentIds::kFromOne) == Ints{0, 0, 0});
  CHECK(ids({0}, 3, PadPolicy::kLast, DocumentIds::kFromZero) == Ints{0, 0, 0});
  CHECK(ids({0}, 3, PadPolicy::kLast, DocumentIds::kFromOne) == Ints{1, 1, 1});
  CHECK(ids({0, 1, 2, 3}, 3, PadPolicy::kNone, DocumentIds::kFromZero) == Ints{0, 1, 2});
}

TEST_CASE("causal attention by equal document ids, pads left out, is the mask of the intervals") {
  RandomCases cases(3);
  for (int round = 0; round < 200; ++round) {
    Case c = cases.next(1 + round % 60);
    c.family = MaskFamily::kCausal;
    c.window = 0;
    c.prefixes.clear();
    const Ints of = ids(c.cu_seqlens, static_cast<std::size_t>(c.positions), c.pads, DocumentIds::kFromZero);
    bool same = true;
    for (std::int32_t q = 0; q < c.positions; ++q) {
      for (std::int32_t k = 0; k < c.positions; ++k) {
        const auto row = static_cast<std::size_t>(q), column = static_cast<std::size_t>(k);
        same = same && (k <= q && of[row] >= 0 && of[row] == of[column]) == naive_attends(c, q, k);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("the example's positions for each kind of pads") {
  CHECK(positions(kExample, 8, PadPositions::kRestart) == Ints{0, 1, 2, 0, 1, 0, 1, 2});
  CHECK(positions(kExample, 8, PadPositions::kZero) == Ints{0, 1, 2, 0, 1, 0, 0, 0});
  CHECK(positions(kExample, 8, PadPositions::kContinue) == Ints{0, 1, 2, 0, 1, 2, 3, 4});
  CHECK(positions({0}, 3, PadPositions::kContinue) == Ints{0, 1, 2});
  CHECK(positions({0}, 3, PadPositions::kZero) == Ints{0, 0, 0});
  CHECK(positions({0, 3, 5, 6}, 6, PadPositions::kContinue) == Ints{0, 1, 2, 0, 1, 0});
}

TEST_CASE("the positions that agree with each pad policy") {
  CHECK(agreeing_positions(PadPolicy::kSegment) == PadPositions::kRestart);
  CHECK(agreeing_positions(PadPolicy::kSelf) == PadPositions::kZero);
  CHECK(agreeing_positions(PadPolicy::kLast) == PadPositions::kContinue);
}

TEST_CASE("document ids and positions refuse wrong boundaries and write nothing") {
  Ints out(8, -7);
  for (const Ints& wrong : {Ints{}, Ints{1, 3}, Ints{0, 3, 3}, Ints{0, 5, 3}, Ints{0, 9}}) {
    CHECK(fill_document_ids(wrong, PadPolicy::kNone, DocumentIds::kFromOne, out).error().code ==
          Errc::kCuSeqlens);
    CHECK(fill_positions(wrong, PadPositions::kZero, out).error().code == Errc::kCuSeqlens);
  }
  CHECK(fill_positions(Ints{0}, PadPositions::kZero, std::span<std::int32_t>()).error().code ==
        Errc::kOptions);
  CHECK(fill_positions(Ints{0}, static_cast<PadPositions>(3), out).error().code == Errc::kOptions);
  CHECK(fill_document_ids(Ints{0}, static_cast<PadPolicy>(4), DocumentIds::kFromOne, out).error().code ==
        Errc::kOptions);
  CHECK(fill_document_ids(Ints{0}, PadPolicy::kNone, static_cast<DocumentIds>(2), out).error().code ==
        Errc::kOptions);
  CHECK(out == Ints(8, -7));
}
