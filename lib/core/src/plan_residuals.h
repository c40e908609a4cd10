// For every residual (free tokens) a first-in-first-out queue of batches of identical packs, and the search
// for the smallest residual that is large enough.
//
// Queues live in pages of 1024 residuals that come into being when first used: a capacity of 2^24 costs
// nothing for the residuals that never occur, and the search is a walk over bits. Throws std::bad_alloc.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
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

class ResidualQueues {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// For residuals 0..largest.
  explicit ResidualQueues(std::uint32_t largest)
      : pages_(largest / kPageResiduals + 1), used_(pages_.size() / 64 + 1, 0) {}

  /// The smallest residual of at least `tokens` that has a batch, or kNone.
  std::uint32_t at_least(std::uint32_t tokens) const noexcept {
    std::size_t page = tokens / kPageResiduals;
    if (page >= pages_.size()) return kNone;
    if (pages_[page]) {
      const std::uint32_t found = next_bit(pages_[page]->bits, tokens % kPageResiduals);
      if (found != kNone) return static_cast<std::uint32_t>(page * kPageResiduals) + found;
    }
    const std::uint32_t later = next_bit(used_, static_cast<std::uint32_t>(page + 1));
    if (later == kNone) return kNone;
    return later * kPageResiduals + next_bit(pages_[later]->bits, 0);
  }

  /// The batch that has waited longest. REQUIRES: the residual has one.
  const PackBatch& front(std::uint32_t residual) const noexcept {
    return pool_[pages_[residual / kPageResiduals]->head[residual % kPageResiduals]].batch;
  }

  /// Takes the first `packs` packs off the front batch. REQUIRES: it has as many.
  void take(std::uint32_t residual, std::uint32_t packs) noexcept {
    Page& page = *pages_[residual / kPageResiduals];
    std::uint32_t& head = page.head[residual % kPageResiduals];
    Waiting& waiting = pool_[head];
    waiting.batch.offset += packs;
    waiting.batch.packs -= packs;
    if (waiting.batch.packs != 0) return;
    const std::uint32_t next = waiting.next;
    waiting.next = free_;
    free_ = head;
    head = next;
    if (next == kNone) clear_bit(page, residual);
  }

  void push(std::uint32_t residual, const PackBatch& batch) {
    std::unique_ptr<Page>& owner = pages_[residual / kPageResiduals];
    if (!owner) owner.reset(new Page);
    Page& page = *owner;
    const std::uint32_t waiting = allocate(batch);
    const std::uint32_t at = residual % kPageResiduals;
    if ((page.bits[at / 64] >> (at % 64) & 1) != 0) {
      pool_[page.tail[at]].next = waiting;
    } else {
      page.bits[at / 64] |= std::uint64_t{1} << (at % 64);
      used_[residual / kPageResiduals / 64] |= std::uint64_t{1} << (residual / kPageResiduals % 64);
      page.head[at] = waiting;
    }
    page.tail[at] = waiting;
  }

 private:
  static constexpr std::uint32_t kPageResiduals = 1024;

  // Heads and tails mean something only where the bit is set, so a new page sets bits alone.
  struct Page {
    std::array<std::uint64_t, kPageResiduals / 64> bits{};
    std::array<std::uint32_t, kPageResiduals> head, tail;
    Page() noexcept {}  // NOLINT: a defaulted one would clear 8 KiB under `new Page()`
  };
  struct Waiting {
    PackBatch batch;
    std::uint32_t next;
  };

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

  void clear_bit(Page& page, std::uint32_t residual) noexcept {
    const std::uint32_t at = residual % kPageResiduals;
    page.bits[at / 64] &= ~(std::uint64_t{1} << (at % 64));
    if (next_bit(page.bits, 0) != kNone) return;
    const std::uint32_t number = residual / kPageResiduals;
    used_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  }

  std::uint32_t allocate(const PackBatch& batch) {
    if (free_ == kNone) {
      pool_.push_back({batch, kNone});
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t waiting = free_;
    free_ = pool_[waiting].next;
    pool_[waiting] = {batch, kNone};
    return waiting;
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::uint64_t> used_;  // bit per page: some queue of it is not empty
  std::vector<Waiting> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace tokpack::plan
