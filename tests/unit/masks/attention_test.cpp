// What masks are for: attention over a packed row is attention over each sample alone.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "naive_masks.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr std::size_t kWidth = 4;
using Vectors = std::vector<std::array<double, kWidth>>;

Vectors random_vectors(RandomCases& cases, std::size_t count) {
  Vectors out(count);
  for (auto& v : out) {
    for (double& x : v) x = cases.number(-1000, 1000) / 300.0;
  }
  return out;
}

/// Softmax attention of x to itself, an additive mask added to the scores.
Vectors attention(const Vectors& x, const std::vector<float>& mask) {
  Vectors out(x.size());
  for (std::size_t q = 0; q < x.size(); ++q) {
    std::vector<double> score(x.size());
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::size_t i = 0; i < kWidth; ++i) score[k] += x[q][i] * x[k][i] / 2;
      score[k] += mask[q * x.size() + k];
      most = std::max(most, score[k]);
    }
    for (double& s : score) sum += s = std::exp(s - most);
    for (std::size_t k = 0; k < x.size(); ++k) {
      for (std::size_t i = 0; i < kWidth; ++i) out[q][i] += score[k] / sum * x[k][i];
    }
  }
  return out;
}

std::vector<float> additive(const Case& c, MaskedValue masked) {
  const auto [lo, hi] = intervals_of(c);
  std::vector<float> cells(lo.size() * lo.size());
  REQUIRE(write_mask({.lo = lo, .hi = hi}, {.form = MaskForm::kAdditiveF32, .masked = masked},
                     {.data = cells.data(), .bytes = cells.size() * sizeof(float)})
              .ok());
  return cells;
}

}  // namespace

TEST_CASE("attention over a packed row equals attention over each sample alone") {
  RandomCases cases(13);
  for (int round = 0; round < 60; ++round) {
    const Case c = cases.next(1 + round);
    const Vectors x = random_vectors(cases, static_cast<std::size_t>(c.positions));
    // An empty row is NaN with minus infinity; the lowest finite value keeps it finite.
    const MaskedValue masked =
        c.pads == PadPolicy::kNone ? MaskedValue::kLowestFinite : MaskedValue::kNegativeInfinity;
    const Vectors packed = attention(x, additive(c, masked));
    for (const auto& v : packed) CHECK(std::isfinite(v[0]));
    double worst = 0;
    for (std::size_t s = 0; s + 1 < c.cu_seqlens.size(); ++s) {
      const std::int32_t first = c.cu_seqlens[s], length = c.cu_seqlens[s + 1] - first;
      Case alone{.cu_seqlens = {0, length}, .positions = length, .family = c.family, .window = c.window};
      if (!c.prefixes.empty()) alone.prefixes = {c.prefixes[s]};
      const auto begin = x.begin() + first;
      const Vectors own =
          attention(Vectors(begin, begin + length), additive(alone, MaskedValue::kNegativeInfinity));
      for (std::size_t i = 0; i < own.size(); ++i) {
        for (std::size_t j = 0; j < kWidth; ++j) {
          worst = std::max(worst, std::abs(own[i][j] - packed[static_cast<std::size_t>(first) + i][j]));
        }
      }
    }
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("changing one sample, or the pads, changes the outputs of no other") {
  RandomCases cases(14);
  const Case c{.cu_seqlens = {0, 5, 9, 16},
               .positions = 20,
               .family = MaskFamily::kBidirectional,
               .pads = PadPolicy::kLast};
  Vectors x = random_vectors(cases, 20);
  const auto mask = additive(c, MaskedValue::kNegativeInfinity);
  const Vectors before = attention(x, mask);
  for (std::size_t i = 5; i < 9; ++i) x[i] = {9, 8, 7, 6};
  for (std::size_t i = 16; i < 20; ++i) x[i] = {-1, 1, -1, 1};
  const Vectors after = attention(x, mask);
  for (std::size_t i = 0; i < 16; ++i) CHECK((before[i] == after[i]) == (i < 5 || i >= 9));
}
