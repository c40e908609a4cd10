// Times contenders alternating in one run, so that a ratio holds on a noisy machine.
//
//   SideBySide run("plan wiki 512", 7);
//   run.contender("ours", [&] { ... });
//   run.contender("peer", [&] { ... });
//   run.report(json_array);   // medians, minima and the ratio peer/ours of medians
#pragma once

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "contender.h"

namespace tokpack::bench {

class SideBySide {
 public:
  SideBySide(std::string name, int rounds) : name_(std::move(name)), rounds_(rounds) {}

  void contender(std::string name, std::function<void()> work) {
    contenders_.push_back({std::move(name), std::move(work)});
  }

  /// One warm-up of each, then `rounds` rounds in turn. `first` is what the others are divided by.
  nlohmann::json measure() {
    for (auto& c : contenders_) c.work();
    for (int round = 0; round < rounds_; ++round) {
      for (auto& c : contenders_) {
        c.time_call();
      }
    }
    nlohmann::json out{{"name", name_}, {"rounds", rounds_}, {"contenders", nlohmann::json::array()}};
    const double base_median = contenders_.front().median(), base_least = contenders_.front().least();
    for (auto& c : contenders_) {
      const double median = c.median(), least = c.least();
      out["contenders"].push_back({{"name", c.name},
                                   {"median_s", median},
                                   {"min_s", least},
                                   {"median_over_first", median / base_median},
                                   {"min_over_first", least / base_least}});
      std::printf("%-36s %-28s median %9.4f s  min %9.4f s  x first %6.3f (min %6.3f)\n", name_.c_str(),
                  c.name.c_str(), median, least, median / base_median, least / base_least);
    }
    return out;
  }

 private:
  std::string name_;
  int rounds_;
  std::vector<Contender> contenders_;
};

}  // namespace tokpack::bench
