// What every plan must be, whatever made it.
#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

/// Every non-empty sequence once, within both limits, no empty pack; ordered as promised.
void check_plan(const std::vector<std::uint32_t>& lengths, const Plan& plan, const PlanOptions& options) {
  std::vector<std::uint32_t> seen(lengths.size(), 0);
  REQUIRE(plan.first.front() == 0);
  REQUIRE(plan.first.back() == plan.order.size());
  std::uint32_t before = 0;
  for (std::size_t p = 0; p < plan.packs(); ++p) {
    const auto pack = plan.pack(p);
    REQUIRE(!pack.empty());
    REQUIRE((options.max_sequences == 0 || pack.size() <= options.max_sequences));
    std::uint64_t fill = 0;
    std::uint32_t least = pack[0];
    for (std::size_t k = 0; k < pack.size(); ++k) {
      ++seen[pack[k]];
      least = std::min(least, pack[k]);
      fill += (lengths[pack[k]] + options.alignment - 1) / options.alignment * options.alignment;
      if (k == 0) continue;
      if (options.strategy == Strategy::kNextFit) {
        REQUIRE(pack[k] > pack[k - 1]);
      } else {
        const auto a = lengths[pack[k - 1]], b = lengths[pack[k]];
        REQUIRE((a > b || (a == b && pack[k - 1] < pack[k])));
      }
    }
    REQUIRE(fill <= options.capacity);
    REQUIRE((p == 0 || least > before));
    before = least;
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) REQUIRE(seen[i] == (lengths[i] == 0 ? 0 : 1));
  REQUIRE(plan.packs() >= lower_bound_packs(lengths, options));
}

}  // namespace

TEST_CASE("every plan is a permutation that fits and is ordered") {
  Random random(23);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t alignment = std::uint32_t{1} << random(4);
    const std::uint32_t capacity = alignment * random.in(1, 3000);
    std::vector<std::uint32_t> lengths(random.in(1, 8000));
    const std::uint32_t longest = random.in(1, capacity);
    for (auto& length : lengths) length = random(longest + 1);
    for (const Strategy strategy : {Strategy::kBestFit, Strategy::kNextFit}) {
      const PlanOptions options{.capacity = capacity,
                                .alignment = alignment,
                                .max_sequences = random(2) * random.in(1, 20),
                                .strategy = strategy};
      CAPTURE(round);
      auto plan = plan_packs(lengths, options);
      REQUIRE(plan.ok());
      check_plan(lengths, *plan, options);
    }
  }
}

TEST_CASE("best-fit fills packs: no two of them would fit into one") {
  Random random(29);
  std::vector<std::uint32_t> lengths(5000);
  for (auto& length : lengths) length = random.in(1, 700);
  const PlanOptions options{.capacity = 1000};
  auto plan = plan_packs(lengths, options);
  REQUIRE(plan.ok());
  std::vector<std::uint32_t> fills;
  for (std::size_t p = 0; p < plan->packs(); ++p) {
    std::uint32_t fill = 0;
    for (const std::uint32_t i : plan->pack(p)) fill += lengths[i];
    fills.push_back(fill);
  }
  std::nth_element(fills.begin(), fills.begin() + 1, fills.end());
  CHECK(fills[0] + fills[1] > options.capacity);
}
