// Packs by residual (free tokens) and slack (sequences they may still hold): the search for the smallest
// residual that has a pack with enough of both, and there for the pack that came to the residual first.
//
// A tree of radix 64 over residuals keeps the largest slack below each branch; branches come into being when
// first used. Each residual keeps one first-in-first-out lane per slack. Throws std::bad_alloc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tokpack::plan {

class SlackIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  SlackIndex() : nodes_(1) {}

  /// The smallest residual of at least `tokens` that has a pack with a slack of at least `members`, or kNone.
  /// REQUIRES: members > 0.
  std::uint32_t find(std::uint32_t tokens, std::uint32_t members) const noexcept {
    return find_below(0, kLevels - 1, tokens, members);
  }

  /// Takes the pack that came first among those of this residual with enough slack. REQUIRES: find said so.
  std::uint32_t take(std::uint32_t residual, std::uint32_t members) {
    std::vector<Lane>& lanes = lanes_of(residual);
    std::size_t best = lanes.size();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].slack < members) continue;
      if (best == lanes.size() || arrival_[lanes[i].head] < arrival_[lanes[best].head]) best = i;
    }
    const std::uint32_t pack = lanes[best].head;
    lanes[best].head = next_[pack];
    if (lanes[best].head == kNone) {
      lanes[best] = lanes.back();
      lanes.pop_back();
      update(residual, largest_slack(lanes));
    }
    return pack;
  }

  /// REQUIRES: slack > 0; the pack is in no lane.
  void push(std::uint32_t residual, std::uint32_t slack, std::uint32_t pack) {
    if (pack >= next_.size()) {
      next_.resize(std::size_t{pack} + 1, kNone);
      arrival_.resize(std::size_t{pack} + 1, 0);
    }
    next_[pack] = kNone;
    arrival_[pack] = arrivals_++;
    std::vector<Lane>& lanes = lanes_of(residual);
    const auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.slack == slack; });
    if (lane != lanes.end()) {
      next_[lane->tail] = pack;
      lane->tail = pack;
      return;
    }
    lanes.push_back({slack, pack, pack});
    update(residual, largest_slack(lanes));
  }

 private:
  static constexpr unsigned kRadixBits = 6;
  static constexpr unsigned kLevels = 5;  // 30 bits, enough for a residual of 2^24 itself

  struct Lane {
    std::uint32_t slack, head, tail;
  };
  struct Node {
    std::array<std::uint32_t, 64> most{};   // largest slack below
    std::array<std::uint32_t, 64> child{};  // node, or lanes on the lowest level; 0 = none yet
  };

  static std::uint32_t digit(std::uint32_t residual, unsigned level) noexcept {
    return residual >> (kRadixBits * level) & 63;
  }

  static std::uint32_t largest_slack(const std::vector<Lane>& lanes) noexcept {
    std::uint32_t most = 0;
    for (const Lane& lane : lanes) most = std::max(most, lane.slack);
    return most;
  }

  std::uint32_t find_below(std::uint32_t node, unsigned level, std::uint32_t tokens,
                           std::uint32_t members) const noexcept {
    const std::uint32_t from = digit(tokens, level);
    for (std::uint32_t d = from; d < 64; ++d) {
      if (nodes_[node].most[d] < members) continue;
      const std::uint32_t base = d << (kRadixBits * level);
      if (level == 0) return base;
      const std::uint32_t rest = d == from ? tokens & ((1U << (kRadixBits * level)) - 1) : 0;
      const std::uint32_t found = find_below(nodes_[node].child[d], level - 1, rest, members);
      if (found != kNone) return base + found;
    }
    return kNone;
  }

  /// The nodes from the root to the lowest level, made where they are missing.
  std::array<std::uint32_t, kLevels> path_to(std::uint32_t residual) {
    std::array<std::uint32_t, kLevels> path{};
    for (unsigned level = kLevels - 1; level > 0; --level) {
      const std::uint32_t d = digit(residual, level);
      if (nodes_[path[level]].child[d] == 0) {
        nodes_.emplace_back();
        nodes_[path[level]].child[d] = static_cast<std::uint32_t>(nodes_.size() - 1);
      }
      path[level - 1] = nodes_[path[level]].child[d];
    }
    return path;
  }

  std::vector<Lane>& lanes_of(std::uint32_t residual) {
    std::uint32_t& slot = nodes_[path_to(residual)[0]].child[digit(residual, 0)];
    if (slot == 0) {
      lanes_.emplace_back();
      slot = static_cast<std::uint32_t>(lanes_.size());
    }
    return lanes_[slot - 1];
  }

  void update(std::uint32_t residual, std::uint32_t most) {
    const auto path = path_to(residual);
    for (unsigned level = 0; level < kLevels; ++level) {
      Node& node = nodes_[path[level]];
      std::uint32_t& entry = node.most[digit(residual, level)];
      if (entry == most) return;
      entry = most;
      most = *std::max_element(node.most.begin(), node.most.end());
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::vector<Lane>> lanes_;
  std::vector<std::uint32_t> next_, arrival_;  // per pack
  std::uint32_t arrivals_ = 0;                 // one per item, so it cannot wrap
};

}  // namespace tokpack::plan
