// Times contenders alternating in one run, so that a ratio holds on a noisy machine.
//
//   SideBySide run("plan wiki 512", 7);
//   run.contender("ours", [&] { ... });
//   run.contender("peer", [&] { ... });
//   run.report(json_array);   // medians, minima and the ratio peer/ours of medians
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tokpack::bench {

class SideBySide {
 public:
  SideBySide(std::string name, int rounds) : name_(std::move(name)), rounds_(rounds) {}

  void contender(std::string name, std::function<void()> work) {
    contenders_.push_back({std::move(name), std::move(work), {}});
  }

  /// One warm-up of each, then `rounds` rounds in turn. `first` is what the others are divided by.
  nlohmann::json measure() {
    for (auto& c : contenders_) c.work();
    for (int round = 0; round < rounds_; ++round) {
      for (auto& c : contenders_) {
        const auto start = std::chrono::steady_clock::now();
        c.work();
        c.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
    }
    nlohmann::json out{{"name", name_}, {"rounds", rounds_}, {"contenders", nlohmann::json::array()}};
    for (auto& c : contenders_) {
      std::sort(c.seconds.begin(), c.seconds.end());
      const double median = c.seconds[c.seconds.size() / 2], least = c.seconds.front();
      const auto& base = contenders_.front().seconds;
      out["contenders"].push_back({{"name", c.name},
                                   {"median_s", median},
                                   {"min_s", least},
                                   {"median_over_first", median / base[base.size() / 2]},
                                   {"min_over_first", least / base.front()}});
      std::printf("%-36s %-28s median %9.4f s  min %9.4f s  x first %6.3f (min %6.3f)\n", name_.c_str(),
                  c.name.c_str(), median, least, median / base[base.size() / 2], least / base.front());
    }
    return out;
  }

 private:
  struct Contender {
    std::string name;
    std::function<void()> work;
    std::vector<double> seconds;
  };
  std::string name_;
  int rounds_;
  std::vector<Contender> contenders_;
};

}  // namespace tokpack::bench
