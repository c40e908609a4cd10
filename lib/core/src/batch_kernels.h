// The loops over every token of a batch: widening ids, spreading loss bits over labels, counting positions.
//
// One table of functions per instruction set, all from the same text (batch_kernels_loops.h), chosen at run
// time. Threads: pure functions on plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tokpack::detail {

struct BatchKernels {
  void (*widen_16_64)(const std::uint16_t* ids, std::size_t count, std::int64_t* out);
  void (*widen_16_32)(const std::uint16_t* ids, std::size_t count, std::int32_t* out);
  void (*widen_32_64)(const std::uint32_t* ids, std::size_t count, std::int64_t* out);
  void (*widen_32_32)(const std::uint32_t* ids, std::size_t count, std::int32_t* out);
  void (*labels_64)(const std::int32_t* labels, std::size_t count, std::int64_t* out);
  /// out[i] = bit (first_bit + i) is set ? ids[i] : ignored. `bits` as the format has them, and no byte past
  /// that of the last bit is read.
  void (*masked_16_64)(const std::uint16_t* ids, const std::uint8_t* bits, std::size_t first_bit,
                       std::size_t count, std::int64_t ignored, std::int64_t* out);
  void (*masked_32_64)(const std::uint32_t* ids, const std::uint8_t* bits, std::size_t first_bit,
                       std::size_t count, std::int64_t ignored, std::int64_t* out);
  void (*fill_64)(std::int64_t value, std::size_t count, std::int64_t* out);
  void (*fill_32)(std::int32_t value, std::size_t count, std::int32_t* out);
  /// first, first + 1, ...
  void (*count_64)(std::int64_t first, std::size_t count, std::int64_t* out);
  void (*count_32)(std::int32_t first, std::size_t count, std::int32_t* out);
};

extern const BatchKernels kPortableBatchKernels;
#if defined(TOKPACK_AVX2_KERNELS)
extern const BatchKernels kAvx2BatchKernels;
#endif

/// The fastest that this processor has.
const BatchKernels& batch_kernels() noexcept;

}  // namespace tokpack::detail
