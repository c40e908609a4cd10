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

constexpr std::size_t kLine = 64;

std::size_t bytes_to_line(const unsigned char* at) noexcept {
  return (kLine - reinterpret_cast<std::uintptr_t>(at) % kLine) % kLine;
}

/// From here on the machine's string store beats vector stores: like memset, it takes lines without reading
/// them.
constexpr std::size_t kLeastStringStore = 512;

#if defined(__x86_64__) && !defined(TOKPACK_SANITIZED)
/// Fills whole 8-byte words. Sanitizers cannot see its stores.
void store_words(unsigned char* to, std::size_t words, std::uint32_t pattern) noexcept {
  const std::uint64_t word = std::uint64_t{pattern} << 32 | pattern;
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(word) : "memory");
}
#else
void store_words(unsigned char* to, std::size_t words, std::uint32_t pattern) noexcept {
  const std::uint64_t word = std::uint64_t{pattern} << 32 | pattern;
  for (std::size_t i = 0; i < words; ++i) std::memcpy(to + 8 * i, &word, sizeof(word));
}
#endif

void store_bytes(unsigned char* to, std::size_t bytes, std::uint32_t pattern) noexcept {
  std::size_t i = 0;
  for (; i + sizeof(pattern) <= bytes; i += sizeof(pattern)) std::memcpy(to + i, &pattern, sizeof(pattern));
  std::memcpy(to + i, &pattern, bytes - i);
}

/// The next rows that are contiguous in memory, at most as many as a group holds: how many.
std::int64_t group_of(const MaskRows& rows, const RowCursor& row, std::int64_t last) noexcept {
  const auto most = static_cast<std::int64_t>(kGroupBytes / row_bytes(rows));
  return std::min({most, last - row.index, rows.positions - row.position});
}

/// Makes those rows at `to`: masked throughout, then the attended runs, since fills of whole groups are as
/// fast as fills can be.
void make_group(const MaskRows& rows, RowCursor& row, std::int64_t count, unsigned char* to) noexcept {
  fill_pattern(to, static_cast<std::size_t>(count) * row_bytes(rows), rows.masked);
  for (std::int64_t i = 0; i < count; ++i, row.next(), to += row_bytes(rows)) {
    const auto [begin, end] = attended_bytes(rows, row.index, row.position);
    fill_pattern(to + begin, end - begin, rows.attended);
  }
}

bool goes_by_groups(const MaskRows& rows) noexcept {
  return rows.row_stride == row_bytes(rows) && row_bytes(rows) < kGroupBytes;
}

void ordinary(const MaskRows& rows, std::int64_t first, std::int64_t last) noexcept {
  RowCursor row(rows, first);
  if (goes_by_groups(rows)) {
    while (row.index < last) make_group(rows, row, group_of(rows, row, last), row.cells);
  } else {
    for (; row.index < last; row.next()) {
      fill_part(rows, row.cells, 0, row_bytes(rows), attended_bytes(rows, row.index, row.position));
    }
  }
}

#if defined(__x86_64__)

/// Read at kLine - k: bytes 0..k-1 are clear and those from k on are set.
struct Step {
  alignas(kLine) unsigned char bytes[2 * kLine] = {};
  constexpr Step() {
    for (std::size_t i = kLine; i < 2 * kLine; ++i) bytes[i] = 0xff;
  }
};
constexpr Step kStep;

/// Below this, rows that share cache lines with their neighbours are worth a second pass through the first
/// cache; longer ones have few such lines for their length.
constexpr std::size_t kShortRowBytes = 4096;

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
  if (bytes < kLeastStringStore) return store_bytes(to, bytes, pattern);
  // String stores are slow unless they begin at a line. Every part is a multiple of the element long.
  const std::size_t head = bytes_to_line(to), words = (bytes - head) / 8;
  store_bytes(to, head, pattern);
  store_words(to + head, words, pattern);
  store_bytes(to + head + 8 * words, bytes - head - 8 * words, pattern);
}

std::span<const MaskKernels> mask_kernel_variants() noexcept {
  static const std::size_t count = variants_here();
  return std::span(kVariants).first(count);
}

const MaskKernels& mask_kernels() noexcept { return mask_kernel_variants().back(); }

}  // namespace tokpack::detail
