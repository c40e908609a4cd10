// Concat: the stream of all tokens cut wherever a pack is full.
#include <algorithm>

#include "plan_detail.h"

namespace tokpack {

Result<ConcatPlan> plan_concat(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  return plan::guarded([&]() -> Result<ConcatPlan> {
    if (auto checked = plan::check_plannable(lengths.size(), options); !checked) return checked.error();
    const std::uint32_t limit = plan::sequence_limit(options);
    ConcatPlan out;
    out.fragments.reserve(lengths.size());
    std::uint32_t room = options.capacity;  // always a multiple of the alignment
    std::uint32_t sequences = 0;
    const auto close = [&] {
      out.first.push_back(static_cast<std::uint32_t>(out.fragments.size()));
      room = options.capacity;
      sequences = 0;
    };
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      std::uint32_t done = 0;
      while (done < lengths[i]) {
        if (out.fragments.size() == plan::kMaxItems) {
          return Error{Errc::kTooLarge, Error::kNoOffset,
                       "cutting at this capacity gives more than 2147483647 fragments; use a smaller window"};
        }
        const std::uint32_t length = std::min(lengths[i] - done, room);
        out.fragments.push_back({static_cast<std::uint32_t>(i), done, length});
        done += length;
        room -= static_cast<std::uint32_t>(plan::round_up(length, options.alignment));
        if (++sequences == limit || room == 0) close();
      }
    }
    if (sequences != 0) close();
    return out;
  });
}

}  // namespace tokpack
