// Times: masks against cudaMemsetAsync of the same buffer, and against a mask made on the CPU and copied.
//
// Contenders take turns in blocks of calls, each block between two events; what counts is the median of the
// blocks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "device_memory.h"
#include "gpu_check.h"
#include "naive_masks.h"
#include "tokpack/core/block_lists.h"
#include "tokpack/cuda/masks.h"

namespace tokpack::test {
namespace {

constexpr int kBlocks = 9;

struct Contender {
  std::string name;
  std::function<void()> call;
  std::vector<double> microseconds = {};  // of a call, per block
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

class Events {
 public:
  Events() {
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() { cudaEventDestroy(begin_), cudaEventDestroy(end_); }
  double microseconds(const Stream& stream, int calls, const std::function<void()>& call) const {
    require(cudaEventRecord(begin_, stream.get()), "cudaEventRecord");
    for (int i = 0; i < calls; ++i) call();
    require(cudaEventRecord(end_, stream.get()), "cudaEventRecord");
    require(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1000 / calls;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void race(const Stream& stream, std::vector<Contender>& contenders, int calls) {
  const Events events;
  for (Contender& contender : contenders) events.microseconds(stream, calls, contender.call);  // warm
  for (int block = 0; block < kBlocks; ++block) {
    for (Contender& contender : contenders) {
      contender.microseconds.push_back(events.microseconds(stream, calls, contender.call));
    }
  }
}

std::string spread(const Contender& contender) {
  const auto [least, most] =
      std::minmax_element(contender.microseconds.begin(), contender.microseconds.end());
  return "\"us\": " + number(median(contender.microseconds)) + ", \"us_min\": " + number(*least) +
         ", \"us_max\": " + number(*most);
}

/// Causal rows of sequences of some hundred tokens, the last ones pads.
Intervals batch_of(std::size_t batch, std::int32_t positions) {
  RandomCases random(7);
  Intervals out;
  for (std::size_t b = 0; b < batch; ++b) {
    Case c{.cu_seqlens = {0}, .positions = positions};
    while (c.tokens() < positions - 100) {
      c.cu_seqlens.push_back(std::min(positions - 50, c.tokens() + random.number(50, 1500)));
    }
    const auto row = intervals_of(c);
    out.lo.insert(out.lo.end(), row.lo.begin(), row.lo.end());
    out.hi.insert(out.hi.end(), row.hi.begin(), row.hi.end());
  }
  return out;
}

const char* name_of(MaskStores stores) {
  if (stores == MaskStores::kAuto) return "auto";
  return stores == MaskStores::kStreaming ? "streaming" : "ordinary";
}

void measure_mask(Report& report, std::size_t batch, std::int32_t positions, MaskForm form,
                  const char* form_name) {
  const auto host = batch_of(batch, positions);
  const DeviceArray<std::int32_t> lo(host.lo);
  const std::size_t bytes = batch * static_cast<std::size_t>(positions) *
                            static_cast<std::size_t>(positions) * mask_element_bytes(form);
  const DeviceArray<unsigned char> memory(bytes);
  const Stream stream;
  const RowIntervals rows{.lo = lo.span(), .batch = static_cast<std::int64_t>(batch)};
  std::vector<Contender> contenders = {
      {"cudaMemsetAsync",
       [&] { require(cudaMemsetAsync(memory.data(), 0, bytes, stream.get()), "memset"); }}};
  for (const MaskStores stores : {MaskStores::kOrdinary, MaskStores::kStreaming, MaskStores::kAuto}) {
    contenders.push_back({std::string("write_mask, ") + name_of(stores) + " stores", [&, stores] {
                            require(cuda::write_mask(rows, {.form = form, .stores = stores, .force = true},
                                                     {.data = memory.data(), .bytes = bytes},
                                                     {.stream = stream.get()}));
                          }});
  }
  race(stream, contenders, bytes < (std::size_t{64} << 20) ? 100 : 20);
  const double memset = median(contenders.front().microseconds);
  for (const Contender& contender : contenders) {
    const double time = median(contender.microseconds);
    report.time("\"what\": " + quoted_json(contender.name) + ", \"form\": \"" + form_name +
                "\", \"batch\": " + std::to_string(batch) + ", \"positions\": " + std::to_string(positions) +
                ", \"bytes\": " + std::to_string(bytes) + ", " + spread(contender) +
                ", \"gb_per_s\": " + number(static_cast<double>(bytes) / time / 1000) +
                ", \"of_memset\": " + number(memset / time));
  }
}

/// The mask made on the CPU by all its threads and copied from pinned memory.
void measure_copy(Report& report, std::size_t batch, std::int32_t positions) {
  const auto host = batch_of(batch, positions);
  const std::size_t bytes = batch * static_cast<std::size_t>(positions) * static_cast<std::size_t>(positions);
  const DeviceArray<unsigned char> memory(bytes);
  void* pinned = nullptr;
  require(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<double> times;
  for (int i = 0; i < 4; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    require(write_mask({.lo = host.lo, .batch = static_cast<std::int64_t>(batch)},
                       {.threads = threads, .force = true}, {.data = pinned, .bytes = bytes}));
    require(cudaMemcpy(memory.data(), pinned, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(time.count());  // the first one touches the memory for the first time
  }
  cudaFreeHost(pinned);
  report.time("\"what\": \"mask made on the CPU, " + std::to_string(threads) +
              " threads, copied from pinned memory\", \"form\": \"bool\", \"batch\": " +
              std::to_string(batch) + ", \"positions\": " + std::to_string(positions) +
              ", \"bytes\": " + std::to_string(bytes) + ", \"us\": " + number(median(times)));
}

void measure_small_kernels(Report& report, std::size_t batch, std::int32_t positions) {
  Ints boundaries;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::int32_t s = 0; s <= 64; ++s) boundaries.push_back(s * (positions / 64));
  }
  const DeviceArray<std::int32_t> cu_seqlens(boundaries), lo(batch * static_cast<std::size_t>(positions)),
      hi(batch * static_cast<std::size_t>(positions));
  const auto blocks = static_cast<std::size_t>(block_counts(positions, {}).value().query);
  const DeviceArray<std::int32_t> num(batch * blocks), indices(batch * blocks * blocks),
      full_num(batch * blocks), full(batch * blocks * blocks);
  const Stream stream;
  const cuda::Launch launch{.stream = stream.get()};
  const auto rows = static_cast<std::int64_t>(batch);
  std::vector<Contender> contenders = {
      {"build_row_intervals",
       [&] {
         require(cuda::build_row_intervals({cu_seqlens.span(), rows}, {}, lo.span(), hi.span(), launch));
       }},
      {"make_block_lists, blocks of 128", [&] {
         require(cuda::make_block_lists({lo.span(), hi.span(), rows}, {},
                                        {num.span(), indices.span(), full_num.span(), full.span()}, launch));
       }}};
  race(stream, contenders, 200);
  for (const Contender& contender : contenders) {
    report.time("\"what\": " + quoted_json(contender.name) + ", \"batch\": " + std::to_string(batch) +
                ", \"positions\": " + std::to_string(positions) + ", " + spread(contender));
  }
}

}  // namespace

void measure(Report& report) {
  measure_mask(report, 1, 4096, MaskForm::kBool, "bool");
  measure_mask(report, 4, 8192, MaskForm::kBool, "bool");          // 256 MiB
  measure_mask(report, 16, 8192, MaskForm::kBool, "bool");         // 1 GiB
  measure_mask(report, 16, 8191, MaskForm::kBool, "bool");         // rows that are not aligned
  measure_mask(report, 8, 8192, MaskForm::kAdditiveBf16, "bf16");  // 1 GiB
  measure_mask(report, 256, 2048, MaskForm::kBool, "bool");        // 1 GiB
  measure_copy(report, 4, 8192);
  measure_copy(report, 16, 8192);
  measure_small_kernels(report, 8, 8192);
  measure_small_kernels(report, 8, 32'768);
}

}  // namespace tokpack::test
