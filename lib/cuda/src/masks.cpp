#include "tokpack/cuda/masks.h"

#include "device.h"
#include "kernels.h"

namespace tokpack::cuda {
namespace {

/// kAuto streams masks above the L2 cache divided by this: what fits is left there for who reads it next.
constexpr std::uint64_t kL2Share = 2;

Result<bool> wants_streaming(MaskStores stores, const MaskJob& job) {
  if (stores != MaskStores::kAuto) return stores == MaskStores::kStreaming;
  const auto cache = l2_cache_bytes();
  if (!cache) return cache.error();
  // The job's sizes are checked: its bytes fit.
  const auto positions = static_cast<std::uint64_t>(job.positions);
  const std::uint64_t cells = static_cast<std::uint64_t>(job.batch) * positions * positions;
  return (cells << job.element_shift) > *cache / kL2Share;
}

}  // namespace

Result<void> build_row_intervals(const BatchBoundaries& boundaries, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi,
                                 const Launch& launch) {
  const auto job = interval_job(boundaries, options, lo, hi);
  if (!job) return job.error();
  if (auto current = make_current(launch); !current) return current;
  return cuda_result(launch_intervals(*job, launch.stream), "the launch of build_row_intervals");
}

Result<void> write_mask(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out,
                        const Launch& launch) {
  const auto job = mask_job(intervals, options, out);
  if (!job) return job.error();
  if (auto current = make_current(launch); !current) return current;
  const auto streams = wants_streaming(options.stores, *job);
  if (!streams) return streams.error();
  return cuda_result(launch_mask(*job, *streams, launch.stream), "the launch of write_mask");
}

Result<void> make_block_lists(const RowIntervals& intervals, BlockSize size, const BlockLists& out,
                              const Launch& launch) {
  const auto job = block_job(intervals, size, out);
  if (!job) return job.error();
  if (auto current = make_current(launch); !current) return current;
  return cuda_result(launch_block_lists(*job, launch.stream), "the launch of make_block_lists");
}

}  // namespace tokpack::cuda
