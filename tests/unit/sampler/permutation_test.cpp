// The order of packs: the spec's golden values, bijections, and even spreading over seeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tokpack/core/permutation.h"

using tokpack::Permutation;

namespace {

/// The cells of the rows of a marked table of spec/order.md.
std::vector<std::vector<std::string>> table(const std::string& name) {
  std::ifstream in(TOKPACK_SOURCE_DIR "/spec/order.md");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  while (std::getline(in, line) && line != "<!-- table: " + name + " -->") {
  }
  std::getline(in, line);  // the names
  std::getline(in, line);  // the rule below them
  while (std::getline(in, line) && !line.empty()) {
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(cell);
    rows.push_back(cells);
  }
  return rows;
}

/// (chi-square - degrees of freedom) / its standard deviation.
double z_of(const std::vector<double>& counts, double expected, double degrees) {
  double chi = 0;
  for (const double c : counts) chi += (c - expected) * (c - expected) / expected;
  return (chi - degrees) / std::sqrt(2 * degrees);
}

}  // namespace

TEST_CASE("the golden values of spec/order.md") {
  const auto rows = table("order");
  CHECK(rows.size() >= 15);
  for (const auto& row : rows) {
    const std::uint64_t n = std::stoull(row[0]);
    const Permutation order(n, std::stoull(row[1]), std::stoull(row[2]));
    CAPTURE(n);
    CHECK(order.size() == n);
    std::istringstream values(row[3]);
    std::uint64_t i = 0;
    for (std::uint64_t value = 0; values >> value; ++i) CHECK(order(i) == value);
    CHECK(i == std::min<std::uint64_t>(n, 8));
    CHECK(order(n - 1) == std::stoull(row[4]));
  }
}

TEST_CASE("every pack stands at exactly one place, for every small count and for some larger ones") {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t n = 1; n <= 600; ++n) counts.push_back(n);
  for (const std::uint64_t n : {4095u, 4096u, 4097u, 57'500u, 65'536u, 100'003u}) counts.push_back(n);
  for (const std::uint64_t n : counts) {
    CAPTURE(n);
    for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      const Permutation order(n, seed, n);
      std::vector<bool> seen(n);
      bool all = true;
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t p = order(i);
        all = all && p < n && !seen[p];
        if (p < n) seen[p] = true;
      }
      CHECK(all);
    }
  }
}

TEST_CASE("over seeds and over epochs, every pack is equally often at every place, for 1 to 64 packs") {
  constexpr std::uint64_t kSeeds = 4000;
  for (std::uint64_t n = 2; n <= 64; ++n) {
    for (const bool over_epochs : {false, true}) {
      std::vector<double> counts(n * n);
      for (std::uint64_t s = 0; s < kSeeds; ++s) {
        const Permutation order(n, over_epochs ? 99 : s, over_epochs ? s : 0);
        for (std::uint64_t i = 0; i < n; ++i) counts[i * n + order(i)] += 1;
      }
      const double m = static_cast<double>(n);
      CAPTURE(n);
      CHECK(std::abs(z_of(counts, kSeeds / m, (m - 1) * (m - 1))) < 5);
    }
  }
}

TEST_CASE("over seeds, every order of 3, 4, 5 and 6 packs is equally frequent") {
  constexpr std::uint64_t kSeeds = 72'000;
  double orders = 2;
  for (std::uint64_t n = 3; n <= 6; ++n) {
    orders *= static_cast<double>(n);
    std::map<std::vector<std::uint64_t>, double> seen;
    for (std::uint64_t s = 0; s < kSeeds; ++s) {
      const Permutation order(n, s, 7);
      std::vector<std::uint64_t> all(n);
      for (std::uint64_t i = 0; i < n; ++i) all[i] = order(i);
      seen[all] += 1;
    }
    std::vector<double> counts;
    for (const auto& [key, count] : seen) counts.push_back(count);
    CAPTURE(n);
    CHECK(static_cast<double>(counts.size()) == orders);
    CHECK(std::abs(z_of(counts, kSeeds / orders, orders - 1)) < 5);
  }
}

TEST_CASE("neighbours of a large order stand apart: the mean distance is a third") {
  const std::uint64_t n = 1'000'000;
  const Permutation order(n, 5, 1);
  double sum = 0;
  for (std::uint64_t i = 0; i + 1 < n; ++i) {
    sum += std::abs(static_cast<double>(order(i)) - static_cast<double>(order(i + 1)));
  }
  CHECK(sum / static_cast<double>(n) / static_cast<double>(n) == doctest::Approx(1.0 / 3).epsilon(0.01));
}
