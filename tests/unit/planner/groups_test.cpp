#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

using Numbers = std::vector<std::uint32_t>;

Packs groups(const Numbers& lengths, const Numbers& first, const PlanOptions& options) {
  auto plan = plan_groups(lengths, first, options);
  REQUIRE(plan.ok());
  return packs_of(*plan);
}

Packs naive_groups(const Numbers& lengths, const Numbers& first, const PlanOptions& options) {
  std::vector<Item> items;
  for (std::size_t g = 0; g + 1 < first.size(); ++g) {
    Item item{0, 0, 0};
    for (std::uint32_t i = first[g]; i < first[g + 1]; ++i) {
      std::uint64_t size = lengths[i];
      while (size % options.alignment != 0) ++size;
      item.size += size;
      item.members += lengths[i] != 0;
    }
    item.order = item.size;
    items.push_back(item);
  }
  Packs out = naive_best_fit(items, options.capacity, options.max_sequences);
  for (auto& pack : out) {
    Numbers members;
    for (const std::uint32_t g : pack) {
      for (std::uint32_t i = first[g]; i < first[g + 1]; ++i) {
        if (lengths[i] != 0) members.push_back(i);
      }
    }
    pack = members;
  }
  return out;
}

}  // namespace

TEST_CASE("a pair whose sum just fits stands in one pack, its members in index order") {
  CHECK(groups({4, 6}, {0, 2}, {.capacity = 10}) == Packs{{0, 1}});
}

TEST_CASE("a pair whose sum just does not fit is an overlong group") {
  auto plan = plan_groups(Numbers{1, 4, 7}, Numbers{0, 1, 3}, {.capacity = 10});
  REQUIRE(!plan.ok());
  CHECK(plan.error().code == Errc::kOverlong);
  CHECK(plan.error().detail ==
        "1 of 2 groups exceed the capacity of 10 tokens: the first is number 1 with 11 tokens, the longest "
        "number 1 with 11 tokens; drop them, raise the capacity, or shorten their members");
}

TEST_CASE("a group of more members than a pack may hold is an overlong group") {
  auto plan = plan_groups(Numbers{1, 1, 1, 1}, Numbers{0, 1, 4}, {.capacity = 10, .max_sequences = 2});
  REQUIRE(!plan.ok());
  CHECK(plan.error().code == Errc::kOverlong);
  CHECK(
      plan.error().detail ==
      "1 of 2 groups have more members than the 2 sequences that a pack may hold: the first is number 1 with "
      "3 members, the largest number 1 with 3 members; drop them or raise max_sequences");
}

TEST_CASE("groups stand by descending total, members adjacent") {
  // Totals 3, 5, 2 of capacity 10: one pack, the group of 5 first.
  CHECK(groups({1, 2, 4, 1, 2}, {0, 2, 4, 5}, {.capacity = 10}) == Packs{{2, 3, 0, 1, 4}});
}

