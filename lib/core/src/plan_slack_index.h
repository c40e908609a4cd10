// Packs by residual (free tokens) and slack (sequences they may still hold): the search for the smallest
// residual that has a pack with enough of both, and there for the pack that came to the residual first.
//
// A tree of radix 64 over residuals keeps the largest slack below each branch; branches come into being when
// first used. Each residual keeps one first-in-first-out lane per slack. Throws std::bad_alloc.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tokpack::plan {

class SlackIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// For residuals 0..largest.
  explicit SlackIndex(std::uint32_t largest) : nodes_(1) {
    while (std::uint64_t{largest} >> (kRadixBits * levels_) != 0) ++levels_;
  }

  /// The smallest residual of at least `tokens` that has a pack with a slack of at least `members`, or kNone.
  /// REQUIRES: members > 0.
  std::uint32_t find(std::uint32_t tokens, std::uint32_t members) const noexcept {
    return find_below(0, levels_ - 1, tokens, members);
  }

  /// Takes the pack that came first among those of this residual with enough slack. REQUIRES: find said so.
  std::uint32_t take(std::uint32_t residual, std::uint32_t members) {
    std::vector<Lane>& lanes = lanes_of(residual);
    std::size_t best = lanes.size();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].slack < members) continue;
      if (best == lanes.size() || lanes[i].since < lanes[best].since) best = i;
    }
    const std::uint32_t pack = lanes[best].head;
    const std::uint32_t next = waiting_[pack].next;
    if (next != kNone) {
      lanes[best].head = next;
      lanes[best].since = waiting_[next].since;
    } else {
      lanes[best] = lanes.back();
      lanes.pop_back();
      lower(residual, largest_slack(lanes));
    }
    return pack;
  }

  /// REQUIRES: slack > 0; the pack is in no lane.
  void push(std::uint32_t residual, std::uint32_t slack, std::uint32_t pack) {
    if (pack >= waiting_.size()) waiting_.resize(std::size_t{pack} + 1);
    waiting_[pack] = {kNone, arrivals_};
    std::vector<Lane>& lanes = lanes_of(residual);
    const auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.slack == slack; });
    if (lane != lanes.end()) {
      waiting_[lane->tail].next = pack;
      lane->tail = pack;
    } else {
      lanes.push_back({slack, pack, pack, arrivals_});
      raise(residual, slack);
    }
    ++arrivals_;
  }

 private:
  static constexpr unsigned kRadixBits = 6;
  static constexpr unsigned kMaxLevels = 6;  // 36 bits

  struct Lane {
    std::uint32_t slack, head, tail;
    std::uint32_t since;  // when the head came
  };
  struct Waiting {
    std::uint32_t next = kNone;
    std::uint32_t since = 0;  // when the pack came to its residual
  };
  struct Node {
    std::uint64_t occupied = 0;             // bit per branch: it has a pack with some slack
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
    const Node& n = nodes_[node];
    const std::uint32_t from = digit(tokens, level);
    std::uint64_t branches = n.occupied & (~std::uint64_t{0} << from);
    for (; branches != 0; branches &= branches - 1) {
      const auto d = static_cast<std::uint32_t>(std::countr_zero(branches));
      if (n.most[d] < members) continue;
      const std::uint32_t base = d << (kRadixBits * level);
      if (level == 0) return base;
      const std::uint32_t rest = d == from ? tokens & ((1U << (kRadixBits * level)) - 1) : 0;
      const std::uint32_t found = find_below(n.child[d], level - 1, rest, members);
      if (found != kNone) return base + found;
    }
    return kNone;
  }

  using Path = std::array<std::uint32_t, kMaxLevels>;

  /// The nodes from the root to the lowest level, made where they are missing.
  Path path_to(std::uint32_t residual) {
    Path path{};
    for (unsigned level = levels_ - 1; level > 0; --level) {
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

  /// A lane of this slack was added.
  void raise(std::uint32_t residual, std::uint32_t slack) {
    const Path path = path_to(residual);
    for (unsigned level = 0; level < levels_; ++level) {
      Node& node = nodes_[path[level]];
      const std::uint32_t d = digit(residual, level);
      if (node.most[d] >= slack) return;
      node.most[d] = slack;
      node.occupied |= std::uint64_t{1} << d;
    }
  }

  /// A lane was removed, and `most` is the largest slack left at this residual, 0 = none.
  void lower(std::uint32_t residual, std::uint32_t most) {
    const Path path = path_to(residual);
    for (unsigned level = 0; level < levels_; ++level) {
      Node& node = nodes_[path[level]];
      const std::uint32_t d = digit(residual, level);
      if (node.most[d] == most) return;
      node.most[d] = most;
      if (most == 0) node.occupied &= ~(std::uint64_t{1} << d);
      most = *std::max_element(node.most.begin(), node.most.end());
    }
  }

  unsigned levels_ = 1;
  std::vector<Node> nodes_;
  std::vector<std::vector<Lane>> lanes_;
  std::vector<Waiting> waiting_;  // per pack
  std::uint32_t arrivals_ = 0;    // one per item, so it cannot wrap
};

}  // namespace tokpack::plan
