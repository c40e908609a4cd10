#include "bit_buffer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tokpack::detail {
namespace {

// Bit i of the result is byte i, for 64 bytes of 0 or 1.
inline std::uint64_t pack64(const std::uint8_t* mask) noexcept {
  std::uint64_t out = 0;
#if defined(__SSE2__)
  for (int k = 0; k < 4; ++k) {
    __m128i v;
    std::memcpy(&v, mask + 16 * k, sizeof v);
    // Bit 0 of every byte moves to its bit 7, which is what movemask collects.
    const int bits = _mm_movemask_epi8(_mm_slli_epi16(v, 7));
    out |= static_cast<std::uint64_t>(static_cast<unsigned>(bits)) << (16 * k);
  }
#else
  for (int k = 0; k < 8; ++k) {
    std::uint64_t v;
    std::memcpy(&v, mask + 8 * k, sizeof v);
    // The product gathers the eight low bits in the top byte, first byte lowest.
    out |= ((v * 0x0102040810204080) >> 56) << (8 * k);
  }
#endif
  return out;
}

}  // namespace

void BitBuffer::append_mask(const std::uint8_t* mask, std::size_t count) {
  prepare(count);
  for (; count >= 64; count -= 64, mask += 64) put(pack64(mask), 64);
  if (count > 0) {
    std::uint8_t rest[64] = {};
    std::memcpy(rest, mask, count);
    put(pack64(rest), count);
  }
}

}  // namespace tokpack::detail
