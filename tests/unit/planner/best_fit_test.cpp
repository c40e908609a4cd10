#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

Packs best_fit(const std::vector<std::uint32_t>& lengths, const PlanOptions& options) {
  auto plan = plan_packs(lengths, options);
  REQUIRE(plan.ok());
  return packs_of(*plan);
}

}  // namespace

TEST_CASE("best-fit puts 3 where it leaves least and then fills the same pack") {
  CHECK(best_fit({8, 6, 3, 1}, {.capacity = 10}) == Packs{{0}, {1, 2, 3}});
}

TEST_CASE("a pack holds its sequences by descending length, equal ones by index") {
  CHECK(best_fit({2, 3, 2, 3}, {.capacity = 10}) == Packs{{1, 3, 0, 2}});
}

TEST_CASE("packs come by their smallest index, not longest first") {
  CHECK(best_fit({1, 9, 10}, {.capacity = 10}) == Packs{{1, 0}, {2}});
  CHECK(best_fit({4, 10, 5}, {.capacity = 10}) == Packs{{2, 0}, {1}});
}

TEST_CASE("among equal residuals the pack that came to it first is taken") {
  // 7 and 7 leave 3 and 3; the pack of index 0 came first, so it gets index 2, and the other index 3.
  CHECK(best_fit({7, 7, 3, 3}, {.capacity = 10}) == Packs{{0, 2}, {1, 3}});
  // 16 leaves 4 before 9 + 7 do, so it gets the 4, though the pack of index 0 was opened by a smaller index.
  CHECK(best_fit({9, 16, 7, 4}, {.capacity = 20}) == Packs{{0, 2}, {1, 3}});
}

TEST_CASE("a pack that a length re-enters at once keeps its turn in the queue") {
  // Sizes 6 6 open two packs with residual 5; each takes two 2s in a row, not one each.
  CHECK(best_fit({6, 6, 2, 2, 2, 2}, {.capacity = 11}) == Packs{{0, 2, 3}, {1, 4, 5}});
}

TEST_CASE("when fewer sequences are left than the first pack takes, only that pack changes") {
  // Residuals 4 and 4; three 2s: two to the first pack and one to the second, then 1s to the least residual.
  CHECK(best_fit({6, 6, 2, 2, 2, 1}, {.capacity = 10}) == Packs{{0, 2, 3}, {1, 4, 5}});
  CHECK(best_fit({6, 6, 2, 1}, {.capacity = 10}) == Packs{{0, 2, 3}, {1}});
}

TEST_CASE("100 sequences of one token and 8 to a pack make 13 packs") {
  const auto packs = best_fit(std::vector<std::uint32_t>(100, 1), {.capacity = 4096, .max_sequences = 8});
  CHECK(packs.size() == 13);
  for (std::size_t p = 0; p + 1 < packs.size(); ++p) CHECK(packs[p].size() == 8);
  CHECK(packs.back().size() == 4);
}

TEST_CASE("a pack closed by the limit is passed over") {
  CHECK(best_fit({5, 3, 2, 1}, {.capacity = 100, .max_sequences = 3}) == Packs{{0, 1, 2}, {3}});
}

TEST_CASE("empty sequences stand in no pack and shift nothing") {
  CHECK(best_fit({5, 0, 7}, {.capacity = 12}) == Packs{{2, 0}});
  CHECK(best_fit({0}, {.capacity = 12}).empty());
  CHECK(best_fit({3, 0, 2}, {.capacity = 4}) == Packs{{0}, {2}});
  CHECK(best_fit({0, 0, 4, 0}, {.capacity = 4}) == Packs{{2}});
  CHECK(best_fit({}, {.capacity = 4}).empty());
}

TEST_CASE("an empty plan has one entry in first") {
  auto plan = plan_packs({}, {.capacity = 4});
  REQUIRE(plan.ok());
  CHECK(plan->order.empty());
  CHECK(plan->first == std::vector<std::uint32_t>{0});
}

TEST_CASE("one token is one short pack, at any capacity") {
  for (const std::uint32_t capacity : {1U, 4096U, 1U << 24}) {
    CHECK(best_fit({1}, {.capacity = capacity}) == Packs{{0}});
  }
}

