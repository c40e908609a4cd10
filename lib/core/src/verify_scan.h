// Tight loops of verify: is any value out of range, how many bits are set. Written with explicit vectors,
// since compilers do not vectorise an early exit; the widest version that the machine has is chosen once at
// run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tokpack::detail {

struct ScanKernels {
  const char* name;
  /// True when some value is above `most`.
  bool (*any_above_u16)(const std::uint16_t* values, std::size_t count, std::uint16_t most) noexcept;
  bool (*any_above_u32)(const std::uint32_t* values, std::size_t count, std::uint32_t most) noexcept;
  /// True when some value is neither `ignore` nor within 0..most. REQUIRES: most <= 2^31-1.
  bool (*any_bad_label)(const std::int32_t* values, std::size_t count, std::int32_t ignore,
                        std::uint32_t most) noexcept;
  /// How many values are not `value`.
  std::uint64_t (*count_other_than)(const std::int32_t* values, std::size_t count,
                                    std::int32_t value) noexcept;
  /// Set bits among the first `bits`, least significant bit of each byte first.
  std::uint64_t (*count_ones)(const std::uint8_t* bytes, std::size_t bits) noexcept;
};

/// What this machine runs best.
const ScanKernels& scan_kernels() noexcept;
/// All that it can run, for tests.
std::span<const ScanKernels> scan_variants() noexcept;

}  // namespace tokpack::detail
