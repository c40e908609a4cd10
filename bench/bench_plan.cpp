// Planning, with ids and order, against best-fit decreasing one sequence at a time.
//
//   bench_plan [--data DIR] [--json OUT] [--rounds N]
//
// DIR holds length histograms, line i the number of sequences of i tokens (default: ../shared/data beside the
// source tree; without them only the made-up cases run). All times are one thread.
#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <random>

#include "item_by_item.h"
#include "lengths.h"
#include "side_by_side.h"
#include "tokpack/core/planner.h"

namespace {

// Heap bytes now and at most, to report what a plan needs. One thread.
std::size_t heap_now = 0, heap_peak = 0;

void* counted_alloc(std::size_t bytes) {
  void* p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  heap_now += malloc_usable_size(p);
  heap_peak = std::max(heap_peak, heap_now);
  return p;
}

void counted_free(void* p) noexcept {
  if (p != nullptr) heap_now -= malloc_usable_size(p);
  std::free(p);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_alloc(bytes); }
void* operator new[](std::size_t bytes) { return counted_alloc(bytes); }
void operator delete(void* p) noexcept { counted_free(p); }
void operator delete[](void* p) noexcept { counted_free(p); }
void operator delete(void* p, std::size_t) noexcept { counted_free(p); }
void operator delete[](void* p, std::size_t) noexcept { counted_free(p); }

namespace {

using tokpack::Plan;
using tokpack::PlanOptions;
using tokpack::bench::even;
using tokpack::bench::from_histogram;
using tokpack::bench::Lengths;
using tokpack::bench::log_normal;
using tokpack::bench::SideBySide;

[[noreturn]] void fail(const std::string& words) {
  std::fprintf(stderr, "bench_plan: %s\n", words.c_str());
  std::exit(3);
}

Plan must_plan(const Lengths& lengths, const PlanOptions& options) {
  auto plan = tokpack::plan_packs(lengths, options);
  if (!plan) fail(plan.error().detail);
  return std::move(*plan);
}

/// Times plan_packs against the peer, checks both pack counts and adds memory. `packs` 0 = no published
/// count.
nlohmann::json compare(const std::string& name, const Lengths& lengths, std::uint32_t capacity,
                       std::size_t packs, int rounds) {
  const PlanOptions options{.capacity = capacity};
  const std::vector<std::uint16_t> narrow(lengths.begin(), lengths.end());
  std::size_t ours = 0, peers = 0;
  SideBySide run("plan " + name, rounds);
  run.contender("plan_packs", [&] { ours = must_plan(lengths, options).packs(); });
  run.contender("item by item", [&] {
    std::vector<std::uint32_t> pack_of;
    peers = tokpack::bench::item_by_item(narrow, capacity, pack_of);
  });
  nlohmann::json out = run.measure();

  const std::size_t before = heap_now;
  heap_peak = heap_now;
  { const Plan plan = must_plan(lengths, options); }
  const double bytes = double(heap_peak - before) / double(lengths.size());
  const auto bound = tokpack::lower_bound_packs(lengths, options);
  std::printf("%-36s %zu sequences, %zu packs (lower bound %zu), peak %.1f bytes a sequence\n", "",
              lengths.size(), ours, std::size_t(bound), bytes);
  if (ours != peers) fail(name + ": the two plans differ in their number of packs");
  if (packs != 0 && ours != packs) fail(name + ": not the published number of packs");
  out["sequences"] = lengths.size();
  out["packs"] = ours;
  out["lower_bound_packs"] = bound;
  out["peak_bytes_per_sequence"] = bytes;
  return out;
}

/// A call with few sequences at the largest capacity: what every window costs at least.
nlohmann::json few_sequences(int rounds) {
  const Lengths lengths = even(10, 1U << 24);
  constexpr int kCalls = 100;
  SideBySide run("100 plans of 10 sequences, capacity 2^24", rounds);
  run.contender("plan_packs", [&] {
    for (int i = 0; i < kCalls; ++i) must_plan(lengths, {.capacity = 1U << 24});
  });
  return run.measure();
}

/// Pairs under a limit on sequences, where both limits bind.
nlohmann::json groups(int rounds) {
  const Lengths lengths = log_normal(260'000, 250, 0.8, 2048);
  Lengths first{0};
  std::mt19937_64 random(2);
  while (first.back() < lengths.size()) {
    const auto members = static_cast<std::uint32_t>(1 + random() % 3);
    first.push_back(std::min(static_cast<std::uint32_t>(lengths.size()), first.back() + members));
  }
  SideBySide run("groups of 1..3, capacity 8192", rounds);
  for (const std::uint32_t limit : {0U, 16U}) {
    run.contender(limit == 0 ? "no limit on sequences" : "16 sequences", [&, limit] {
      const auto plan = tokpack::plan_groups(lengths, first, {.capacity = 8192, .max_sequences = limit});
      if (!plan) fail(plan.error().detail);
    });
  }
  return run.measure();
}

}  // namespace

int main(int argc, char** argv) {
  std::string data = TOKPACK_SOURCE_DIR "/../shared/data", json;
  int rounds = 5;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) fail(option + " needs a value");
    if (option == "--data") {
      data = argv[i + 1];
    } else if (option == "--json") {
      json = argv[i + 1];
    } else if (option == "--rounds") {
      rounds = std::max(1, std::atoi(argv[i + 1]));
    } else {
      fail("unknown option " + option + "; use --data DIR, --json OUT, --rounds N");
    }
  }

  nlohmann::json results = nlohmann::json::array();
  struct Published {
    const char* name;
    std::uint32_t capacity;
    std::size_t packs;
  };
  for (const Published& p : {Published{"wiki", 512, 8'138'483}, Published{"gamma", 512, 194'913},
                             Published{"squad", 384, 40'631}}) {
    const Lengths lengths = from_histogram(data + "/" + p.name + ".txt");
    if (lengths.empty()) {
      std::printf("skipped: no %s.txt in %s\n", p.name, data.c_str());
      continue;
    }
    results.push_back(compare(std::string(p.name) + " " + std::to_string(p.capacity), lengths, p.capacity,
                              p.packs, rounds));
  }
  // A default window of 64 Mi tokens, and the case that batches like least: nearly every length once or
  // twice.
  results.push_back(compare("a window, median 400, capacity 4096", log_normal(130'000, 400, 0.8, 4096), 4096,
                            0, rounds * 3));
  results.push_back(compare("even 1..4096, capacity 4096", even(32'768, 4096), 4096, 0, rounds * 3));
  results.push_back(compare("even 1..60000, capacity 60000", even(100'000, 60'000), 60'000, 0, rounds));
  results.push_back(few_sequences(rounds));
  results.push_back(groups(rounds));

  if (!json.empty()) {
    std::ofstream file(json);
    file << results.dump(2) << '\n';
    if (!file.flush()) fail("cannot write " + json);
  }
  return 0;
}
