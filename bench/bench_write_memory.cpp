// Peak anonymous memory of the writer, whatever the size of the input.
//
//   bench_write_memory [--folder PATH] [--json OUT] [--long-only]
//
// 2 and 4 million samples of 750 tokens with a loss mask, and 100 million samples of one token, at the
// default window. A thread samples RssAnon of /proc/self/status; the file goes to a disk folder, since pages
// of a memory file system would be counted elsewhere.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tokpack/core/writer.h"

namespace {

using namespace tokpack;

std::uint64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (status >> word) {
    if (word == "RssAnon:") {
      status >> kilobytes;
      break;
    }
  }
  return kilobytes * 1024;
}

// Packs `samples` samples of `length` tokens and gives the peak of anonymous memory in bytes.
std::uint64_t peak(const std::string& folder, std::uint64_t samples, std::uint32_t length, unsigned threads) {
  const std::string path = folder + "/tokpack_bench_memory.tpk";
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> most{0};
  std::thread watcher([&] {
    while (!done) {
      most = std::max(most.load(), anonymous_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const std::uint64_t per_batch = std::max<std::uint64_t>(1, 65536 / length);
  const std::vector<std::uint32_t> lengths(per_batch, length);
  const std::vector<std::uint16_t> tokens(per_batch * length, 77);
  const std::vector<std::uint8_t> mask(per_batch * length, 1);
  auto writer =
      Writer::create(path, {.plan = {.capacity = 4096}, .threads = threads, .force = true, .sync = false});
  if (!writer) std::exit(1);
  for (std::uint64_t i = 0; i < samples; i += per_batch) {
    const std::uint64_t n = std::min(per_batch, samples - i);
    const Batch batch{.tokens = TokenInput(std::span(tokens).first(n * length)),
                      .lengths = std::span(lengths).first(n),
                      .loss_mask = std::span(mask).first(n * length)};
    if (auto ok = writer->add_batch(batch); !ok) {
      std::fprintf(stderr, "%s\n", ok.error().detail.c_str());
      std::exit(1);
    }
  }
  const auto finished = std::move(*writer).finish();
  if (!finished) std::exit(1);
  done = true;
  watcher.join();
  ::unlink(path.c_str());
  return most;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = "/tmp", json;
  bool long_only = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--folder" && i + 1 < argc) folder = argv[++i];
    if (arg == "--json" && i + 1 < argc) json = argv[++i];
    if (arg == "--long-only") long_only = true;
  }
  struct Run {
    std::uint64_t samples;
    std::uint32_t length;
  };
  nlohmann::json out = nlohmann::json::array();
  for (const unsigned threads : {1u, 2u}) {
    for (const Run run : {Run{2'000'000, 750}, Run{4'000'000, 750}, Run{100'000'000, 1}}) {
      if (long_only && run.length == 1) continue;
      const std::uint64_t bytes = peak(folder, run.samples, run.length, threads);
      std::printf("%10llu samples of %4u tokens, %u threads: %7.1f MB anonymous at most\n",
                  static_cast<unsigned long long>(run.samples), run.length, threads,
                  static_cast<double>(bytes) / 1e6);
      std::fflush(stdout);
      out.push_back(
          {{"samples", run.samples}, {"length", run.length}, {"threads", threads}, {"bytes", bytes}});
    }
  }
  if (!json.empty()) std::ofstream(json) << out.dump(2) << "\n";
  return 0;
}
