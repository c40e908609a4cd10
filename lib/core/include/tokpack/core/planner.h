// From lengths to packs. Usable alone: no file, no tokens.
//
// Strategies (design names): best-fit is exact best-fit decreasing (among equal residuals the pack whose
// residual became this one first); next-fit keeps the input order and opens a new pack when one does not
// fit; concat cuts at capacity by nature. Within a pack of best-fit, sequences stand by descending length,
// ties by index; packs stand by their smallest index.
//
// Memory at peak, the plan included: 16 bytes a sequence; best-fit 80 more a distinct length, whatever the
// capacity; groups 40 more a group.
//
// Determinism: equal input and options give an equal plan, whatever the machine. kPlannerVersion changes
// when any plan changes. Threads: pure functions. Errors: kOptions, kOverlong, kTooLarge, kOutOfMemory.
//
//   auto plan = plan_packs(lengths, {.capacity = 4096});
//   for (size_t p = 0; p < plan->packs(); ++p) use(plan->pack(p));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokpack/format/result.h"

namespace tokpack {

inline constexpr std::uint32_t kPlannerVersion = 1;

enum class Strategy : std::uint8_t { kBestFit, kNextFit, kConcat };
enum class Overlong : std::uint8_t { kError, kSplit, kTruncate, kTruncateLeft, kDrop };

struct PlanOptions {
  std::uint32_t capacity = 0;       ///< tokens per pack; required, a multiple of alignment, at most 2^24
  std::uint32_t alignment = 1;      ///< a sequence counts as its length rounded up to this
  std::uint32_t max_sequences = 0;  ///< most sequences in a pack; 0 = no limit
  Strategy strategy = Strategy::kBestFit;  ///< kBestFit or kNextFit; concat has plan_concat
};

/// `order[first[p] .. first[p+1])` are the indices of the sequences of pack p. An empty plan has first = {0}.
struct Plan {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> first = {0};

  std::size_t packs() const noexcept { return first.size() - 1; }
  std::span<const std::uint32_t> pack(std::size_t p) const& noexcept {
    return std::span(order).subspan(first[p], first[p + 1] - first[p]);
  }
  std::span<const std::uint32_t> pack(std::size_t p) const&& = delete;
};

/// Packs sequences of these lengths. A length of 0 stands in no pack. A length whose aligned value exceeds
/// the capacity is kOverlong: apply a policy first (`fragments`). At most 2^31-1 sequences.
Result<Plan> plan_packs(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// The same for groups that must share a pack: group g is the sequences [group_first[g], group_first[g+1]),
/// `group_first` has one entry more than groups, first 0, last lengths.size(). A group counts as the sum of
/// its members' aligned lengths and fits by tokens and by max_sequences; its members stand adjacent in index
/// order. Groups take the place of sequences in every ordering rule (descending total, ties by index).
Result<Plan> plan_groups(std::span<const std::uint32_t> lengths, std::span<const std::uint32_t> group_first,
                         const PlanOptions& options);

/// A run of one sample's tokens.
struct Fragment {
  std::uint32_t sample;       ///< index into the lengths
  std::uint32_t first_token;  ///< position in the sample
  std::uint32_t length;
  friend bool operator==(const Fragment&, const Fragment&) = default;
};

/// What an overlong policy leaves of these lengths, in order: split gives several fragments of a sample,
/// truncating ones one, drop none, error fails with kOverlong and says how many of how many are over, the
/// longest, and the choices. Empty samples give nothing. The longest fragment is the largest one whose
/// aligned length does not exceed the capacity (that is, the capacity).
Result<std::vector<Fragment>> fragments(std::span<const std::uint32_t> lengths, Overlong policy,
                                        const PlanOptions& options);

/// The concat strategy: the stream of all tokens cut into packs of exactly `capacity` (the last may be
/// short); a sample that crosses a cut becomes fragments. With an alignment a fragment's aligned length
/// counts; with max_sequences a pack closes early. `first` has packs + 1 entries into `fragments`.
struct ConcatPlan {
  std::vector<Fragment> fragments;
  std::vector<std::uint32_t> first = {0};
};
Result<ConcatPlan> plan_concat(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// The least number of packs any plan could have: ceil(sum of aligned lengths / capacity).
std::uint64_t lower_bound_packs(std::span<const std::uint32_t> lengths, const PlanOptions& options);

/// Option checks shared with the writer: capacity, alignment, caps. kOptions names the option and the fix.
Result<void> check_plan_options(const PlanOptions& options);

}  // namespace tokpack