TEST_CASE("a length of exactly the capacity fits, alone") {
  CHECK(best_fit({7, 7, 1}, {.capacity = 7}) == Packs{{0}, {1}, {2}});
  CHECK(best_fit({1U << 24, 1}, {.capacity = 1U << 24}) == Packs{{0}, {1}});
}

TEST_CASE("aligned lengths count, real lengths order") {
  // 5 and 7 both count as 8; two of them fill 16. The longer real length stands first.
  CHECK(best_fit({5, 7, 1}, {.capacity = 16, .alignment = 8}) == Packs{{1, 0}, {2}});
  CHECK(best_fit({5, 7, 1}, {.capacity = 16}) == Packs{{1, 0, 2}});
}

TEST_CASE("any capacity packs normal lengths equally well, powers of two or not") {
  Random random(1);
  std::vector<std::uint32_t> lengths(3000);
  for (auto& length : lengths) length = random.normal(4096, 512);
  for (const std::uint32_t capacity : {8192U, 8300U, 9000U, 12345U, 16384U, 17001U, 20000U}) {
    CAPTURE(capacity);
    const PlanOptions options{.capacity = capacity};
    const auto packs = best_fit(lengths, options);
    const double per_pack = 3000.0 / static_cast<double>(packs.size());
    // As many per pack as whole lengths of the mean go in, but for the odd pack.
    const double whole = capacity / 4096;
    CHECK(per_pack >= whole * 0.94);
    CHECK(per_pack <= capacity / 4096.0 * 1.02);
    CHECK(packs == naive_best_fit(lengths, options));
  }
}

TEST_CASE("batches plan as one item at a time does") {
  Random random(7);
  for (int round = 0; round < 6000; ++round) {
    const std::uint32_t alignment = random(3) == 0 ? random.in(1, 9) : 1;
    const std::uint32_t capacity = alignment * random.in(1, random(4) == 0 ? 400 : 40);
    const std::uint32_t distinct = random.in(1, 12);
    std::vector<std::uint32_t> pool(distinct);
    for (auto& length : pool) length = random(capacity + 1);
    std::vector<std::uint32_t> lengths(random.in(0, 90));
    const bool few = random(2) == 0;
    for (auto& length : lengths) length = few ? pool[random(distinct)] : random(capacity + 1);
    const PlanOptions options{
        .capacity = capacity, .alignment = alignment, .max_sequences = random(2) * random.in(1, 9)};
    CAPTURE(round);
    REQUIRE(best_fit(lengths, options) == naive_best_fit(lengths, options));
  }
}

TEST_CASE("short lengths against a small capacity, many of each, plan as one item at a time does") {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t capacity = random.in(10, 60);
    const std::uint32_t longest = random.in(2, capacity / 2);
    std::vector<std::uint32_t> lengths(random.in(300, 700));
    for (auto& length : lengths) length = random.in(1, longest);
    const PlanOptions options{.capacity = capacity, .max_sequences = random(3) == 0 ? random.in(1, 6) : 0};
    CAPTURE(round);
    REQUIRE(best_fit(lengths, options) == naive_best_fit(lengths, options));
  }
}

TEST_CASE("few sequences in a large capacity, which are sorted instead of counted, plan the same") {
  Random random(13);
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t alignment = random(2) == 0 ? 64 : 1;
    const std::uint32_t capacity = (random.in(1U << 14, 1U << 24) + alignment - 1) / alignment * alignment;
    std::vector<std::uint32_t> lengths(random.in(1, 60));
    const std::uint32_t longest = random(2) == 0 ? capacity : capacity / 7;
    for (auto& length : lengths) length = random(longest + 1);
    for (std::size_t i = 1; i < lengths.size(); ++i) {
      if (random(3) == 0) lengths[i] = lengths[random(static_cast<std::uint32_t>(i))];
    }
    const PlanOptions options{
        .capacity = std::min(capacity, 1U << 24), .alignment = alignment, .max_sequences = random(2) * 5};
    CAPTURE(round);
    REQUIRE(best_fit(lengths, options) == naive_best_fit(lengths, options));
  }
}
