#include "plan_batches.h"

#include <algorithm>

#include "plan_detail.h"

namespace tokpack::plan {

BatchPlan plan_batches(const LengthClasses& classes, std::uint32_t capacity, std::uint32_t alignment,
                       std::uint32_t max_sequences) {
  BatchPlan out;
  out.first_step.reserve(classes.size() + 1);
  if (classes.size() == 0) {
    out.first_step.push_back(0);
    return out;
  }
  const auto aligned = [&](std::uint32_t length) {
    return static_cast<std::uint32_t>(round_up(length, alignment));
  };
  const std::uint32_t smallest = aligned(classes.lengths.back());
  ResidualQueues queues(capacity);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    out.first_step.push_back(static_cast<std::uint32_t>(out.steps.size()));
    const std::uint32_t size = aligned(classes.lengths[c]);
    std::uint32_t left = classes.counts[c];
    while (left != 0) {
      const std::uint32_t found = queues.at_least(size);
      const bool fresh = found == ResidualQueues::kNone;
      const std::uint32_t residual = fresh ? capacity : found;
      const PackBatch from =
          fresh ? PackBatch{.step = Step::kNewPacks, .packs = kUnlimited} : queues.front(residual);

      std::uint32_t each = std::min(residual / size, max_sequences - from.sequences);
      std::uint32_t packs = std::min(from.packs, left / each);
      if (packs == 0) {  // fewer sequences are left than one pack takes
        packs = 1;
        each = left;
      }
      if (!fresh) queues.take(residual, packs);
      left -= packs * each;

      const auto step = static_cast<std::uint32_t>(out.steps.size());
      out.steps.push_back({from.step, from.offset, packs, each, out.cell_count, from.sequences});
      out.cell_count += packs;
      if (fresh) out.pack_count += packs;

      const PackBatch next{step, 0, packs, from.sequences + each};
      const std::uint32_t rest = residual - each * size;
      if (rest < smallest || next.sequences == max_sequences) {
        out.packs.push_back(next);  // nothing will ever join these
      } else {
        queues.push(rest, next);
      }
    }
  }
  out.first_step.push_back(static_cast<std::uint32_t>(out.steps.size()));
  for (std::uint32_t r = queues.at_least(0); r != ResidualQueues::kNone; r = queues.at_least(r)) {
    out.packs.push_back(queues.front(r));
    queues.take(r, out.packs.back().packs);
  }
  return out;
}

}  // namespace tokpack::plan
