// How much memory planning takes, and what happens when there is none.
#include <doctest/doctest.h>

#include "heap_watch.h"
#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

/// Lets 0, 1, 2... allocations succeed until the work does.
template <typename Work>
void check_every_failure(Work work) {
  for (long n = 0;; ++n) {
    const auto result = [&] {
      const NoMemoryAfter limit(n);
      return work();
    }();
    if (result.ok()) {
      CHECK(n > 0);
      return;
    }
    REQUIRE(result.error().code == Errc::kOutOfMemory);
  }
}

std::vector<std::uint32_t> lengths_up_to(std::uint32_t longest, std::size_t n) {
  Random random(37);
  std::vector<std::uint32_t> out(n);
  for (auto& length : out) length = random.in(1, longest);
  return out;
}

}  // namespace

TEST_CASE("best-fit takes at most 16 bytes a sequence and 80 a distinct length") {
  for (const std::uint32_t longest : {1U, 2U, 512U, 4096U, 60'000U, 1U << 24}) {
    const auto lengths = lengths_up_to(longest, 200'000);
    auto distinct = lengths;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const double bytes = peak_bytes([&] { REQUIRE(plan_packs(lengths, {.capacity = longest}).ok()); });
    CAPTURE(longest);
    CAPTURE(distinct.size());
    CAPTURE(bytes / 200'000);
    CHECK(bytes <= 16.0 * 200'000 + 80.0 * static_cast<double>(distinct.size()) + (1 << 17));
  }
}

TEST_CASE("a large capacity alone takes no memory") {
  const auto lengths = lengths_up_to(1U << 24, 10);
  CHECK(peak_bytes([&] { REQUIRE(plan_packs(lengths, {.capacity = 1U << 24}).ok()); }) < 1 << 18);
}

TEST_CASE("groups under a limit on sequences take at most 40 bytes a group more") {
  const auto lengths = lengths_up_to(500, 200'000);
  std::vector<std::uint32_t> first{0};
  while (first.back() < lengths.size()) {
    first.push_back(std::min(static_cast<std::uint32_t>(lengths.size()),
                             first.back() + 1 + static_cast<std::uint32_t>(first.size() % 3)));
  }
  const double bytes =
      peak_bytes([&] { REQUIRE(plan_groups(lengths, first, {.capacity = 4096, .max_sequences = 16}).ok()); });
  CAPTURE(bytes / 200'000);
  CHECK(bytes <= 16.0 * 200'000 + 40.0 * static_cast<double>(first.size()) + (1 << 20));
}

TEST_CASE("memory that cannot be had is an error, whichever allocation fails") {
  const auto lengths = lengths_up_to(100, 300);
  const std::vector<std::uint32_t> few{1U << 20, 5, 70'000};
  const std::vector<std::uint32_t> first{0, 100, 150, 151, 300};
  const std::vector<std::uint32_t> ones(300, 1);
  check_every_failure([&] { return plan_packs(lengths, {.capacity = 128}); });
  check_every_failure([&] { return plan_packs(few, {.capacity = 1U << 24}); });
  check_every_failure([&] { return plan_packs(lengths, {.capacity = 128, .strategy = Strategy::kNextFit}); });
  check_every_failure([&] { return plan_groups(ones, first, {.capacity = 400}); });
  check_every_failure([&] { return plan_groups(ones, first, {.capacity = 400, .max_sequences = 200}); });
  check_every_failure([&] { return plan_concat(lengths, {.capacity = 64}); });
  check_every_failure([&] { return fragments(lengths, Overlong::kSplit, {.capacity = 64}); });
}
