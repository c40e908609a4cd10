// How the calls behave as launches: in CUDA graphs, on another device, and with what cannot be launched.
#include <string>

#include "device_memory.h"
#include "gpu_check.h"
#include "naive_masks.h"
#include "tokpack/core/block_lists.h"
#include "tokpack/cuda/masks.h"

namespace tokpack::test {
namespace {

constexpr std::int32_t kPositions = 200;

/// Boundaries to intervals to mask and block lists on the device that is current, as one step of a trainer
/// does.
class Step {
 public:
  void run(const Stream& stream, int device) const {
    const cuda::Launch launch{.stream = stream.get(), .device = device};
    const RowIntervals rows{.lo = lo.span()};
    require(cuda::build_row_intervals({.cu_seqlens = boundaries.span()}, {}, lo.span(), {}, launch));
    require(cuda::write_mask(rows, {}, {.data = mask.data(), .bytes = mask.bytes()}, launch));
    require(cuda::make_block_lists(rows, {16, 16}, {kv_num.span(), kv.span(), full_num.span(), full.span()},
                                   launch));
  }
  /// "" or what differs from the CPU's for these boundaries.
  std::string fault(const Ints& cu_seqlens) const {
    const auto expected = intervals_of({.cu_seqlens = cu_seqlens, .positions = kPositions});
    if (lo.values() != expected.lo) return "the intervals differ";
    std::vector<unsigned char> cells(kPositions * kPositions);
    require(write_mask({.lo = expected.lo}, {}, {.data = cells.data(), .bytes = cells.size()}));
    if (mask.values() != cells) return "the mask differs";
    Ints num(13), indices(13 * 13), whole_num(13), whole(13 * 13);
    require(make_block_lists({.lo = expected.lo}, {16, 16}, {num, indices, whole_num, whole}));
    if (kv_num.values() != num || full_num.values() != whole_num) return "the block lists differ";
    return mask.margins_kept() && lo.margins_kept() ? "" : "something is written beside the buffers";
  }

  DeviceArray<std::int32_t> boundaries{5}, lo{kPositions}, kv_num{13}, kv{13 * 13}, full_num{13},
      full{13 * 13};
  DeviceArray<unsigned char> mask{kPositions * kPositions};
};

const Ints kFirst = {0, 20, 90, 91, 180}, kSecond = {0, 64, 128, 128, 128};

/// The graph once more, over other boundaries and poisoned results.
std::string replay(Step& step, const Stream& stream, const Graph& graph, const Ints& cu_seqlens,
                   const Ints& row) {
  step.boundaries.set(row);
  step.lo.poison();
  step.mask.poison();
  graph.launch(stream);
  stream.wait();
  return step.fault(cu_seqlens);
}

std::string captured(Step& step, const Stream& stream) {
  const Graph graph(stream, [&] { step.run(stream, 0); });
  if (graph.nodes() != 3)
    return std::to_string(graph.nodes()) + " nodes, expected a kernel for each of 3 calls";
  if (const auto fault = replay(step, stream, graph, kFirst, kFirst); !fault.empty()) return fault;
  return replay(step, stream, graph, {0, 64, 128}, kSecond);  // the last boundary repeated
}

}  // namespace

void check_capture_as_first_use(Report& report) {
  Step step;
  const Stream stream;
  report.check("captured in a graph as their first use, and replayed with other boundaries", 2,
               captured(step, stream));
}

void check_graphs(Report& report) {
  Step step;
  const Stream stream;
  step.boundaries.set(kFirst);
  step.run(stream, cuda::kCurrentDevice);
  stream.wait();
  report.check("three calls on one stream follow each other", 1, step.fault(kFirst));
  report.check("captured in a graph after a first use, and replayed with other boundaries", 2,
               captured(step, stream));
}

void check_second_device(Report& report) {
  const char* const name = "on the second device, while the first is current";
  int count = 0, current = -1;
  require(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count < 2) return report.not_run(name, "one device");
  std::string fault;
  {
    require(cudaSetDevice(1), "cudaSetDevice");
    Step step;
    const Stream stream;
    step.boundaries.set(kFirst);
    require(cudaSetDevice(0), "cudaSetDevice");
    step.run(stream, 1);
    require(cudaGetDevice(&current), "cudaGetDevice");
    if (current != 1) fault = "the device of the launch is not the current one after it, as launch.h says";
    stream.wait();
    if (fault.empty()) fault = step.fault(kFirst);
  }
  require(cudaSetDevice(0), "cudaSetDevice");
  report.check(name, 1, fault);
}

void check_errors(Report& report) {
  const DeviceArray<std::int32_t> lo(10);
  const DeviceArray<unsigned char> mask(100);
  const MaskBuffer out{.data = mask.data(), .bytes = 100};
  int count = 0;
  require(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  const auto written = cuda::write_mask({.lo = lo.span()}, {}, out, {.device = count});
  std::string fault;
  if (written.ok()) {
    fault = "no error";
  } else if (written.error().code != Errc::kCuda ||
             !written.error().detail.starts_with("cudaSetDevice failed: ")) {
    fault = written.error().detail;
  } else if (cudaGetLastError() != cudaSuccess) {
    fault = "the error is left behind as the runtime's last one";
  }
  report.check("a device that is not there is a kCuda error, and nothing is left behind", 1, fault);
}

}  // namespace tokpack::test
