// How many packs windows cost against planning everything at once, and how long they take to plan. Lengths
// only: the rule of the writer's carry-over without a token.
//
//   bench_window [--data DIR] [--json OUT] [--window TOKENS]
//
// DIR as for bench_plan. The default window is the writer's: the larger of 64 Mi and 256 x capacity tokens.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "carry_over.h"
#include "lengths.h"
#include "tokpack/core/planner.h"
#include "tokpack/core/window_defaults.h"

namespace {

using tokpack::bench::Lengths;
using tokpack::detail::PackFill;

[[noreturn]] void fail(const std::string& words) {
  std::fprintf(stderr, "bench_window: %s\n", words.c_str());
  std::exit(3);
}

tokpack::Plan must_plan(const Lengths& lengths, std::uint32_t capacity) {
  auto plan = tokpack::plan_packs(lengths, {.capacity = capacity});
  if (!plan) fail(plan.error().detail);
  return std::move(*plan);
}

struct Windowed {
  std::size_t packs = 0, windows = 0;
  std::uint64_t carried_tokens = 0;  ///< each time that a token was carried counts
};

/// One window after the other: plan, dissolve, carry.
Windowed plan_in_windows(const Lengths& lengths, std::uint32_t capacity, std::uint64_t window_tokens) {
  const std::uint64_t most_sequences = tokpack::window_sequences(window_tokens);
  Windowed out;
  Lengths window;
  std::vector<std::uint8_t> times;  // carried, per sequence of the window
  std::uint64_t tokens = 0;
  for (std::size_t next = 0; next < lengths.size() || !window.empty();) {
    while (next < lengths.size() && window.size() < most_sequences &&
           (window.empty() || tokens + lengths[next] <= window_tokens)) {
      tokens += lengths[next];
      window.push_back(lengths[next++]);
      times.push_back(0);
    }
    const tokpack::Plan plan = must_plan(window, capacity);
    ++out.windows;
    out.packs += plan.packs();
    if (next == lengths.size()) break;

    std::vector<PackFill> fills(plan.packs());
    for (std::size_t p = 0; p < plan.packs(); ++p) {
      for (const std::uint32_t i : plan.pack(p)) {
        fills[p].fill += window[i];
        fills[p].tokens += window[i];
        fills[p].times_carried = std::max(fills[p].times_carried, times[i]);
      }
    }
    std::vector<std::uint32_t> carried;
    for (const std::uint32_t p : tokpack::detail::choose_dissolved(fills, capacity, tokens)) {
      carried.insert(carried.end(), plan.pack(p).begin(), plan.pack(p).end());
      --out.packs;
    }
    std::sort(carried.begin(), carried.end());
    tokens = 0;
    for (std::size_t k = 0; k < carried.size(); ++k) {  // carried[k] >= k, so nothing is overwritten early
      window[k] = window[carried[k]];
      times[k] = static_cast<std::uint8_t>(times[carried[k]] + 1);
      tokens += window[k];
    }
    window.resize(carried.size());
    times.resize(carried.size());
    out.carried_tokens += tokens;
  }
  return out;
}

nlohmann::json study(const std::string& name, const Lengths& lengths, std::uint32_t capacity,
                     std::uint64_t asked_window) {
  const std::uint64_t window = tokpack::effective_window(asked_window, capacity);
  const std::size_t at_once = must_plan(lengths, capacity).packs();
  const auto start = std::chrono::steady_clock::now();
  const Windowed windowed = plan_in_windows(lengths, capacity, window);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double excess = (double(windowed.packs) - double(at_once)) / double(at_once) * 100;
  const auto bound = tokpack::lower_bound_packs(lengths, {.capacity = capacity});
  std::printf("%-34s %3zu windows  %9zu packs, at once %9zu: %+.4f %% (%+lld)  lower bound %zu  %.3f s\n",
              name.c_str(), windowed.windows, windowed.packs, at_once, excess,
              static_cast<long long>(windowed.packs) - static_cast<long long>(at_once), std::size_t(bound),
              seconds);
  return {{"name", name},
          {"capacity", capacity},
          {"window_tokens", window},
          {"windows", windowed.windows},
          {"packs", windowed.packs},
          {"packs_at_once", at_once},
          {"excess_percent", excess},
          {"lower_bound_packs", bound},
          {"carried_tokens", windowed.carried_tokens},
          {"seconds", seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  std::string data = TOKPACK_SOURCE_DIR "/../shared/data", json;
  std::uint64_t window = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) fail(option + " needs a value");
    if (option == "--data") {
      data = argv[i + 1];
    } else if (option == "--json") {
      json = argv[i + 1];
    } else if (option == "--window") {
      window = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      fail("unknown option " + option + "; use --data DIR, --json OUT, --window TOKENS");
    }
  }
  nlohmann::json results = nlohmann::json::array();
  struct Histogram {
    const char* name;
    std::uint32_t capacity;
  };
  for (const Histogram& h : {Histogram{"wiki", 512}, Histogram{"gamma", 512}, Histogram{"squad", 384}}) {
    const Lengths lengths = tokpack::bench::from_histogram(data + "/" + h.name + ".txt");
    if (lengths.empty()) {
      std::printf("skipped: no %s.txt in %s\n", h.name, data.c_str());
      continue;
    }
    results.push_back(study(h.name + (" at " + std::to_string(h.capacity)), lengths, h.capacity, window));
  }
  using tokpack::bench::even;
  using tokpack::bench::normal;
  results.push_back(study("even 1..4096 at 4096", even(1'000'000, 4096), 4096, window));
  results.push_back(study("normal(4096, 512) at 8192", normal(500'000, 4096, 512, 8192), 8192, window));
  {
    Lengths sorted = even(1'000'000, 4096);
    std::sort(sorted.begin(), sorted.end());
    results.push_back(study("even 1..4096 at 4096, sorted", sorted, 4096, window));
  }
  if (!json.empty()) {
    std::FILE* file = std::fopen(json.c_str(), "w");
    if (file == nullptr || std::fprintf(file, "%s\n", results.dump(2).c_str()) < 0 ||
        std::fclose(file) != 0) {
      fail("cannot write " + json);
    }
  }
  return 0;
}
