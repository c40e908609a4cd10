// Opening, pack() and a scan through packs, beside the plainest code that does the same.
//
//   bench_read [--json OUT] [--packs N] [--large-packs N] [--folder F]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "side_by_side.h"
#include "synthetic_file.h"
#include "tokpack/core/reader.h"

using namespace tokpack;
using tokpack::bench::SideBySide;
using tokpack::bench::SyntheticFile;

namespace {

volatile std::uint64_t sink = 0;

/// Processor time of this thread: other processes on the machine do not count.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median, in microseconds, of opening and closing.
double open_median_us(const std::string& path, ReadMode mode) {
  std::vector<double> times;
  for (int i = 0; i < 2001; ++i) {
    const auto start = std::chrono::steady_clock::now();
    auto reader = Reader::open(path, {.mode = mode});
    times.push_back(seconds_since(start) * 1e6);
    sink = sink + reader->packs();
  }
  std::nth_element(times.begin(), times.begin() + 1000, times.end());
  return times[1000];
}

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

/// The loads that no pack() can do without, unchecked: both offset pairs, first and last boundary.
struct BareLoads {
  std::span<const std::uint64_t> tokens, sequences;
  std::span<const std::int32_t> boundaries;

  explicit BareLoads(const Reader& reader)
      : tokens(format::view<std::uint64_t>(reader.section(1).value().bytes, 0, reader.packs() + 1)),
        sequences(format::view<std::uint64_t>(reader.section(2).value().bytes, 0, reader.packs() + 1)),
        boundaries(format::view<std::int32_t>(reader.section(3).value().bytes, 0,
                                              reader.sequences() + reader.packs())) {}
  std::uint64_t operator()(std::uint64_t p) const {
    const std::uint64_t first = sequences[p] + p, last = sequences[p + 1] + p;
    return static_cast<std::uint64_t>(boundaries[last] - boundaries[first]) + (tokens[p + 1] - tokens[p]);
  }
};

struct Cost {
  double independent, dependent;
};

/// Nanoseconds of processor time per call, medians: of indices known beforehand, and of indices that the last
/// call's data decides.
template <typename Call>
Cost cost_of(const std::vector<std::uint32_t>& indices, Call call) {
  std::vector<double> independent, dependent;
  const double calls = static_cast<double>(indices.size());
  for (int round = 0; round < 8; ++round) {  // the first warms up
    double start = cpu_seconds();
    std::uint64_t sum = 0;
    for (const std::uint32_t i : indices) sum += call(i);
    if (round > 0) independent.push_back((cpu_seconds() - start) / calls * 1e9);
    start = cpu_seconds();
    std::uint64_t at = 1;
    for (const std::uint32_t i : indices) at += call(i ^ (at & 1));  // the low bit depends on what was read
    if (round > 0) dependent.push_back((cpu_seconds() - start) / calls * 1e9);
    sink = sink + sum + at;
  }
  std::sort(independent.begin(), independent.end());
  std::sort(dependent.begin(), dependent.end());
  return {independent[independent.size() / 2], dependent[dependent.size() / 2]};
}

nlohmann::json pack_cost(const std::string& name, const Reader& reader, bool touch) {
  std::vector<std::uint32_t> indices(1'000'000);
  std::uint64_t state = 7;
  for (auto& i : indices)
    i = static_cast<std::uint32_t>(next_random(state) % (reader.packs() & ~std::uint64_t{1}));
  const auto look_at = [touch](const PackRef& pack) {
    const auto boundaries = pack.cu_seqlens();
    std::uint64_t sum = static_cast<std::uint64_t>(boundaries[boundaries.size() - 1]);
    if (touch) sum += pack.tokens()[0] + pack.loss_bits()[0];
    return sum;
  };
  PackBuffer buffer;
  const Cost borrowed = cost_of(indices, [&](std::uint64_t p) {
    const auto pack = reader.pack(p, buffer);
    return look_at(pack.value());
  });
  const Cost owned = cost_of(indices, [&](std::uint64_t p) {
    const auto pack = reader.pack(p);
    return look_at(pack.value());
  });
  const Cost bare = cost_of(indices, BareLoads(reader));
  nlohmann::json out{{"name", name}};
  std::printf("%s\n", name.c_str());
  const auto report = [&out](const char* key, const char* what, const Cost& cost) {
    std::printf("  %-16s independent %6.1f ns  dependent %6.1f ns\n", what, cost.independent, cost.dependent);
    out[key] = {{"independent_ns", cost.independent}, {"dependent_ns", cost.dependent}};
  };
  report("borrowed", "pack(p, buffer)", borrowed);
  report("owned", "pack(p)", owned);
  report("bare_loads", "bare loads", bare);
  return out;
}

std::uint64_t sum_u16(std::span<const std::uint16_t> values) {
  std::uint64_t sum = 0;
  for (const std::uint16_t v : values) sum += v;
  return sum;
}

nlohmann::json scan(const Reader& reader) {
  SideBySide run("scan of u16 tokens", 9);
  const auto tokens = reader.section(0).value();
  const auto all = format::view<std::uint16_t>(tokens.bytes, 0, reader.tokens());
  run.contender("plain loop over the bytes", [&] { sink = sink + sum_u16(all); });
  run.contender("through pack()", [&] {
    std::uint64_t sum = 0;
    PackBuffer buffer;
    for (std::uint64_t p = 0; p < reader.packs(); ++p) {
      const auto pack = reader.pack(p, buffer);
      sum += sum_u16(pack.value().tokens().narrow());
    }
    sink = sink + sum;
  });
  return run.measure();
}

}  // namespace

