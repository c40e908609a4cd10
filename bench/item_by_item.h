// The peer that the planner is measured against: exact best-fit decreasing one sequence at a time, as fast as
// that goes: a counting sort, a bitset of occupied residuals, an intrusive queue per residual.
//
// It gives each sequence a pack number and nothing else: neither packs in a useful order nor their contents.
// Lengths are u16, half the memory traffic of the planner's u32.
//
//   std::vector<std::uint32_t> pack_of;
//   std::uint32_t packs = bench::item_by_item(lengths, 512, pack_of);
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tokpack::bench {

/// REQUIRES: every length is 1..capacity, capacity <= 65535.
inline std::uint32_t item_by_item(const std::vector<std::uint16_t>& lengths, std::uint32_t capacity,
                                  std::vector<std::uint32_t>& pack_of) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const auto n = static_cast<std::uint32_t>(lengths.size());

  std::vector<std::uint32_t> place(capacity + 1, 0);
  for (const std::uint16_t length : lengths) ++place[length];
  for (std::uint32_t length = capacity, sum = 0; length > 0; --length) {
    const std::uint32_t count = place[length];
    place[length] = sum;
    sum += count;
  }
  std::vector<std::uint32_t> sorted(n);
  for (std::uint32_t i = 0; i < n; ++i) sorted[place[lengths[i]]++] = i;

  std::vector<std::uint64_t> occupied(capacity / 64 + 1, 0);
  std::vector<std::uint32_t> head(capacity + 1, kNone), tail(capacity + 1, kNone), next;
  next.reserve(n);
  pack_of = std::vector<std::uint32_t>(n);

  const auto least_residual = [&](std::uint32_t length) -> std::uint32_t {
    std::size_t word = length / 64;
    std::uint64_t bits = occupied[word] & (~std::uint64_t{0} << (length % 64));
    while (bits == 0) {
      if (++word == occupied.size()) return kNone;
      bits = occupied[word];
    }
    return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  };

  for (const std::uint32_t i : sorted) {
    const std::uint32_t length = lengths[i];
    std::uint32_t residual = least_residual(length);
    std::uint32_t pack;
    if (residual == kNone) {
      pack = static_cast<std::uint32_t>(next.size());
      next.push_back(kNone);
      residual = capacity;
    } else {
      pack = head[residual];
      head[residual] = next[pack];
      if (head[residual] == kNone) occupied[residual / 64] &= ~(std::uint64_t{1} << (residual % 64));
    }
    pack_of[i] = pack;
    const std::uint32_t rest = residual - length;
    if (rest == 0) continue;
    next[pack] = kNone;
    if (head[rest] == kNone) {
      head[rest] = pack;
      occupied[rest / 64] |= std::uint64_t{1} << (rest % 64);
    } else {
      next[tail[rest]] = pack;
    }
    tail[rest] = pack;
  }
  return static_cast<std::uint32_t>(next.size());
}

}  // namespace tokpack::bench
