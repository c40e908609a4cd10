// The fastest way past the caches to write one constant byte: what streaming masks are measured against.
// Shares no code with the library.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tokpack::bench {

#if defined(__x86_64__)
__attribute__((target("avx512f"))) inline void fill_past_caches_512(unsigned char* to, std::size_t bytes) {
  const __m512i value = _mm512_set1_epi32(0x01010101);
  for (std::size_t i = 0; i < bytes; i += 256) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), value);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + 64), value);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + 128), value);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + 192), value);
  }
  _mm_sfence();
}
__attribute__((target("avx2"))) inline void fill_past_caches_256(unsigned char* to, std::size_t bytes) {
  const __m256i value = _mm256_set1_epi32(0x01010101);
  for (std::size_t i = 0; i < bytes; i += 128) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), value);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + 32), value);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + 64), value);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + 96), value);
  }
  _mm_sfence();
}
#endif

/// REQUIRES: `to` and `bytes` are multiples of 256.
inline void fill_past_caches(unsigned char* to, std::size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return fill_past_caches_512(to, bytes);
  if (__builtin_cpu_supports("avx2")) return fill_past_caches_256(to, bytes);
#endif
  std::memset(to, 1, bytes);
}

}  // namespace tokpack::bench
