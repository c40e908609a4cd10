// Dense attention masks [B,1,S,S] from row intervals, written into a caller's buffer.
//
// Forms: bool (True = attend: PyTorch SDPA; never for an eager implementation that adds the mask to the
// scores), inverted bool (True = masked out: Megatron), and additive f32, bf16 or f16 (0 where attended, -inf
// or the lowest finite value elsewhere: eager attention; with -inf a row that attends nothing becomes NaN).
// Cell (b, r, c) is attended iff lo[b,r] <= c <= hi[b,r]; any int32 values are safe, also outside 0..S-1.
//
// Only cells are written: what lies between S and a larger row stride, or between batches, stays as it is.
// Nothing is kept. Equal input gives equal bytes for every kind of store and number of threads.
//
// Stores: ordinary ones leave the mask in the caches. Streaming (non-temporal) ones go past them and are
// 2 to 3 times faster where the mask is larger than the caches; kAuto takes them above streaming_threshold().
// AVX-512, AVX2 or SSE2 by what the machine has; elsewhere streaming means ordinary.
//
// Threads: pure but for the buffer; `threads` splits the rows over threads of its own, joined before return.
// Errors, before anything is written: kOptions (sizes, strides, alignment, unknown values), kTooLarge (more
// than 4 GiB without `force`, or sizes that overflow).
//
//   std::vector<std::uint8_t> mask(batch * capacity * capacity);
//   auto written = write_mask({.lo = lo, .batch = batch}, {}, {.data = mask.data(), .bytes = mask.size()});
//   if (!written) return written.error();
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokpack/core/row_intervals.h"
#include "tokpack/format/result.h"

namespace tokpack {

enum class MaskForm : std::uint8_t { kBool, kInvertedBool, kAdditiveF32, kAdditiveBf16, kAdditiveF16 };

/// What an additive mask adds where nothing is attended.
enum class MaskedValue : std::uint8_t {
  kNegativeInfinity,  ///< bits ff800000 (f32), ff80 (bf16), fc00 (f16)
  kLowestFinite,      ///< bits ff7fffff (f32), ff7f (bf16), fbff (f16)
};

enum class MaskStores : std::uint8_t { kAuto, kOrdinary, kStreaming };

struct MaskOptions {
  MaskForm form = MaskForm::kBool;
  MaskedValue masked = MaskedValue::kNegativeInfinity;  ///< additive forms only
  MaskStores stores = MaskStores::kAuto;
  unsigned threads = 1;  ///< 0 counts as 1
  bool force = false;    ///< write more than kMaskBytesWithoutForce
};

/// Where the mask goes. Strides are in elements.
struct MaskBuffer {
  void* data = nullptr;           ///< the first cell, aligned to its element
  std::size_t bytes = 0;          ///< that may be written from `data` on
  std::int64_t row_stride = 0;    ///< from a row to the next; 0 = S
  std::int64_t batch_stride = 0;  ///< from a batch to the next; 0 = S x row_stride
};

/// A dense mask above this size is made only on purpose.
inline constexpr std::uint64_t kMaskBytesWithoutForce = std::uint64_t{4} << 30;

/// kAuto streams above the reported last-level cache divided by this: a virtual machine reports a cache that
/// it shares, and a mask that fills a cache pushes everything else out of it.
inline constexpr std::uint64_t kStreamingCacheShare = 8;
/// The last-level cache where the system reports none.
inline constexpr std::uint64_t kAssumedCacheBytes = std::uint64_t{32} << 20;
/// Bytes of cells above which kAuto streams.
std::uint64_t streaming_threshold() noexcept;

/// Bytes of one cell.
constexpr std::size_t mask_element_bytes(MaskForm form) noexcept {
  if (form == MaskForm::kAdditiveF32) return 4;
  return form == MaskForm::kAdditiveBf16 || form == MaskForm::kAdditiveF16 ? 2 : 1;
}

Result<void> write_mask(const RowIntervals& intervals, const MaskOptions& options, const MaskBuffer& out);

}  // namespace tokpack
