// Planning alone, of the lengths that a writer was given and in its windows: what share of the writer's time
// planning takes. Carry-over is left out; it adds less than an eighth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tokpack/core/planner.h"
#include "tokpack/core/window_defaults.h"

namespace tokpack::bench {

/// Plans `lengths` (longer ones split at the capacity) in windows of the default size; returns the packs.
inline std::size_t plan_windows(std::span<const std::uint32_t> lengths, std::uint32_t capacity) {
  const std::uint64_t window = effective_window(0, capacity);
  std::vector<std::uint32_t> waiting;
  std::uint64_t tokens = 0;
  std::size_t packs = 0;
  const auto plan = [&] {
    const auto planned = plan_packs(waiting, {.capacity = capacity});
    if (planned) packs += planned->first.size() - 1;
    waiting.clear();
    tokens = 0;
  };
  for (std::uint32_t length : lengths) {
    for (; length > 0; length -= std::min(length, capacity)) {
      const std::uint32_t part = std::min(length, capacity);
      if (tokens + part > window || waiting.size() == window_sequences(window)) plan();
      waiting.push_back(part);
      tokens += part;
    }
  }
  if (!waiting.empty()) plan();
  return packs;
}

}  // namespace tokpack::bench
