#include "mask_kernels.h"

#include <array>

#include "mask_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TOKPACK_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TOKPACK_SANITIZED
#endif
#endif

namespace tokpack::detail {
namespace {

/// Rows are filled in groups of about this many bytes: what the second pass touches is still in the first
/// cache.
constexpr std::size_t kGroupBytes = std::size_t{32} << 10;

/// From here on the machine's string store beats vector stores: like memset, it takes lines without reading
/// them.
constexpr std::size_t kLeastStringStore = 512;

#if defined(__x86_64__) && !defined(TOKPACK_SANITIZED)
/// Fills whole 8-byte words and says how many bytes that were. Sanitizers cannot see its stores.
std::size_t store_words(unsigned char* to, std::size_t bytes, std::uint32_t pattern) noexcept {
  std::size_t words = bytes / 8;
  const std::uint64_t word = std::uint64_t{pattern} << 32 | pattern;
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(word) : "memory");
  return bytes / 8 * 8;
}
#else
std::size_t store_words(unsigned char*, std::size_t, std::uint32_t) noexcept { return 0; }
#endif

/// Masked throughout, group by group, then the attended runs: fills of whole groups are as fast as fills can
/// be.
void ordinary(const MaskRows& rows, std::int64_t first, std::int64_t last) noexcept {
  const std::size_t row_bytes = static_cast<std::size_t>(rows.positions) * rows.element_bytes;
  const bool gaps = rows.row_stride != row_bytes;
  if (gaps || row_bytes >= kGroupBytes) {
    for (RowCursor row(rows, first); row.index < last; row.next()) {
      fill_part(rows, row.cells, 0, row_bytes, attended_bytes(rows, row.index, row.position));
    }
    return;
  }
  const auto most = static_cast<std::int64_t>(kGroupBytes / row_bytes);
  for (RowCursor row(rows, first); row.index < last;) {
    const std::int64_t count = std::min({most, last - row.index, rows.positions - row.position});
    fill_pattern(row.cells, static_cast<std::size_t>(count) * row_bytes, rows.masked);
    for (std::int64_t i = 0; i < count; ++i, row.next()) {
      const auto [begin, end] = attended_bytes(rows, row.index, row.position);
      fill_pattern(row.cells + begin, end - begin, rows.attended);
    }
  }
}

#if defined(__x86_64__)

constexpr std::size_t kLine = 64;

/// Read at kLine - k: bytes 0..k-1 are clear and those from k on are set.
struct Step {
  alignas(kLine) unsigned char bytes[2 * kLine] = {};
  constexpr Step() {
    for (std::size_t i = kLine; i < 2 * kLine; ++i) bytes[i] = 0xff;
  }
};
constexpr Step kStep;

namespace sse2 {
#define TOKPACK_MASK_TARGET
#define TOKPACK_MASK_VECTOR __m128i
#define TOKPACK_MASK_STREAM(to, cells) _mm_stream_si128(reinterpret_cast<__m128i*>(to), cells)
#include "mask_stream.inc"
#undef TOKPACK_MASK_TARGET
#undef TOKPACK_MASK_VECTOR
#undef TOKPACK_MASK_STREAM
}  // namespace sse2

namespace avx2 {
#define TOKPACK_MASK_TARGET __attribute__((target("avx2")))
#define TOKPACK_MASK_VECTOR __m256i
#define TOKPACK_MASK_STREAM(to, cells) _mm256_stream_si256(reinterpret_cast<__m256i*>(to), cells)
#include "mask_stream.inc"
#undef TOKPACK_MASK_TARGET
#undef TOKPACK_MASK_VECTOR
#undef TOKPACK_MASK_STREAM
}  // namespace avx2

namespace avx512 {
#define TOKPACK_MASK_TARGET __attribute__((target("avx512f")))
#define TOKPACK_MASK_VECTOR __m512i
#define TOKPACK_MASK_STREAM(to, cells) _mm512_stream_si512(reinterpret_cast<__m512i*>(to), cells)
#include "mask_stream.inc"
#undef TOKPACK_MASK_TARGET
#undef TOKPACK_MASK_VECTOR
#undef TOKPACK_MASK_STREAM
}  // namespace avx512

constexpr std::array<MaskKernels, 4> kVariants = {{{"portable", ordinary, ordinary},
                                                   {"sse2", ordinary, sse2::streaming},
                                                   {"avx2", ordinary, avx2::streaming},
                                                   {"avx512", ordinary, avx512::streaming}}};

std::size_t variants_here() noexcept {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return 4;
  return __builtin_cpu_supports("avx2") ? 3 : 2;
}

#else

constexpr std::array<MaskKernels, 1> kVariants = {{{"portable", ordinary, ordinary}}};
std::size_t variants_here() noexcept { return 1; }

#endif

}  // namespace

void fill_pattern(unsigned char* to, std::size_t bytes, std::uint32_t pattern) noexcept {
  if (pattern == (pattern & 0xff) * 0x01010101U) {
    std::memset(to, static_cast<int>(pattern & 0xff), bytes);
    return;
  }
  std::size_t i = bytes < kLeastStringStore ? 0 : store_words(to, bytes, pattern);
  for (; i + sizeof(pattern) <= bytes; i += sizeof(pattern)) std::memcpy(to + i, &pattern, sizeof(pattern));
  std::memcpy(to + i, &pattern, bytes - i);
}

std::span<const MaskKernels> mask_kernel_variants() noexcept {
  static const std::size_t count = variants_here();
  return std::span(kVariants).first(count);
}

const MaskKernels& mask_kernels() noexcept { return mask_kernel_variants().back(); }

}  // namespace tokpack::detail
