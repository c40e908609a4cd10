#include "tokpack/core/mask.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "mask_kernels.h"
#include "tokpack/core/mask_layout.h"

namespace tokpack {
namespace {

/// Rows [0, count) over threads; where none can be had, the calling one does it all.
void write_rows(const detail::MaskRows& rows, std::int64_t count, unsigned threads,
                detail::WriteRows write) noexcept {
  const std::int64_t parts = std::clamp<std::int64_t>(threads, 1, count);
  const auto first_of = [&](std::int64_t part) {
    return count / parts * part + std::min(part, count % parts);  // no product that could wrap
  };
  std::vector<std::thread> workers;
  std::int64_t started = 1;  // part 0 is the caller's
  try {
    workers.reserve(static_cast<std::size_t>(parts - 1));
    for (; started < parts; ++started) {
      workers.emplace_back(write, std::cref(rows), first_of(started), first_of(started + 1));
    }
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  write(rows, first_of(0), first_of(1));
  if (started < parts) write(rows, first_of(started), count);
  for (std::thread& worker : workers) worker.join();
}

std::uint64_t last_level_cache() noexcept {
  long bytes = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL4_CACHE_SIZE)
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    bytes = std::max(bytes, sysconf(level));
  }
#endif
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : kAssumedCacheBytes;
}

}  // namespace

std::uint64_t streaming_threshold() noexcept {
  static const std::uint64_t threshold = last_level_cache() / kStreamingCacheShare;
  return threshold;
}

Result<void> write_mask(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out) {
  const auto positions = row_positions(intervals);
  if (!positions) return positions.error();
  const auto layout = mask_layout(intervals.batch, *positions, options, out);
  if (!layout) return layout.error();

  const detail::MaskRows rows{.lo = intervals.lo.data(),
                              .hi = intervals.hi.empty() ? nullptr : intervals.hi.data(),
                              .positions = *positions,
                              .element_bytes = layout->element_bytes,
                              .cells = static_cast<unsigned char*>(out.data),
                              .row_stride = layout->row_stride * layout->element_bytes,
                              .batch_stride = layout->batch_stride * layout->element_bytes,
                              .masked = layout->masked,
                              .attended = layout->attended};
  const bool streams = options.stores == MaskStores::kStreaming ||
                       (options.stores == MaskStores::kAuto && layout->mask_bytes > streaming_threshold());
  const detail::MaskKernels& kernels = detail::mask_kernels();
  write_rows(rows, static_cast<std::int64_t>(intervals.lo.size()), options.threads,
             streams ? kernels.streaming : kernels.ordinary);
  return {};
}

}  // namespace tokpack
