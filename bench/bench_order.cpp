// Where the next pack stands: the permutation per index, and from a state's text to the first index.
//
//   bench_order [--json OUT]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "synthetic_file.h"
#include "tokpack/core/sampler.h"

namespace {

volatile std::uint64_t sink = 0;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Nanoseconds per index, median of 9 rounds of a million independent indices spread over all of them.
double index_ns(std::uint64_t packs) {
  constexpr std::uint64_t kIndices = 1'000'000;
  const tokpack::Permutation order(packs, 7, 3);
  const std::uint64_t step = packs / kIndices;
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < kIndices; ++i) sum += order(i * step);
    rounds.push_back(seconds_since(start) / kIndices * 1e9);
    sink = sink + sum;
  }
  std::nth_element(rounds.begin(), rounds.begin() + 4, rounds.end());
  return rounds[4];
}

/// Microseconds from a path and a state's text to the first pack's boundaries.
double resume_us(const std::string& path, double part_of_epoch) {
  using tokpack::Reader;
  using tokpack::Sampler;
  tokpack::SamplerState state;
  {
    const auto reader = Reader::open(path);
    state.digest = reader->header().content_digest;
    state.cursor = static_cast<std::uint64_t>(part_of_epoch * static_cast<double>(reader->packs()));
  }
  const std::string text = tokpack::to_text(state);
  std::vector<double> rounds;
  for (int round = 0; round < 201; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto reader = Reader::open(path);
    const auto sampler = Sampler::resume(reader->packs(), reader->header().content_digest, {.batch = 8},
                                         *tokpack::parse_sampler_state(text));
    std::vector<std::uint64_t> rows(8);
    sampler->rows(rows);
    const auto pack = reader->pack(rows[0]);
    sink = sink + pack->sequences();
    rounds.push_back(seconds_since(start) * 1e6);
  }
  std::nth_element(rounds.begin(), rounds.begin() + 100, rounds.end());
  return rounds[100];
}

}  // namespace

int main(int argc, char** argv) {
  std::string out;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") out = argv[i + 1];
  }
  nlohmann::json results{{"name", "order"}};
  for (const std::uint64_t packs : {std::uint64_t{1'000'000'000'000}, (std::uint64_t{1} << 40) + 1}) {
    const double ns = index_ns(packs);
    results["index_ns"].push_back({{"packs", packs}, {"ns", ns}});
    std::printf("permutation of %llu packs: %.1f ns an index\n", static_cast<unsigned long long>(packs), ns);
  }
  const tokpack::bench::SyntheticFile file({.packs = 250'000, .fill = false, .folder = "/dev/shm"});
  for (const double part : {0.0, 0.5, 0.99}) {
    const double us = resume_us(file.path(), part);
    results["resume_us"].push_back({{"part_of_epoch", part}, {"us", us}});
    std::printf("open, resume at %.0f %% of an epoch, first pack: %.1f us\n", part * 100, us);
  }
  if (!out.empty()) std::ofstream(out) << results.dump(2) << '\n';
  return 0;
}
