// For every residual (free tokens) a first-in-first-out queue of batches of identical packs, and the search
// for the smallest residual that is large enough.
//
// Memory goes with the batches that wait, not with the capacity: a bit per residual, in blocks that come into
// being when first used, says which queues are not empty, and a small hash table says where those are. So a
// capacity of 2^24 costs nothing for the residuals that never occur. Throws std::bad_alloc.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tokpack::plan {

/// Packs that were filled in the same steps with sequences of the same lengths: they differ only in which
/// sequences they hold. They are packs `offset .. offset + packs` of the step that touched them last.
struct PackBatch {
  std::uint32_t step = 0;
  std::uint32_t offset = 0;
  std::uint32_t packs = 0;
  std::uint32_t sequences = 0;  ///< in each of the packs
};

/// A set of numbers below a bound with the search for the next one.
class SparseBits {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit SparseBits(std::uint32_t largest)
      : blocks_(largest / kBlockBits + 1), occupied_(blocks_.size() / 64 + 1, 0) {}

  void set(std::uint32_t number) {
    const std::uint32_t block = number / kBlockBits;
    if (!blocks_[block]) blocks_[block] = std::make_unique<Block>();
    (*blocks_[block])[number % kBlockBits / 64] |= bit(number);
    occupied_[block / 64] |= bit(block);
  }

  void clear(std::uint32_t number) noexcept {
    const std::uint32_t block = number / kBlockBits;
    (*blocks_[block])[number % kBlockBits / 64] &= ~bit(number);
    if (next_bit(*blocks_[block], 0) == kNone) occupied_[block / 64] &= ~bit(block);
  }

  /// The smallest member that is not below `number`, or kNone.
  std::uint32_t at_least(std::uint32_t number) const noexcept {
    const std::uint32_t block = number / kBlockBits;
    if (block >= blocks_.size()) return kNone;
    if (blocks_[block]) {
      const std::uint32_t found = next_bit(*blocks_[block], number % kBlockBits);
      if (found != kNone) return block * kBlockBits + found;
    }
    const std::uint32_t later = next_bit(occupied_, block + 1);
    return later == kNone ? kNone : later * kBlockBits + next_bit(*blocks_[later], 0);
  }

 private:
  static constexpr std::uint32_t kBlockBits = 1024;
  using Block = std::array<std::uint64_t, kBlockBits / 64>;

  static std::uint64_t bit(std::uint32_t number) noexcept { return std::uint64_t{1} << (number % 64); }

  template <typename Words>
  static std::uint32_t next_bit(const Words& words, std::uint32_t from) noexcept {
    std::size_t word = from / 64;
    if (word >= words.size()) return kNone;
    std::uint64_t bits = words[word] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++word == words.size()) return kNone;
      bits = words[word];
    }
    return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::uint64_t> occupied_;  // bit per block: it has a member
};

class ResidualQueues {
 public:
  static constexpr std::uint32_t kNone = SparseBits::kNone;

  /// For residuals 0..largest.
  explicit ResidualQueues(std::uint32_t largest) : waiting_residuals_(largest), table_(kFirstTable) {}

  /// The smallest residual of at least `tokens` that has a batch, or kNone.
  std::uint32_t at_least(std::uint32_t tokens) const noexcept { return waiting_residuals_.at_least(tokens); }

  /// The batch that has waited longest. REQUIRES: the residual has one.
  const PackBatch& front(std::uint32_t residual) const noexcept {
    return pool_[pool_[table_[find(residual)].last].next].batch;
  }

  /// Takes the first `packs` packs off the front batch. REQUIRES: it has as many.
  void take(std::uint32_t residual, std::uint32_t packs) noexcept {
    const std::size_t at = find(residual);
    const std::uint32_t last = table_[at].last;
    const std::uint32_t first = pool_[last].next;
    Waiting& waiting = pool_[first];
    waiting.batch.offset += packs;
    waiting.batch.packs -= packs;
    if (waiting.batch.packs != 0) return;
    if (first == last) {
      erase(at);
      waiting_residuals_.clear(residual);
    } else {
      pool_[last].next = waiting.next;
    }
    waiting.next = free_;
    free_ = first;
  }

  void push(std::uint32_t residual, const PackBatch& batch) {
    const std::uint32_t added = allocate(batch);
    const std::size_t at = find(residual);
    Queue& queue = table_[at];
    if (queue.last != kNone) {
      pool_[added].next = std::exchange(pool_[queue.last].next, added);
      queue.last = added;
      return;
    }
    pool_[added].next = added;
    queue = {residual, added};
    waiting_residuals_.set(residual);
    if (++queues_ > table_.size() / 2) grow();
  }

 private:
  static constexpr std::size_t kFirstTable = 64;

  /// Batches wait in rings: the last one's `next` is the first.
  struct Waiting {
    PackBatch batch;
    std::uint32_t next;
  };
  /// An entry of an open hash table with linear probing; it is empty where `last` is kNone.
  struct Queue {
    std::uint32_t residual = 0;
    std::uint32_t last = kNone;
  };

  std::size_t home(std::uint32_t residual) const noexcept {
    // The high bits of a product, so that residuals which are multiples of the alignment spread as well.
    return (residual * std::uint64_t{0x9e3779b97f4a7c15}) >> (65 - std::bit_width(table_.size()));
  }

  /// The entry of this residual, or the empty one where it belongs.
  std::size_t find(std::uint32_t residual) const noexcept {
    std::size_t at = home(residual);
    while (table_[at].last != kNone && table_[at].residual != residual) at = (at + 1) & (table_.size() - 1);
    return at;
  }

  /// Empties an entry and moves up those behind it that it kept from their home.
  void erase(std::size_t hole) noexcept {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = (hole + 1) & mask; table_[at].last != kNone; at = (at + 1) & mask) {
      const std::size_t from_home = (at - home(table_[at].residual)) & mask;
      if (from_home < ((at - hole) & mask)) continue;
      table_[hole] = table_[at];
      hole = at;
    }
    table_[hole].last = kNone;
    --queues_;
  }

  void grow() {
    std::vector<Queue> old(table_.size() * 2);
    old.swap(table_);
    for (const Queue& queue : old) {
      if (queue.last != kNone) table_[find(queue.residual)] = queue;
    }
  }

  std::uint32_t allocate(const PackBatch& batch) {
    if (free_ == kNone) {
      pool_.push_back({batch, kNone});
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t added = free_;
    free_ = pool_[added].next;
    pool_[added] = {batch, kNone};
    return added;
  }

  SparseBits waiting_residuals_;
  std::vector<Queue> table_;  // a power of two of entries, at most half of them taken
  std::size_t queues_ = 0;
  std::vector<Waiting> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace tokpack::plan
