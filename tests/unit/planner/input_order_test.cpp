// next-fit and concat: the strategies that keep the input order.
#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

using Numbers = std::vector<std::uint32_t>;

Packs next_fit(const Numbers& lengths, PlanOptions options) {
  options.strategy = Strategy::kNextFit;
  auto plan = plan_packs(lengths, options);
  REQUIRE(plan.ok());
  return packs_of(*plan);
}

ConcatPlan concat(const Numbers& lengths, const PlanOptions& options) {
  auto plan = plan_concat(lengths, options);
  REQUIRE(plan.ok());
  return *plan;
}

}  // namespace

TEST_CASE("next-fit opens a new pack when the next sequence does not fit") {
  CHECK(next_fit({3, 2, 4, 6, 1}, {.capacity = 6}) == Packs{{0, 1}, {2}, {3}, {4}});
  CHECK(next_fit({5, 5, 1, 1}, {.capacity = 10}) == Packs{{0, 1}, {2, 3}});
}

TEST_CASE("next-fit passes over empty sequences, keeps the limit and counts aligned lengths") {
  CHECK(next_fit({0, 5, 0, 5, 0}, {.capacity = 10}) == Packs{{1, 3}});
  CHECK(next_fit({0, 0}, {.capacity = 10}).empty());
  CHECK(next_fit({1, 1, 1}, {.capacity = 10, .max_sequences = 2}) == Packs{{0, 1}, {2}});
  CHECK(next_fit({3, 5, 1}, {.capacity = 12, .alignment = 4}) == Packs{{0, 1}, {2}});
}

TEST_CASE("concat cuts the stream at the capacity") {
  // The worked example of the conventions: lengths 3 2 4 6 1 at capacity 6.
  const ConcatPlan plan = concat({3, 2, 4, 6, 1}, {.capacity = 6});
  CHECK(plan.first == Numbers{0, 3, 5, 7});
  CHECK(plan.fragments ==
        std::vector<Fragment>{{0, 0, 3}, {1, 0, 2}, {2, 0, 1}, {2, 1, 3}, {3, 0, 3}, {3, 3, 3}, {4, 0, 1}});
}

TEST_CASE("concat cuts a sample longer than several packs and skips empty ones") {
  const ConcatPlan plan = concat({0, 14, 0}, {.capacity = 6});
  CHECK(plan.first == Numbers{0, 1, 2, 3});
  CHECK(plan.fragments == std::vector<Fragment>{{1, 0, 6}, {1, 6, 6}, {1, 12, 2}});
}

TEST_CASE("concat closes early at the limit on sequences") {
  const ConcatPlan plan = concat({1, 1, 1, 5}, {.capacity = 4, .max_sequences = 2});
  CHECK(plan.first == Numbers{0, 2, 4, 5});
  CHECK(plan.fragments == std::vector<Fragment>{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {3, 0, 3}, {3, 3, 2}});
}

TEST_CASE("concat counts a fragment's aligned length") {
  const ConcatPlan plan = concat({5, 20}, {.capacity = 16, .alignment = 8});
  CHECK(plan.first == Numbers{0, 2, 3});
  CHECK(plan.fragments == std::vector<Fragment>{{0, 0, 5}, {1, 0, 8}, {1, 8, 12}});
}

TEST_CASE("concat of nothing has no packs") {
  CHECK(concat({}, {.capacity = 6}).first == Numbers{0});
  CHECK(concat({0, 0}, {.capacity = 6}).first == Numbers{0});
}

TEST_CASE(
    "concat without alignment needs no more packs than the lower bound and keeps every token in order") {
  Random random(17);
  for (int round = 0; round < 500; ++round) {
    const PlanOptions options{.capacity = random.in(1, 50)};
    Numbers lengths(random(40));
    for (auto& length : lengths) length = random(120);
    const ConcatPlan plan = concat(lengths, options);
    REQUIRE(plan.first.size() - 1 == lower_bound_packs(lengths, options));
    std::size_t f = 0;
    for (std::uint32_t sample = 0; sample < lengths.size(); ++sample) {
      for (std::uint32_t at = 0; at < lengths[sample]; ++f) {
        REQUIRE(f < plan.fragments.size());
        REQUIRE(plan.fragments[f].sample == sample);
        REQUIRE(plan.fragments[f].first_token == at);
        at += plan.fragments[f].length;
      }
    }
    REQUIRE(f == plan.fragments.size());
    for (std::size_t p = 0; p + 1 < plan.first.size(); ++p) {
      std::uint32_t fill = 0;
      for (std::uint32_t i = plan.first[p]; i < plan.first[p + 1]; ++i) fill += plan.fragments[i].length;
      REQUIRE(
          (fill == options.capacity || (p + 2 == plan.first.size() && fill > 0 && fill < options.capacity)));
    }
  }
}
