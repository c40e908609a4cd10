// Filling a batch of 8 x 4096 in cache: int64 ids, labels and positions from u16 tokens and loss bits, beside
// filling the same arrays row by row with a constant; and the loader, batch after batch on a warm file.
//
//   bench_batch [--json OUT] [--folder F]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "call_blocks.h"
#include "tokpack/core/loader.h"
#include "tokpack/core/writer.h"

using namespace tokpack;

namespace {

constexpr std::size_t kRows = 8, kLength = 4096, kCells = kRows * kLength;

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "bench_batch: %s\n", message.c_str());
  std::exit(3);
}

enum class Bits { kPromptAnswer, kRandom };

/// 2,000 packs of samples of mean 500 tokens.
void write_file(const std::string& path, Bits kind) {
  auto writer = Writer::create(path, {.plan = {.capacity = kLength}, .force = true, .sync = false});
  if (!writer) stop(writer.error().detail);
  std::mt19937 random(7);
  for (std::uint64_t tokens = 0; tokens < 2000 * kLength;) {
    const std::size_t n = 100 + random() % 801;
    std::vector<std::uint16_t> ids(n);
    std::vector<std::uint8_t> mask(n);
    for (std::size_t i = 0; i < n; ++i) {
      ids[i] = static_cast<std::uint16_t>(random());
      mask[i] = kind == Bits::kRandom ? random() % 2 : i >= n / 3;
    }
    Sample sample{.tokens = TokenInput(std::span<const std::uint16_t>(ids))};
    sample.loss_mask = mask;
    if (auto ok = writer->add(sample); !ok) stop(ok.error().detail);
    tokens += n;
  }
  if (auto done = std::move(*writer).finish(); !done) stop(done.error().detail);
}

std::int64_t* aligned_array() {
  auto* const data = static_cast<std::int64_t*>(std::aligned_alloc(64, kCells * 8));
  std::fill_n(data, kCells, 1);
  return data;
}

#if defined(__x86_64__)
__attribute__((target("avx2")))
#endif
void fill_constant(std::int64_t* row, std::size_t count, std::int64_t value) {
  for (std::size_t i = 0; i < count; ++i) row[i] = value;
}

nlohmann::json fill_beside_constant(const std::string& name, const Reader& reader) {
  std::int64_t *ids = aligned_array(), *labels = aligned_array(), *positions = aligned_array();
  const std::vector<std::uint64_t> packs{3, 900, 41, 1500, 77, 640, 1203, 8};
  bench::CallBlocks run({.calls = 2000, .blocks = 5});
  run.contender("constant", [&] {
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::int64_t* array : {ids, labels, positions}) fill_constant(array + r * kLength, kLength, 5);
    }
  });
  run.contender("fill_rows", [&] {
    const auto done = fill_rows(reader, packs, {.row_length = kLength},
                                {.input_ids = ids, .labels = labels, .position_ids = positions});
    if (!done) stop(done.error().detail);
  });
  const auto measured = run.measure();
  const double ratio = measured[0].median / measured[1].median;
  std::printf("%-28s constant %6.1f us  fill_rows %6.1f us  %.2f x\n", name.c_str(), measured[0].median * 1e6,
              measured[1].median * 1e6, ratio);
  for (std::int64_t* array : {ids, labels, positions}) std::free(array);
  return {{"name", name},
          {"constant_us", measured[0].median * 1e6},
          {"fill_rows_us", measured[1].median * 1e6},
          {"speed_of_constant", ratio}};
}

/// Microseconds a batch, best of 5 passes of 1,000 batches.
double loader_us(const Reader& reader, unsigned threads) {
  double best = 1e9;
  for (int pass = 0; pass < 5; ++pass) {
    auto loader = Loader::create(
        reader,
        {.sampler = {.batch = kRows}, .labels = true, .position_ids = true, .threads = threads, .ahead = 1});
    if (!loader) stop(loader.error().detail);
    for (int i = 0; i < 50; ++i) (void)loader->next();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      if (auto batch = loader->next(); !batch) stop(batch.error().detail);
    }
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 1000 * 1e6);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::string out, folder = "/dev/shm";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") out = argv[i + 1];
    if (std::string(argv[i]) == "--folder") folder = argv[i + 1];
  }
  const std::string path = folder + "/tokpack_bench_batch.tpk";
  nlohmann::json results = nlohmann::json::array();
  for (const Bits kind : {Bits::kPromptAnswer, Bits::kRandom}) {
    write_file(path, kind);
    const auto reader = Reader::open(path);
    if (!reader) stop(reader.error().detail);
    results.push_back(
        fill_beside_constant(kind == Bits::kRandom ? "random bits" : "prompt and answer bits", *reader));
    if (kind == Bits::kRandom) {
      for (const unsigned threads : {0U, 1U}) {
        const double us = loader_us(*reader, threads);
        std::printf("loader, threads = %u: %.1f us a batch (%.2f G tokens/s)\n", threads, us,
                    static_cast<double>(kCells) / us / 1e3);
        results.push_back({{"name", "loader"}, {"threads", threads}, {"us", us}});
      }
    }
  }
  std::filesystem::remove(path);
  if (!out.empty()) std::ofstream(out) << results.dump(2) << '\n';
  return 0;
}
