// The planner's rules the slow and obvious way: one item at a time, every pack looked at. Shares no code with
// the library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tokpack/core/planner.h"

namespace tokpack::test {

using Packs = std::vector<std::vector<std::uint32_t>>;

inline Packs packs_of(const Plan& plan) {
  Packs out;
  for (std::size_t p = 0; p < plan.packs(); ++p) {
    out.emplace_back(plan.pack(p).begin(), plan.pack(p).end());
  }
  return out;
}

struct Item {
  std::uint64_t order;    ///< items are taken by descending `order`, ties by index
  std::uint64_t size;     ///< tokens that it takes of a pack
  std::uint64_t members;  ///< sequences that it takes; 0 = stands in no pack
};

/// Best-fit decreasing; among equal residuals the pack whose residual became this one first.
inline Packs naive_best_fit(const std::vector<Item>& items, std::uint64_t capacity,
                            std::uint64_t max_sequences) {
  struct Open {
    std::uint64_t residual, sequences, since;
    std::vector<std::uint32_t> contents;
  };
  std::vector<std::uint32_t> turn(items.size());
  std::iota(turn.begin(), turn.end(), 0U);
  std::stable_sort(turn.begin(), turn.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return items[a].order > items[b].order; });
  std::vector<Open> open;
  std::uint64_t now = 0;
  for (const std::uint32_t i : turn) {
    const Item& item = items[i];
    if (item.members == 0) continue;
    Open* best = nullptr;
    for (Open& pack : open) {
      if (pack.residual < item.size) continue;
      if (max_sequences != 0 && pack.sequences + item.members > max_sequences) continue;
      if (best == nullptr || pack.residual < best->residual ||
          (pack.residual == best->residual && pack.since < best->since)) {
        best = &pack;
      }
    }
    if (best == nullptr) best = &open.emplace_back(Open{capacity, 0, 0, {}});
    best->residual -= item.size;
    best->sequences += item.members;
    best->since = ++now;
    best->contents.push_back(i);
  }
  Packs out;
  for (Open& pack : open) out.push_back(std::move(pack.contents));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return *std::min_element(a.begin(), a.end()) < *std::min_element(b.begin(), b.end());
  });
  return out;
}

inline Packs naive_best_fit(const std::vector<std::uint32_t>& lengths, const PlanOptions& options) {
  std::vector<Item> items;
  for (const std::uint32_t length : lengths) {
    std::uint64_t size = length;
    while (size % options.alignment != 0) ++size;
    items.push_back({length, size, length == 0 ? 0U : 1U});
  }
  return naive_best_fit(items, options.capacity, options.max_sequences);
}

/// A small generator with the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// 0..below-1
  std::uint32_t operator()(std::uint32_t below) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) % below);
  }
  std::uint32_t in(std::uint32_t least, std::uint32_t most) { return least + (*this)(most - least + 1); }
  /// About normal: the sum of twelve even draws.
  std::uint32_t normal(double mean, double deviation) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += (*this)(1 << 20) / double{1 << 20};
    return static_cast<std::uint32_t>(mean + deviation * sum);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tokpack::test
