// Best-fit decreasing of items with two limits, tokens and sequences, one item at a time.
//
// Items of one size may have different numbers of members, and a pack that is too full of sequences for one
// may take the next, so identical packs do not stay together and batches gain nothing here.
// Peak memory: about 32 bytes an item.
#include <algorithm>

#include "plan_detail.h"
#include "plan_slack_index.h"

namespace tokpack::plan {

namespace {

/// Items with a member, descending size, ties by index; the size inverted in the high half of each key.
std::vector<std::uint64_t> descending(std::span<const std::uint32_t> sizes,
                                      std::span<const std::uint32_t> members) {
  std::vector<std::uint64_t> keys;
  keys.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (members[i] != 0) keys.push_back(std::uint64_t{~sizes[i]} << 32 | i);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Packs by smallest item, items in each in the order of `keys`.
Plan arrange(const std::vector<std::uint64_t>& keys, const std::vector<std::uint32_t>& pack_of,
             std::size_t packs) {
  std::vector<std::uint32_t> count(packs, 0), place(packs, 0);
  for (const std::uint64_t key : keys) ++count[pack_of[static_cast<std::uint32_t>(key)]];
  Plan out;
  out.order.resize(keys.size());
  out.first.reserve(packs + 1);
  std::uint32_t next = 0;
  for (const std::uint32_t pack : pack_of) {
    if (pack == SlackIndex::kNone || count[pack] == 0) continue;
    place[pack] = next;
    next += count[pack];
    count[pack] = 0;
    out.first.push_back(next);
  }
  for (const std::uint64_t key : keys) {
    const auto item = static_cast<std::uint32_t>(key);
    out.order[place[pack_of[item]]++] = item;
  }
  return out;
}

}  // namespace

Plan best_fit_two_limits(std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> members,
                         std::uint32_t capacity, std::uint32_t max_sequences) {
  const std::vector<std::uint64_t> keys = descending(sizes, members);
  std::vector<std::uint32_t> pack_of(sizes.size(), SlackIndex::kNone);
  std::vector<std::uint32_t> slack_of;  // per pack
  SlackIndex index;
  for (const std::uint64_t key : keys) {
    const auto item = static_cast<std::uint32_t>(key);
    std::uint32_t residual = index.find(sizes[item], members[item]);
    std::uint32_t pack;
    if (residual == SlackIndex::kNone) {
      residual = capacity;
      pack = static_cast<std::uint32_t>(slack_of.size());
      slack_of.push_back(max_sequences);
    } else {
      pack = index.take(residual, members[item]);
    }
    pack_of[item] = pack;
    slack_of[pack] -= members[item];
    residual -= sizes[item];
    if (residual != 0 && slack_of[pack] != 0) index.push(residual, slack_of[pack], pack);
  }
  return arrange(keys, pack_of, slack_of.size());
}

}  // namespace tokpack::plan
