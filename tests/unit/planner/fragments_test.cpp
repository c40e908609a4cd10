#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;

namespace {

std::vector<Fragment> cut(const std::vector<std::uint32_t>& lengths, Overlong policy, PlanOptions options) {
  const auto out = fragments(lengths, policy, options);
  REQUIRE(out.ok());
  return *out;
}

using Fragments = std::vector<Fragment>;

}  // namespace

TEST_CASE("14 tokens at capacity 6 under each policy") {
  CHECK(cut({14}, Overlong::kSplit, {.capacity = 6}) == Fragments{{0, 0, 6}, {0, 6, 6}, {0, 12, 2}});
  CHECK(cut({14}, Overlong::kTruncate, {.capacity = 6}) == Fragments{{0, 0, 6}});
  CHECK(cut({14}, Overlong::kTruncateLeft, {.capacity = 6}) == Fragments{{0, 8, 6}});
  CHECK(cut({14}, Overlong::kDrop, {.capacity = 6}).empty());
  const auto refused = fragments(std::vector<std::uint32_t>{14}, Overlong::kError, {.capacity = 6});
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == Errc::kOverlong);
  CHECK(refused.error().detail ==
        "1 of 1 sequences exceed the capacity of 6 tokens: the first is number 0 with 14 tokens, the longest "
        "number 0 with 14 tokens; split, truncate, truncate-left or drop them, or raise the capacity");
}

TEST_CASE("lengths at and around once and twice the capacity") {
  const std::vector<std::uint32_t> lengths{5, 6, 7, 11, 12, 13};
  CHECK(cut(lengths, Overlong::kSplit, {.capacity = 6}) == Fragments{{0, 0, 5},
                                                                     {1, 0, 6},
                                                                     {2, 0, 6},
                                                                     {2, 6, 1},
                                                                     {3, 0, 6},
                                                                     {3, 6, 5},
                                                                     {4, 0, 6},
                                                                     {4, 6, 6},
                                                                     {5, 0, 6},
                                                                     {5, 6, 6},
                                                                     {5, 12, 1}});
  CHECK(cut(lengths, Overlong::kDrop, {.capacity = 6}) == Fragments{{0, 0, 5}, {1, 0, 6}});
  CHECK(cut(lengths, Overlong::kTruncateLeft, {.capacity = 6}) ==
        Fragments{{0, 0, 5}, {1, 0, 6}, {2, 1, 6}, {3, 5, 6}, {4, 6, 6}, {5, 7, 6}});
}

TEST_CASE("what fits is left whole under every policy, empty samples give nothing") {
  for (const Overlong policy :
       {Overlong::kError, Overlong::kSplit, Overlong::kTruncate, Overlong::kTruncateLeft, Overlong::kDrop}) {
    CHECK(cut({0, 6, 0, 1, 0}, policy, {.capacity = 6}) == Fragments{{1, 0, 6}, {3, 0, 1}});
    CHECK(cut({}, policy, {.capacity = 6}).empty());
  }
}

TEST_CASE("the error names how many of how many, the first and the longest") {
  const auto refused = fragments(std::vector<std::uint32_t>{3, 7, 6, 90, 8}, Overlong::kError,
                                 {.capacity = 6, .alignment = 2});
  REQUIRE(!refused.ok());
  CHECK(
      refused.error().detail.find("3 of 5 sequences exceed the capacity of 6 tokens (alignment 2): the first "
                                  "is number 1 with 7 tokens, the longest number 3 with 90 tokens") == 0);
}

TEST_CASE("planning an overlong sequence is the same error under both strategies") {
  for (const Strategy strategy : {Strategy::kBestFit, Strategy::kNextFit}) {
    auto plan = plan_packs(std::vector<std::uint32_t>{4, 11}, {.capacity = 10, .strategy = strategy});
    REQUIRE(!plan.ok());
    CHECK(plan.error().code == Errc::kOverlong);
    CHECK(plan.error().detail.find("1 of 2 sequences exceed the capacity of 10 tokens: the first is number 1 "
                                   "with 11 tokens") == 0);
  }
}

TEST_CASE("the longest length that an u32 can hold is cut without wrapping") {
  const std::uint32_t longest = 0xffffffff;
  const PlanOptions options{.capacity = 1U << 24};
  const auto parts = cut({longest}, Overlong::kSplit, options);
  CHECK(parts.size() == 256);
  CHECK(parts.back() == Fragment{0, 0xff000000, 0x00ffffff});
  CHECK(cut({longest}, Overlong::kTruncateLeft, options) == Fragments{{0, 0xfeffffff, 1U << 24}});
  auto stream = plan_concat(std::vector<std::uint32_t>{longest, 1}, options);
  REQUIRE(stream.ok());
  CHECK(stream->first.size() == 257);
}
