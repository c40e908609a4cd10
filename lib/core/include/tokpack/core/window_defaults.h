// How much a Writer plans at once: the default of WriterOptions::window_tokens, and what a window may hold.
//
// A window ends at whichever comes first, its tokens or its sequences. Threads: pure functions.
//
//   if (summary.tokens > effective_window(0, 4096)) ...  // several windows were planned
#pragma once

#include <algorithm>
#include <cstdint>

namespace tokpack {

inline constexpr std::uint64_t kDefaultWindowTokens = std::uint64_t{64} << 20;
/// A window of fewer packs than this is planned too poorly to be worth it.
inline constexpr std::uint64_t kLeastPacksPerWindow = 256;
/// Short sequences cost more memory than their tokens: this many tokens allow one sequence.
inline constexpr std::uint64_t kTokensPerWindowSequence = 16;
inline constexpr std::uint64_t kMostWindowSequences = 0x7fffffff;

constexpr std::uint64_t least_window(std::uint32_t capacity) noexcept {
  return kLeastPacksPerWindow * capacity;
}
/// Tokens of a window: what was asked for, or, for 0, the default.
constexpr std::uint64_t effective_window(std::uint64_t asked, std::uint32_t capacity) noexcept {
  return asked != 0 ? asked : std::max(kDefaultWindowTokens, least_window(capacity));
}
/// Most sequences of a window of so many tokens.
constexpr std::uint64_t window_sequences(std::uint64_t tokens) noexcept {
  return std::clamp<std::uint64_t>(tokens / kTokensPerWindowSequence, 1, kMostWindowSequences);
}

static_assert(effective_window(0, 4096) == 67'108'864 && effective_window(0, 1 << 20) == 268'435'456);
static_assert(effective_window(1, 4096) == 1 && window_sequences(160) == 10 && window_sequences(1) == 1);

}  // namespace tokpack
