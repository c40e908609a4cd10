// Compares every kernel of lib/cuda with the CPU implementation on the GPU of this machine and times the
// masks.
//
//   gpu_check [--quick] [--no-times]
//
// One object of JSON on standard output, a line per check on standard error. Exit code 0 when every check
// passed, 1 when one failed, 77 and "no GPU" where there is none. --quick: fewer cases and no times, for
// compute-sanitizer.
#include "gpu_check.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "device_memory.h"

namespace tokpack::test {

std::string quoted_json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

void Report::check(const std::string& name, std::int64_t cases, const std::string& fault) {
  if (!fault.empty()) ++failed_;
  std::fprintf(stderr, "%s: %s (%lld cases)%s%s\n", fault.empty() ? "ok" : "FAILED", name.c_str(),
               static_cast<long long>(cases), fault.empty() ? "" : ": ", fault.c_str());
  checks_ += std::string(checks_.empty() ? "" : ",") + "\n    {\"name\": " + quoted_json(name) +
             ", \"passed\": " + (fault.empty() ? "true" : "false") + ", \"cases\": " + std::to_string(cases) +
             (fault.empty() ? "" : ", \"fault\": " + quoted_json(fault)) + "}";
}

void Report::not_run(const std::string& name, const std::string& why) {
  std::fprintf(stderr, "not run: %s: %s\n", name.c_str(), why.c_str());
  checks_ += std::string(checks_.empty() ? "" : ",") + "\n    {\"name\": " + quoted_json(name) +
             ", \"not_run\": " + quoted_json(why) + "}";
}

void Report::time(const std::string& fields) {
  std::fprintf(stderr, "time: %s\n", fields.c_str());
  times_ += std::string(times_.empty() ? "" : ",") + "\n    {" + fields + "}";
}

std::string Report::json(const std::string& head) const {
  return "{\n  " + head + ",\n  \"failed\": " + std::to_string(failed_) + ",\n  \"checks\": [" + checks_ +
         "\n  ],\n  \"times\": [" + times_ + "\n  ]\n}\n";
}

namespace {

/// Runs a part; what the runtime refuses is a failed check, and the parts after it run all the same.
template <typename Part>
void part(Report& report, const char* name, Part run) {
  try {
    run();
  } catch (const std::exception& error) {
    report.check(name, 0, error.what());
    static_cast<void>(cudaGetLastError());
  }
}

std::string head_of(const cudaDeviceProp& device, int count) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return "\"device\": " + quoted_json(device.name) + ", \"capability\": \"" + std::to_string(device.major) +
         "." + std::to_string(device.minor) + "\", \"devices\": " + std::to_string(count) +
         ", \"multiprocessors\": " + std::to_string(device.multiProcessorCount) +
         ", \"l2_bytes\": " + std::to_string(device.l2CacheSize) + ", \"driver\": " + std::to_string(driver) +
         ", \"runtime\": " + std::to_string(runtime);
}

}  // namespace
}  // namespace tokpack::test

int main(int argc, char** argv) {
  using namespace tokpack::test;
  bool quick = false, times = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--no-times") == 0) {
      times = false;
    } else {
      std::fprintf(stderr, "usage: gpu_check [--quick] [--no-times]\n");
      return 2;
    }
  }
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  cudaDeviceProp device{};
  if (found != cudaSuccess || count == 0 || cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
    std::fprintf(stderr, "no GPU: %s\n", found != cudaSuccess ? cudaGetErrorString(found) : "no device");
    return 77;
  }

  Report report;
  // First, while no kernel of the library has been loaded yet.
  part(report, "graph capture, first use", [&] { check_capture_as_first_use(report); });
  part(report, "intervals", [&] { check_intervals(report, quick); });
  part(report, "masks", [&] { check_masks(report, quick); });
  part(report, "block lists", [&] { check_block_lists(report, quick); });
  part(report, "graphs", [&] { check_graphs(report); });
  part(report, "second device", [&] { check_second_device(report); });
  part(report, "errors", [&] { check_errors(report); });
  if (!quick) {
    part(report, "mask offsets", [&] { check_mask_offsets(report); });
    if (times) part(report, "times", [&] { measure(report); });
  }
  std::fputs(report.json(head_of(device, count)).c_str(), stdout);
  return report.failed() == 0 ? 0 : 1;
}
