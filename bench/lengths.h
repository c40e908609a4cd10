// Sequence lengths for the benchmarks of planning, the same on every run.
//
// A histogram file holds in line i the number of sequences of i tokens; an absent file gives no lengths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace tokpack::bench {

using Lengths = std::vector<std::uint32_t>;

inline Lengths from_histogram(const std::string& path) {
  std::ifstream file(path);
  Lengths out;
  std::uint64_t count = 0;
  for (std::uint32_t length = 1; file >> count; ++length) out.insert(out.end(), count, length);
  std::mt19937_64 random(1);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

template <typename Distribution>
Lengths drawn(std::size_t n, Distribution draw, std::uint32_t longest) {
  std::mt19937_64 random(1);
  Lengths out(n);
  for (auto& length : out) {
    const auto value = static_cast<double>(draw(random));
    length = static_cast<std::uint32_t>(std::clamp(value, 1.0, static_cast<double>(longest)));
  }
  return out;
}

inline Lengths even(std::size_t n, std::uint32_t longest) {
  return drawn(n, std::uniform_int_distribution<std::uint32_t>(1, longest), longest);
}

inline Lengths normal(std::size_t n, double mean, double deviation, std::uint32_t longest) {
  return drawn(n, std::normal_distribution<double>(mean, deviation), longest);
}

inline Lengths log_normal(std::size_t n, double median, double sigma, std::uint32_t longest) {
  return drawn(n, std::lognormal_distribution<double>(std::log(median), sigma), longest);
}

}  // namespace tokpack::bench
