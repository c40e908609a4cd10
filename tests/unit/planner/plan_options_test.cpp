#include <doctest/doctest.h>

#include "naive.h"

using namespace tokpack;

namespace {

void check_refused(const PlanOptions& options, const char* words) {
  const auto checked = check_plan_options(options);
  REQUIRE(!checked.ok());
  CHECK(checked.error().code == Errc::kOptions);
  CHECK(checked.error().detail.find(words) != std::string::npos);
  const std::vector<std::uint32_t> one{1}, first{0, 1};
  CHECK(!plan_packs(one, options).ok());
  CHECK(!plan_groups(one, first, options).ok());
  CHECK(!plan_concat(one, options).ok());
  CHECK(!fragments(one, Overlong::kSplit, options).ok());
}

}  // namespace

TEST_CASE("options out of range are refused by every entry, with the fix") {
  check_refused({}, "capacity is not set");
  check_refused({.capacity = (1U << 24) + 1}, "above the limit of 16777216");
  check_refused({.capacity = 8, .alignment = 0}, "alignment is 0; 1 means none");
  check_refused({.capacity = 8, .alignment = 16}, "alignment 16 exceeds the capacity 8");
  check_refused({.capacity = 100, .alignment = 16}, "try capacity 96");
  check_refused({.capacity = 8, .strategy = static_cast<Strategy>(9)}, "unknown strategy 9");
}

TEST_CASE("options at their limits are taken") {
  CHECK(check_plan_options({.capacity = 1}).ok());
  CHECK(check_plan_options({.capacity = 1U << 24, .alignment = 1U << 24}).ok());
  CHECK(check_plan_options({.capacity = 8, .max_sequences = 0xffffffff, .strategy = Strategy::kConcat}).ok());
}

TEST_CASE("plan_packs does not take concat") {
  auto plan = plan_packs(std::vector<std::uint32_t>{1}, {.capacity = 8, .strategy = Strategy::kConcat});
  REQUIRE(!plan.ok());
  CHECK(plan.error().code == Errc::kOptions);
  CHECK(plan.error().detail.find("plan_concat") != std::string::npos);
}

TEST_CASE("an overlong policy that does not exist is refused") {
  const auto out = fragments(std::vector<std::uint32_t>{1}, static_cast<Overlong>(5), {.capacity = 8});
  REQUIRE(!out.ok());
  CHECK(out.error().code == Errc::kOptions);
}

TEST_CASE("the lower bound is the aligned tokens over the capacity, rounded up") {
  const std::vector<std::uint32_t> lengths{5, 0, 7, 4};
  CHECK(lower_bound_packs(lengths, {.capacity = 16}) == 1);
  CHECK(lower_bound_packs(lengths, {.capacity = 15}) == 2);
  CHECK(lower_bound_packs(lengths, {.capacity = 24, .alignment = 8}) == 1);
  CHECK(lower_bound_packs(lengths, {.capacity = 16, .alignment = 8}) == 2);
  CHECK(lower_bound_packs({}, {.capacity = 16}) == 0);
  CHECK(lower_bound_packs(std::vector<std::uint32_t>(3, 0xffffffff), {.capacity = 1U << 24}) == 768);
}
