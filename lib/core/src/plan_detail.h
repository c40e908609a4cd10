// What the planner's files share: arithmetic on aligned lengths, the wording of kOverlong, the strategies.
//
// Internal to lib/core. Every function here may throw std::bad_alloc; the public ones turn it into an Error
// (`guarded`). Threads: pure functions.
//
//   return guarded([&]() -> Result<Plan> { return best_fit(lengths, limits); });
#pragma once

#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string_view>

#include "reader_text.h"
#include "tokpack/core/planner.h"

namespace tokpack::plan {

/// No more items than this are planned at once, so that an index and one flag bit share a u32.
inline constexpr std::uint64_t kMaxItems = 0x7fffffff;
/// `max_sequences` when there is no limit.
inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t round_up(std::uint64_t value, std::uint32_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

inline std::uint32_t sequence_limit(const PlanOptions& options) noexcept {
  return options.max_sequences == 0 ? kUnlimited : options.max_sequences;
}

/// check_plan_options, and kTooLarge for more than kMaxItems lengths.
Result<void> check_plannable(std::size_t lengths, const PlanOptions& options);

/// Counts what does not fit, for one message at the end of a scan.
struct OverlongTally {
  std::uint64_t seen = 0, over = 0;
  std::uint64_t first_index = 0, first_length = 0, longest_index = 0, longest_length = 0;

  void add(std::uint64_t index, std::uint64_t length) noexcept;
  /// `what` is the plural of the thing, `remedy` what its owner may do about it.
  Error error(std::string_view what, std::string_view remedy, const PlanOptions& options) const;
};

/// OK when every length is at most the capacity, else kOverlong.
Result<void> check_lengths(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// Exact best-fit decreasing. REQUIRES: options checked, every length at most the capacity.
Plan best_fit(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// Input order; a pack closes when the next sequence does not fit. REQUIRES: as above.
Plan next_fit(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// Best-fit decreasing of items that take `sizes[i]` tokens and `members[i]` sequences. Items of 0 members
/// stand in no pack. REQUIRES: sizes[i] <= capacity, members[i] <= max_sequences, sizes[i] > 0 exactly where
/// members[i] > 0.
Plan best_fit_two_limits(std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> members,
                         std::uint32_t capacity, std::uint32_t max_sequences);

template <typename Work>
auto guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return detail::out_of_memory("for planning; use a smaller window");
  }
}

}  // namespace tokpack::plan
