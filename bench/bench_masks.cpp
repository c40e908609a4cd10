// Dense masks on the CPU beside plain fills of the same bytes, one thread; and FlexAttention's block lists.
//
// Contenders run in blocks of consecutive calls on one buffer (call_blocks.h): streaming stores evict it, so
// that the next contender would start cold. `over_faster_fill` is the time of the faster of the two fills
// divided by the contender's: aims are 0.85 for bool and 0.8 for additive bf16, at every size.
//
//   bench_masks [--json OUT] [--mib N] [--calls 16] [--blocks 3] [--threads 1] [--stores
//   auto|ordinary|streaming]
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "call_blocks.h"
#include "constant_fill.h"
#include "tokpack/core/block_lists.h"
#include "tokpack/core/mask.h"

using namespace tokpack;
using tokpack::bench::CallBlockOptions;
using tokpack::bench::CallBlocks;

namespace {

/// Full rows of sequences of 1 to 1200 tokens, causal: lo alone.
std::vector<std::int32_t> made_up_lo(std::size_t batch, std::size_t positions) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> length(1, 1200);
  std::vector<std::int32_t> lo(batch * positions);
  for (std::size_t b = 0; b < batch; ++b) {
    std::vector<std::int32_t> cu_seqlens = {0};
    const auto end = static_cast<std::int32_t>(positions);
    while (cu_seqlens.back() < end) cu_seqlens.push_back(std::min(end, cu_seqlens.back() + length(random)));
    if (!build_row_intervals(cu_seqlens, {}, std::span(lo).subspan(b * positions, positions))) std::abort();
  }
  return lo;
}

class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    void* at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) std::abort();
    data_ = static_cast<unsigned char*>(at);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { munmap(data_, bytes_); }
  unsigned char* data() const { return data_; }

 private:
  unsigned char* data_;
  std::size_t bytes_;
};

/// The largest S of a power of two, up to 32768, and the batch, that make `bytes` of a mask.
std::pair<std::size_t, std::size_t> shape_of(std::size_t bytes, MaskForm form) {
  const std::size_t cells = bytes / mask_element_bytes(form);
  std::size_t positions = 32768;
  while (positions * positions > cells) positions /= 2;
  return {cells / (positions * positions), positions};
}

nlohmann::json measure_masks(std::size_t mib, const CallBlockOptions& blocks, const MaskOptions& options) {
  const std::size_t bytes = mib << 20;
  const Buffer buffer(bytes);
  CallBlocks run(blocks);
  run.contender("memset", [&] { std::memset(buffer.data(), 1, bytes); });
  run.contender("streaming constant fill", [&] { bench::fill_past_caches(buffer.data(), bytes); });
  for (const MaskForm form : {MaskForm::kBool, MaskForm::kAdditiveBf16}) {
    const auto [batch, positions] = shape_of(bytes, form);
    MaskOptions chosen = options;
    chosen.form = form;
    run.contender(form == MaskForm::kBool ? "mask, bool" : "mask, additive bf16",
                  [&, chosen, rows = static_cast<std::int64_t>(batch), lo = made_up_lo(batch, positions)] {
                    const auto written = write_mask({.lo = lo, .batch = rows}, chosen,
                                                    {.data = buffer.data(), .bytes = bytes});
                    if (!written) std::abort();
                  });
  }
  const auto measured = run.measure();
  const double fill = std::min(measured[0].median, measured[1].median);
  nlohmann::json out{{"name", "mask"}, {"mib", mib}, {"contenders", nlohmann::json::array()}};
  for (const auto& c : measured) {
    const double rate = static_cast<double>(bytes) / c.median / 1e9;
    out["contenders"].push_back({{"name", c.name},
                                 {"median_s", c.median},
                                 {"min_s", c.least},
                                 {"gb_per_s", rate},
                                 {"over_faster_fill", fill / c.median}});
    std::printf("%5zu MiB  %-24s median %9.3f ms  min %9.3f ms  %6.2f GB/s  x faster fill %5.2f\n", mib,
                c.name.c_str(), c.median * 1e3, c.least * 1e3, rate, fill / c.median);
  }
  return out;
}

nlohmann::json measure_block_lists(const CallBlockOptions& blocks, std::size_t positions, bool one_document) {
  auto lo = made_up_lo(1, positions);
  if (one_document) std::fill(lo.begin(), lo.end(), 0);
  const auto counts = block_counts(static_cast<std::int64_t>(positions), {}).value();
  const auto queries = static_cast<std::size_t>(counts.query), keys = static_cast<std::size_t>(counts.key);
  std::vector<std::int32_t> numbers(queries), full_numbers(queries), indices(queries * keys),
      full_indices(queries * keys);
  constexpr int kRepeats = 100;  // a call takes microseconds
  CallBlocks run(blocks);
  run.contender("block lists", [&] {
    for (int i = 0; i < kRepeats; ++i) {
      if (!make_block_lists({.lo = lo}, {}, {numbers, indices, full_numbers, full_indices})) std::abort();
    }
  });
  const double seconds = run.measure().front().median / kRepeats;
  const char* what = one_document ? "one sequence" : "sequences of 1 to 1200";
  std::printf("block lists, S = %zu, %-24s %7.2f us\n", positions, what, seconds * 1e6);
  return {{"name", "block lists"}, {"positions", positions}, {"sequences", what}, {"median_s", seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  std::string out;
  std::vector<std::size_t> sizes = {4, 16, 64, 128, 256, 1024};
  CallBlockOptions blocks;
  MaskOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--json") out = value;
    if (key == "--mib") sizes = {std::strtoul(value.c_str(), nullptr, 10)};
    if (key == "--calls") blocks.calls = std::max(16, std::atoi(value.c_str()));
    if (key == "--blocks") blocks.blocks = std::max(3, std::atoi(value.c_str()));
    if (key == "--threads") options.threads = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "--stores" && value == "ordinary") options.stores = MaskStores::kOrdinary;
    if (key == "--stores" && value == "streaming") options.stores = MaskStores::kStreaming;
  }
  std::printf("masks stream above %.1f MiB here\n", static_cast<double>(streaming_threshold()) / (1 << 20));
  nlohmann::json results = nlohmann::json::array();
#if defined(__GLIBC__)
  results.push_back(
      {{"name", "machine"}, {"glibc", gnu_get_libc_version()}, {"streams_above", streaming_threshold()}});
#endif
  for (const std::size_t mib : sizes) results.push_back(measure_masks(mib, blocks, options));
  for (const bool one_document : {false, true}) {
    results.push_back(measure_block_lists(blocks, 32768, one_document));
  }
  if (!out.empty()) std::ofstream(out) << results.dump(2) << '\n';
  return 0;
}
