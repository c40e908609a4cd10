// Compares contenders that leave the caches in another state than they found them, such as streaming stores
// that evict the buffer: in blocks of consecutive calls on the same buffer, the first half of each block
// discarded, blocks alternating.
//
//   CallBlocks run({.calls = 16, .blocks = 3});
//   run.contender("memset", [&] { ... });
//   auto result = run.measure();   // median seconds of the calls kept, in the order of the contenders
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "contender.h"

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
    contenders_.push_back({std::move(name), std::move(work)});
  }

  std::vector<Measured> measure() {
    for (int block = 0; block < options_.blocks; ++block) {
      for (Contender& c : contenders_) {
        for (int call = 0; call < options_.calls; ++call) {
          const double took = c.call();
          if (call >= options_.calls / 2) c.seconds.push_back(took);
        }
      }
    }
    std::vector<Measured> out;
    for (Contender& c : contenders_) out.push_back({c.name, c.median(), c.least()});
    return out;
  }

 private:
  CallBlockOptions options_;
  std::vector<Contender> contenders_;
};

}  // namespace tokpack::bench
