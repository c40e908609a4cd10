// Option checks, the lower bound, and the wording of kOverlong.
#include <fmt/format.h>

#include <algorithm>

#include "plan_detail.h"
#include "tokpack/format/layout.h"

namespace tokpack {

namespace {

Error options_error(std::string detail) { return Error{Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

}  // namespace

Result<void> check_plan_options(const PlanOptions& options) {
  return plan::guarded([&]() -> Result<void> {
    const std::uint32_t capacity = options.capacity, alignment = options.alignment;
    if (capacity == 0) return options_error("capacity is not set; give the tokens of a pack, such as 4096");
    if (capacity > format::kMaxCapacity) {
      return options_error(
          fmt::format("capacity {} is above the limit of {} tokens", capacity, format::kMaxCapacity));
    }
    if (alignment == 0) return options_error("alignment is 0; 1 means none");
    if (alignment > capacity) {
      return options_error(fmt::format("alignment {} exceeds the capacity {}", alignment, capacity));
    }
    if (capacity % alignment != 0) {
      return options_error(fmt::format("capacity {} is not a multiple of the alignment {}; try capacity {}",
                                       capacity, alignment, capacity - capacity % alignment));
    }
    if (options.strategy > Strategy::kConcat) {
      return options_error(fmt::format("unknown strategy {}", static_cast<unsigned>(options.strategy)));
    }
    return {};
  });
}

std::uint64_t lower_bound_packs(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  if (options.capacity == 0 || options.alignment == 0) return 0;
  std::uint64_t tokens = 0;
  if (options.alignment == 1) {
    for (const std::uint32_t length : lengths) tokens += length;
  } else {
    for (const std::uint32_t length : lengths) tokens += plan::round_up(length, options.alignment);
  }
  return tokens / options.capacity + (tokens % options.capacity != 0 ? 1 : 0);
}

namespace plan {

Result<void> check_plannable(std::size_t lengths, const PlanOptions& options) {
  if (auto checked = check_plan_options(options); !checked) return checked;
  if (lengths > kMaxItems) {
    return Error{Errc::kTooLarge, Error::kNoOffset,
                 fmt::format("{} sequences are more than the {} that one plan can hold; use a smaller window",
                             lengths, kMaxItems)};
  }
  return {};
}

void OverlongTally::add(std::uint64_t index, std::uint64_t length) noexcept {
  if (over++ == 0) {
    first_index = index;
    first_length = length;
  }
  if (length > longest_length) {
    longest_index = index;
    longest_length = length;
  }
}

Error OverlongTally::error(std::string_view what, std::string_view remedy, const PlanOptions& options) const {
  std::string limit = fmt::format("the capacity of {} tokens", options.capacity);
  if (options.alignment > 1) limit += fmt::format(" (alignment {})", options.alignment);
  return Error{
      Errc::kOverlong, Error::kNoOffset,
      fmt::format("{} of {} {} exceed {}: the first is number {} with {} tokens, the longest number "
                  "{} with {} tokens; {}",
                  over, seen, what, limit, first_index, first_length, longest_index, longest_length, remedy)};
}

Result<void> check_lengths(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  // One pass that vectorises; the second only where there is something to say. The capacity is a multiple of
  // the alignment, so a length fits exactly when its aligned length does.
  std::uint32_t longest = 0;
  for (const std::uint32_t length : lengths) longest = std::max(longest, length);
  if (longest <= options.capacity) return {};
  OverlongTally tally{.seen = lengths.size()};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > options.capacity) tally.add(i, lengths[i]);
  }
  return tally.error("sequences", "split, truncate, truncate-left or drop them, or raise the capacity",
                     options);
}

}  // namespace plan

}  // namespace tokpack
