// Something that a benchmark times, and how long each of its calls took.
//
//   Contender c{"ours", [&] { ... }};
//   c.time_call();
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tokpack::bench {

struct Contender {
  std::string name;
  std::function<void()> work;
  std::vector<double> seconds = {};

  /// Seconds that one call took.
  double call() const {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void time_call() { seconds.push_back(call()); }
  /// REQUIRES: at least one call was timed. Sorts the times.
  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
  double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

}  // namespace tokpack::bench
