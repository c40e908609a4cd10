// plan_groups: several sequences that must share a pack are planned as one item.
//
// Where only one limit can bind, the item is a length for the plain planner: no limit on sequences at all, or
// all groups of m members (then a pack takes max_sequences / m of them). Else both limits are looked at item
// by item.
#include <fmt/format.h>

#include <algorithm>

#include "plan_detail.h"

namespace tokpack {

namespace plan {

namespace {

struct Items {
  std::vector<std::uint32_t> sizes;    ///< sum of aligned lengths
  std::vector<std::uint32_t> members;  ///< with a token; empty members stand in no pack
};

Result<void> check_group_first(std::span<const std::uint32_t> lengths,
                               std::span<const std::uint32_t> group_first) {
  const bool ends_match =
      !group_first.empty() && group_first.front() == 0 && group_first.back() == lengths.size();
  if (ends_match && std::is_sorted(group_first.begin(), group_first.end())) return {};
  return Error{Errc::kOptions, Error::kNoOffset,
               fmt::format("group_first must ascend from 0 to the number of lengths ({}) with one entry more "
                           "than groups; it has {} entries that do not",
                           lengths.size(), group_first.size())};
}

Result<Items> make_items(std::span<const std::uint32_t> lengths, std::span<const std::uint32_t> group_first,
                         const PlanOptions& options) {
  const std::size_t groups = group_first.size() - 1;
  const std::uint32_t limit = sequence_limit(options);
  Items out;
  out.sizes.resize(groups);
  out.members.resize(groups);
  OverlongTally tokens{.seen = groups}, members{.seen = groups};
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint64_t size = 0, real = 0;
    std::uint32_t count = 0;
    for (std::uint32_t i = group_first[g]; i < group_first[g + 1]; ++i) {
      if (lengths[i] == 0) continue;
      size += round_up(lengths[i], options.alignment);
      real += lengths[i];
      ++count;
    }
    if (size > options.capacity) {
      tokens.add(g, real);
    } else if (count > limit) {
      members.add(g, count);
    }
    out.sizes[g] = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, options.capacity));
    out.members[g] = count;
  }
  if (tokens.over != 0) {
    return tokens.error("groups", "drop them, raise the capacity, or shorten their members", options);
  }
  if (members.over != 0) {
    return Error{Errc::kOverlong, Error::kNoOffset,
                 fmt::format("{} of {} groups have more members than the {} sequences that a pack may hold: "
                             "the first is number {} with {} members, the largest number {} with {} members; "
                             "drop them or raise max_sequences",
                             members.over, members.seen, limit, members.first_index, members.first_length,
                             members.longest_index, members.longest_length)};
  }
  return out;
}

Plan next_fit_groups(const Items& items, const PlanOptions& options) {
  const std::uint32_t limit = sequence_limit(options);
  Plan out;
  std::uint64_t fill = 0, sequences = 0;
  for (std::size_t g = 0; g < items.sizes.size(); ++g) {
    if (items.members[g] == 0) continue;
    if (sequences != 0 &&
        (fill + items.sizes[g] > options.capacity || sequences + items.members[g] > limit)) {
      out.first.push_back(static_cast<std::uint32_t>(out.order.size()));
      fill = sequences = 0;
    }
    out.order.push_back(static_cast<std::uint32_t>(g));
    fill += items.sizes[g];
    sequences += items.members[g];
  }
  if (sequences != 0) out.first.push_back(static_cast<std::uint32_t>(out.order.size()));
  return out;
}

Plan best_fit_groups(const Items& items, const PlanOptions& options) {
  const std::uint32_t limit = sequence_limit(options);
  std::uint32_t least = kUnlimited, most = 0;
  for (const std::uint32_t members : items.members) {
    if (members != 0) least = std::min(least, members);
    most = std::max(most, members);
  }
  if (limit != kUnlimited && least < most) {
    return best_fit_two_limits(items.sizes, items.members, options.capacity, limit);
  }
  PlanOptions plain = options;
  plain.alignment = 1;  // sizes are sums of aligned lengths already
  plain.max_sequences = limit == kUnlimited || most == 0 ? 0 : limit / most;
  return best_fit(items.sizes, plain);
}

/// A plan of groups as a plan of their members.
Plan members_of(const Plan& groups, std::span<const std::uint32_t> lengths,
                std::span<const std::uint32_t> group_first) {
  Plan out;
  out.order.reserve(lengths.size());
  out.first.reserve(groups.first.size());
  for (std::size_t p = 0; p < groups.packs(); ++p) {
    for (const std::uint32_t g : groups.pack(p)) {
      for (std::uint32_t i = group_first[g]; i < group_first[g + 1]; ++i) {
        if (lengths[i] != 0) out.order.push_back(i);
      }
    }
    out.first.push_back(static_cast<std::uint32_t>(out.order.size()));
  }
  return out;
}

}  // namespace

}  // namespace plan

Result<Plan> plan_groups(std::span<const std::uint32_t> lengths, std::span<const std::uint32_t> group_first,
                         const PlanOptions& options) {
  return plan::guarded([&]() -> Result<Plan> {
    if (auto checked = plan::check_plannable(std::max(lengths.size(), group_first.size()), options);
        !checked) {
      return checked.error();
    }
    if (options.strategy == Strategy::kConcat) {
      return Error{Errc::kOptions, Error::kNoOffset,
                   "concat cuts sequences, so it cannot keep groups together; use best-fit or next-fit"};
    }
    if (auto checked = plan::check_group_first(lengths, group_first); !checked) return checked.error();
    const auto items = plan::make_items(lengths, group_first, options);
    if (!items) return items.error();
    const Plan groups = options.strategy == Strategy::kNextFit ? plan::next_fit_groups(*items, options)
                                                               : plan::best_fit_groups(*items, options);
    return plan::members_of(groups, lengths, group_first);
  });
}

}  // namespace tokpack
