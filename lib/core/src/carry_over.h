// Which packs of a window are dissolved into the next one (design: "Carry-over").
//
// A pure function. Packs that are not full are dissolved in order of least fill (ties: the higher pack number
// first) until the carried tokens reach an eighth of the window's, the pack that crosses it included. A pack
// that holds a sequence already carried kMostCarries times is written, so no input is carried for ever.
//
//   auto dissolved = choose_dissolved(packs, capacity, window_tokens);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tokpack::detail {

inline constexpr std::uint8_t kMostCarries = 8;
inline constexpr std::uint64_t kCarriedShare = 8;  ///< carried tokens: this part of the window

struct PackFill {
  std::uint32_t fill = 0;          ///< what counts against the capacity: aligned lengths
  std::uint32_t tokens = 0;        ///< tokens as they are
  std::uint8_t times_carried = 0;  ///< of its sequence carried most often
};

/// The numbers of the packs to dissolve, ascending.
std::vector<std::uint32_t> choose_dissolved(std::span<const PackFill> packs, std::uint32_t capacity,
                                            std::uint64_t window_tokens);

/// More tokens than this are never carried out of a window.
constexpr std::uint64_t most_carried_tokens(std::uint64_t window_tokens, std::uint32_t capacity) noexcept {
  return window_tokens / kCarriedShare + capacity;
}

}  // namespace tokpack::detail
