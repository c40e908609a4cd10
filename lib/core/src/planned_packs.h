// What planning a window gave: packs, each a run of fragments of the window's sequences.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokpack/core/planner.h"
#include "window.h"

namespace tokpack::detail {

/// The sequences of a window with those carried into it in front: sequence i is one of either.
struct WindowPair {
  const Window* carried = nullptr;
  const Window* fresh = nullptr;
  std::span<const std::uint64_t> starts;  ///< first token of sequence i within its window

  struct Place {
    const Window* window;
    std::size_t index;
    std::uint64_t start;
  };
  Place at(std::size_t i) const noexcept {
    const std::size_t n = carried->sequences();
    return i < n ? Place{carried, i, starts[i]} : Place{fresh, i - n, starts[i]};
  }
};

/// The fragments of several packs, one after another. Only concat cuts sequences; else each is a whole one.
struct FragmentList {
  std::span<const std::uint32_t> order;    ///< whole sequences, or
  std::span<const Fragment> fragments;     ///< of concat
  std::span<const std::uint32_t> lengths;  ///< of all sequences

  std::size_t size() const noexcept { return fragments.empty() ? order.size() : fragments.size(); }
  std::uint32_t sample(std::size_t k) const noexcept {
    return fragments.empty() ? order[k] : fragments[k].sample;
  }
  Fragment operator[](std::size_t k) const noexcept {
    return fragments.empty() ? Fragment{order[k], 0, lengths[order[k]]} : fragments[k];
  }
};

/// Some of a list's fragments: one pack.
struct FragmentRun {
  std::size_t first, count;
};

struct PlannedPacks {
  std::vector<std::uint32_t> order;  ///< best-fit and next-fit
  std::vector<Fragment> fragments;   ///< concat
  std::vector<std::uint32_t> first;  ///< [packs + 1]

  std::size_t count() const noexcept { return first.size() - 1; }
  FragmentList all(std::span<const std::uint32_t> lengths) const noexcept {
    return {order, fragments, lengths};
  }
  FragmentRun pack(std::size_t p) const noexcept { return {first[p], first[p + 1] - std::size_t{first[p]}}; }
  /// Takes packs out. REQUIRES: `numbers` ascend.
  void remove(std::span<const std::uint32_t> numbers);
};

/// Sequences of a pack stand anywhere in the window; asking for the next ones early, those of the next packs
/// too, hides the way to memory: first for where a sequence stands, then for what stands there.
inline constexpr std::size_t kPlacesAhead = 32, kFragmentsAhead = 8;

// Always inline: GCC 12 takes a function that only prefetches for one without effects, and drops the call.
[[gnu::always_inline]] inline void prefetch_place(const WindowPair& pair, const FragmentList& fragments,
                                                  std::size_t k) noexcept {
  if (k >= fragments.size()) return;
  const std::uint32_t i = fragments.sample(k);
  __builtin_prefetch(pair.starts.data() + i);
  __builtin_prefetch(fragments.lengths.data() + i);
}

[[gnu::always_inline]] inline void prefetch_bytes(const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64, kMostLines = 16;
  for (std::size_t line = 0; line < kMostLines && line * kLine < bytes; ++line) {
    __builtin_prefetch(static_cast<const char*>(from) + line * kLine);
  }
}

}  // namespace tokpack::detail
