// What the overlong policies leave of samples, before anything is packed.
#include <fmt/format.h>

#include <algorithm>

#include "plan_detail.h"

namespace tokpack {

Result<std::vector<Fragment>> fragments(std::span<const std::uint32_t> lengths, Overlong policy,
                                        const PlanOptions& options) {
  return plan::guarded([&]() -> Result<std::vector<Fragment>> {
    if (auto checked = plan::check_plannable(lengths.size(), options); !checked) return checked.error();
    if (policy > Overlong::kDrop) {
      return Error{Errc::kOptions, Error::kNoOffset,
                   fmt::format("unknown overlong policy {}", static_cast<unsigned>(policy))};
    }
    if (policy == Overlong::kError) {
      if (auto checked = plan::check_lengths(lengths, options); !checked) return checked.error();
    }
    // The capacity is a multiple of the alignment, so it is itself the longest length that fits.
    const std::uint32_t capacity = options.capacity;
    std::vector<Fragment> out;
    out.reserve(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto sample = static_cast<std::uint32_t>(i);
      const std::uint32_t length = lengths[i];
      if (length == 0) continue;
      if (length <= capacity) {
        out.push_back({sample, 0, length});
      } else if (policy == Overlong::kTruncate) {
        out.push_back({sample, 0, capacity});
      } else if (policy == Overlong::kTruncateLeft) {
        out.push_back({sample, length - capacity, capacity});
      } else if (policy == Overlong::kSplit) {
        for (std::uint32_t done = 0; done < length;) {
          const std::uint32_t part = std::min(capacity, length - done);
          out.push_back({sample, done, part});
          done += part;
        }
      }
      if (out.size() > plan::kMaxItems) {
        return Error{Errc::kTooLarge, Error::kNoOffset,
                     "splitting at this capacity gives more than 2147483647 fragments; use a smaller window"};
      }
    }
    return out;
  });
}

}  // namespace tokpack
