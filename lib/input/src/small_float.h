// Doubles rounded to 16-bit floats: to nearest, ties to even, in one step. Threads: pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace tokpack::input {

/// The bits of `value` in a format of `mantissa` stored mantissa bits whose smallest normal exponent is
/// `least_exponent` (1 sign bit, IEEE layout). Nothing when it rounds to more than the largest finite value.
/// REQUIRES: value is finite.
inline std::optional<std::uint16_t> round_to_small_float(double value, int mantissa, int least_exponent) {
  const double magnitude = std::fabs(value);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), least_exponent);
  const double steps = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  // Subnormal numbers have exponent field 0 and no hidden bit; the sum gives both them and a rounding that
  // carries into the next exponent.
  const double field = std::ldexp(static_cast<double>(exponent - least_exponent), mantissa) + steps;
  const double infinity = static_cast<double>(0x8000 - (1 << mantissa));
  if (field >= infinity) return std::nullopt;
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(field));
}

inline std::optional<std::uint16_t> to_f16(double value) { return round_to_small_float(value, 10, -14); }
inline std::optional<std::uint16_t> to_bf16(double value) { return round_to_small_float(value, 7, -126); }

}  // namespace tokpack::input
