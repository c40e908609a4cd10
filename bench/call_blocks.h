// Compares contenders that leave the caches in another state than they found them, such as streaming stores
// that evict the buffer: in blocks of consecutive calls on the same buffer, the first half of each block
// discarded, blocks alternating.
//
//   CallBlocks run({.calls = 16, .blocks = 3});
//   run.contender("memset", [&] { ... });
//   auto result = run.measure();   // median seconds of the calls kept, in the order of the contenders
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tokpack::bench {

struct CallBlockOptions {
  int calls = 16;  ///< of a block; the first half is not counted
  int blocks = 3;  ///< of each contender
};

class CallBlocks {
 public:
  struct Measured {
    std::string name;
    double median, least;  ///< seconds a call
  };

  explicit CallBlocks(CallBlockOptions options) : options_(options) {}

  void contender(std::string name, std::function<void()> work) {
    contenders_.push_back({std::move(name), std::move(work), {}});
  }

  std::vector<Measured> measure() {
    for (int block = 0; block < options_.blocks; ++block) {
      for (Contender& c : contenders_) {
        for (int call = 0; call < options_.calls; ++call) {
          const auto start = std::chrono::steady_clock::now();
          c.work();
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
          if (call >= options_.calls / 2) c.seconds.push_back(took.count());
        }
      }
    }
    std::vector<Measured> out;
    for (Contender& c : contenders_) {
      std::sort(c.seconds.begin(), c.seconds.end());
      out.push_back({c.name, c.seconds[c.seconds.size() / 2], c.seconds.front()});
    }
    return out;
  }

 private:
  struct Contender {
    std::string name;
    std::function<void()> work;
    std::vector<double> seconds;
  };
  CallBlockOptions options_;
  std::vector<Contender> contenders_;
};

}  // namespace tokpack::bench
