// Best-fit decreasing of items with two limits, tokens and sequences, one item at a time.
//
// Items of one size may have different numbers of members, and a pack that is too full of sequences for one
// may take the next, so identical packs do not stay together and batches gain nothing here.
// Peak memory: about 24 bytes an item, 16 a pack.
#include <algorithm>

#include "plan_classes.h"
#include "plan_detail.h"
#include "plan_slack_index.h"

namespace tokpack::plan {

namespace {

/// Items with a member, descending size, ties by index: a counting sort.
std::vector<std::uint32_t> descending(std::span<const std::uint32_t> sizes) {
  const LengthClasses classes = classify(sizes);
  std::vector<std::uint32_t> next(classes.size());
  std::uint32_t sum = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    next[c] = sum;
    sum += classes.counts[c];
  }
  std::vector<std::uint32_t> out(sum);
  classes.with_lookup([&](auto class_of) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 0) out[next[class_of(sizes[i])]++] = static_cast<std::uint32_t>(i);
    }
  });
  return out;
}

/// Packs by smallest item, items in each in the order of `turn`.
Plan arrange(const std::vector<std::uint32_t>& turn, const std::vector<std::uint32_t>& pack_of,
             std::size_t packs) {
  std::vector<std::uint32_t> count(packs, 0), place(packs, 0);
  for (const std::uint32_t item : turn) ++count[pack_of[item]];
  Plan out;
  out.order.resize(turn.size());
  out.first.reserve(packs + 1);
  std::uint32_t next = 0;
  for (const std::uint32_t pack : pack_of) {
    if (pack == SlackIndex::kNone || count[pack] == 0) continue;
    place[pack] = next;
    next += count[pack];
    count[pack] = 0;
    out.first.push_back(next);
  }
  for (const std::uint32_t item : turn) out.order[place[pack_of[item]]++] = item;
  return out;
}

}  // namespace

Plan best_fit_two_limits(std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> members,
                         std::uint32_t capacity, std::uint32_t max_sequences) {
  const std::vector<std::uint32_t> turn = descending(sizes);
  std::vector<std::uint32_t> pack_of(sizes.size(), SlackIndex::kNone);
  std::vector<std::uint32_t> slack_of;  // per pack
  SlackIndex index(capacity);
  for (const std::uint32_t item : turn) {
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
  return arrange(turn, pack_of, slack_of.size());
}

}  // namespace tokpack::plan
