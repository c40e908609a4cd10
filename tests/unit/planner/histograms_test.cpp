// Pack counts on published length histograms, equal to what exact best-fit decreasing reaches elsewhere.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "naive.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

/// The histogram's lengths in a fixed random order; empty where the file is absent.
std::vector<std::uint32_t> lengths_of(const std::string& name) {
  std::ifstream file(std::string(TOKPACK_SOURCE_DIR) + "/../shared/data/" + name);
  std::vector<std::uint32_t> out;
  std::uint64_t count = 0;
  for (std::uint32_t length = 1; file >> count; ++length) out.insert(out.end(), count, length);
  Random random(31);
  for (std::size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[random(static_cast<std::uint32_t>(i))]);
  }
  return out;
}

void check_packs(const std::string& name, std::uint32_t capacity, std::size_t sequences, std::size_t packs) {
  const auto lengths = lengths_of(name);
  if (lengths.empty()) {
    MESSAGE("skipped: no " << name << " in ../shared/data");
    return;
  }
  CHECK(lengths.size() == sequences);
  auto plan = plan_packs(lengths, {.capacity = capacity});
  REQUIRE(plan.ok());
  CHECK(plan->packs() == packs);
}

}  // namespace

TEST_CASE("SQuAD at 384 is 40,631 packs") { check_packs("squad.txt", 384, 88'641, 40'631); }

TEST_CASE("gamma lengths at 512 are 194,913 packs") { check_packs("gamma.txt", 512, 1'000'000, 194'913); }

TEST_CASE("Wikipedia at 512 is 8,138,483 packs") { check_packs("wiki.txt", 512, 16'279'552, 8'138'483); }
