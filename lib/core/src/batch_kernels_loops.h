// The text of one table of batch kernels. Included by one source file per instruction set, which is compiled
// for it and names the table TOKPACK_BATCH_KERNELS. Everything here has internal linkage: functions of one
// set must not be merged with those of another.
#include <bit>
#include <cstring>
#include <type_traits>

#include "batch_kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tokpack::detail {
namespace {

template <typename In, typename Out>
void widen(const In* ids, std::size_t count, Out* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(ids[i]);
}

template <typename T>
void fill(T value, std::size_t count, T* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = value;
}

template <typename T>
void count_up(T first, std::size_t count, T* out) {
  using Unsigned = std::make_unsigned_t<T>;  // positions of a damaged file may wrap
  const auto start = static_cast<Unsigned>(first);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(start + static_cast<Unsigned>(i));
}

#if defined(__AVX2__)
inline __m256i four_ids(const std::uint16_t* ids) {
  std::uint64_t packed = 0;
  std::memcpy(&packed, ids, sizeof(packed));
  return _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(static_cast<long long>(packed)));
}
inline __m256i four_ids(const std::uint32_t* ids) {
  return _mm256_cvtepu32_epi64(_mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(ids))));
}

/// 64 labels by the bits of a word.
template <typename In>
void blend_64(const In* ids, std::uint64_t word, std::int64_t ignored, std::int64_t* out) {
  const __m256i ignore = _mm256_set1_epi64x(ignored);
  const __m256i which = _mm256_setr_epi64x(1, 2, 4, 8);
  for (std::size_t i = 0; i < 64; i += 4, word >>= 4) {
    const __m256i bits = _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(word)), which);
    const __m256i set = _mm256_cmpeq_epi64(bits, which);
    _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(out + i)),
                        _mm256_blendv_epi8(ignore, four_ids(ids + i), set));
  }
}
#else
template <typename In>
void blend_64(const In* ids, std::uint64_t word, std::int64_t ignored, std::int64_t* out) {
  for (std::size_t i = 0; i < 64; ++i) {
    const std::int64_t keep = -static_cast<std::int64_t>(word >> i & 1);  // all ones or none: no branch
    out[i] = (static_cast<std::int64_t>(ids[i]) & keep) | (ignored & ~keep);
  }
}
#endif

template <typename In>
void masked(const In* ids, const std::uint8_t* bits, std::size_t first_bit, std::size_t count,
            std::int64_t ignored, std::int64_t* out) {
  static_assert(std::endian::native == std::endian::little);
  bits += first_bit / 8;
  const std::size_t shift = first_bit % 8;
  std::size_t i = 0;
  // The byte that completes a shifted word holds the word's last bits, so it is there.
  for (; i + 64 <= count; i += 64) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits + i / 8, sizeof(word));
    if (shift != 0) word = word >> shift | std::uint64_t{bits[i / 8 + 8]} << (64 - shift);
    if (word == ~std::uint64_t{0}) {
      widen(ids + i, 64, out + i);
    } else if (word == 0) {
      fill(ignored, 64, out + i);
    } else {
      blend_64(ids + i, word, ignored, out + i);
    }
  }
  for (; i < count; ++i) {
    const std::size_t bit = i + shift;
    out[i] = (bits[bit / 8] >> (bit % 8) & 1) != 0 ? static_cast<std::int64_t>(ids[i]) : ignored;
  }
}

}  // namespace

const BatchKernels TOKPACK_BATCH_KERNELS = {
    widen<std::uint16_t, std::int64_t>,
    widen<std::uint16_t, std::int32_t>,
    widen<std::uint32_t, std::int64_t>,
    widen<std::uint32_t, std::int32_t>,
    widen<std::int32_t, std::int64_t>,
    masked<std::uint16_t>,
    masked<std::uint32_t>,
    fill<std::int64_t>,
    fill<std::int32_t>,
    count_up<std::int64_t>,
    count_up<std::int32_t>,
};

}  // namespace tokpack::detail