int main(int argc, char** argv) {
  std::string out, folder = "/dev/shm";
  std::uint64_t packs = 250'000, large = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--json") out = argv[i + 1];
    if (key == "--packs") packs = std::strtoull(argv[i + 1], nullptr, 10);
    if (key == "--large-packs") large = std::strtoull(argv[i + 1], nullptr, 10);
    if (key == "--folder") folder = argv[i + 1];
  }
  nlohmann::json results = nlohmann::json::array();
  const SyntheticFile small({.packs = 100, .folder = folder});
  {
    const SyntheticFile sparse(
        {.packs = 250'000, .tokens_per_pack = 80'000, .fill = false, .folder = folder});
    nlohmann::json open{{"name", "open"},
                        {"small_bytes", small.size()},
                        {"sparse_bytes", sparse.size()},
                        {"small_us", open_median_us(small.path(), ReadMode::kMmap)},
                        {"sparse_us", open_median_us(sparse.path(), ReadMode::kMmap)},
                        {"small_pread_us", open_median_us(small.path(), ReadMode::kPread)}};
    std::printf("open: %.1f us (%.1f MB), %.1f us (%.1f GB sparse), pread mode %.1f us\n",
                open["small_us"].get<double>(), static_cast<double>(small.size()) / 1e6,
                open["sparse_us"].get<double>(), static_cast<double>(sparse.size()) / 1e9,
                open["small_pread_us"].get<double>());
    results.push_back(open);
  }
  {
    const SyntheticFile file({.packs = packs, .fill = false, .folder = folder});
    const auto reader = Reader::open(file.path());
    results.push_back(pack_cost("8 sequences, boundaries", *reader, false));
  }
  if (large > 0) {
    const SyntheticFile file(
        {.packs = large, .sequences_per_pack = 64, .tokens_per_pack = 512, .fill = true, .folder = folder});
    const auto reader = Reader::open(file.path());
    results.push_back(pack_cost("64 sequences, data touched", *reader, true));
  }
  {
    const SyntheticFile file({.packs = 64'000, .folder = folder});
    const auto reader = Reader::open(file.path());
    results.push_back(scan(*reader));
  }
  if (!out.empty()) std::ofstream(out) << results.dump(2) << '\n';
  return 0;
}