TEST_CASE("a pack with room for the tokens but not for the members is passed over") {
  // Group 0 is 8 tokens of 3 members, group 1 is 7 of 1; the pair of 2 tokens fits the first by tokens alone.
  CHECK(groups({4, 2, 2, 7, 1, 1}, {0, 3, 4, 6}, {.capacity = 10, .max_sequences = 4}) ==
        Packs{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("a pack passed over by a pair still takes a single") {
  // Sizes 8 (3 members), 3 (2 members), 2 (1 member): the last one fits the first pack exactly.
  CHECK(groups({4, 2, 2, 1, 2, 2}, {0, 3, 5, 6}, {.capacity = 10, .max_sequences = 4}) ==
        Packs{{0, 1, 2, 5}, {3, 4}});
}

TEST_CASE("empty members stand in no pack and take no place") {
  CHECK(groups({0, 3, 0, 0, 2}, {0, 2, 4, 5}, {.capacity = 10, .max_sequences = 2}) == Packs{{1, 4}});
  CHECK(groups({0, 0}, {0, 1, 2}, {.capacity = 10}).empty());
  CHECK(groups({}, {0}, {.capacity = 10}).empty());
  CHECK(groups({5}, {0, 0, 1, 1}, {.capacity = 10}) == Packs{{0}});
}

TEST_CASE("aligned lengths of members add up to the group's") {
  // 1 + 1 counts as 8 + 8, so nothing else fits.
  CHECK(groups({1, 1, 1}, {0, 2, 3}, {.capacity = 16, .alignment = 8}) == Packs{{0, 1}, {2}});
}

TEST_CASE("groups of one plan as sequences do") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    Numbers lengths(random.in(0, 80)), first{0};
    for (auto& length : lengths) {
      length = random(31);
      first.push_back(static_cast<std::uint32_t>(first.size()));
    }
    const PlanOptions options{.capacity = 30, .max_sequences = random(2) * random.in(1, 5)};
    auto plain = plan_packs(lengths, options);
    REQUIRE(plain.ok());
    REQUIRE(groups(lengths, first, options) == packs_of(*plain));
  }
}

TEST_CASE("groups plan as one group at a time does, with and without a limit on sequences") {
  Random random(5);
  for (int round = 0; round < 6000; ++round) {
    const std::uint32_t alignment = random(3) == 0 ? random.in(1, 5) : 1;
    const std::uint32_t capacity =
        alignment * (random(5) == 0 ? random.in(4000, 70000) : random.in(8, random(3) == 0 ? 300 : 40));
    const std::uint32_t most_members = random.in(1, 4);
    const std::uint32_t limit = random(4) == 0 ? 0 : most_members + random(8);
    const bool all_alike = random(4) == 0;
    Numbers lengths, first{0};
    const std::uint32_t count = random(70);
    for (std::uint32_t g = 0; g < count; ++g) {
      const std::uint32_t members = all_alike ? most_members : random.in(0, most_members);
      // Members share a part of the capacity, in whole multiples of the alignment so that they surely fit.
      std::uint32_t left = random(capacity / alignment + 1);
      for (std::uint32_t m = 0; m < members; ++m) {
        const std::uint32_t part = m + 1 == members ? left : random(left + 1);
        left -= part;
        lengths.push_back(part == 0 ? 0 : part * alignment - random(alignment));
      }
      first.push_back(static_cast<std::uint32_t>(lengths.size()));
    }
    const PlanOptions options{.capacity = capacity, .alignment = alignment, .max_sequences = limit};
    CAPTURE(round);
    REQUIRE(groups(lengths, first, options) == naive_groups(lengths, first, options));
  }
}

TEST_CASE("next-fit keeps groups whole and in order, by tokens and by members") {
  PlanOptions options{.capacity = 10, .strategy = Strategy::kNextFit};
  CHECK(groups({4, 4, 3, 2, 5}, {0, 2, 4, 5}, options) == Packs{{0, 1}, {2, 3, 4}});
  options.max_sequences = 2;
  CHECK(groups({4, 4, 3, 2, 5}, {0, 2, 4, 5}, options) == Packs{{0, 1}, {2, 3}, {4}});
}

TEST_CASE("concat cannot keep groups together and says so") {
  auto plan = plan_groups(Numbers{1}, Numbers{0, 1}, {.capacity = 4, .strategy = Strategy::kConcat});
  REQUIRE(!plan.ok());
  CHECK(plan.error().code == Errc::kOptions);
}

TEST_CASE("group boundaries that do not fit the lengths are refused") {
  for (const Numbers& first : {Numbers{}, Numbers{1, 3}, Numbers{0, 2}, Numbers{0, 4}, Numbers{0, 2, 1, 3}}) {
    auto plan = plan_groups(Numbers{1, 1, 1}, first, {.capacity = 4});
    REQUIRE(!plan.ok());
    CHECK(plan.error().code == Errc::kOptions);
    CHECK(plan.error().detail.find("group_first") == 0);
  }
}
