// Next-fit: sequences in input order, a pack closes when the next one does not fit.
#include "plan_detail.h"

namespace tokpack::plan {

Plan next_fit(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  const std::uint32_t limit = sequence_limit(options);
  Plan out;
  out.order.reserve(lengths.size());
  std::uint64_t fill = 0;
  std::uint32_t sequences = 0;
  const auto close = [&] {
    out.first.push_back(static_cast<std::uint32_t>(out.order.size()));
    fill = 0;
    sequences = 0;
  };
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    const std::uint64_t size = round_up(lengths[i], options.alignment);
    if (sequences != 0 && (fill + size > options.capacity || sequences == limit)) close();
    out.order.push_back(static_cast<std::uint32_t>(i));
    fill += size;
    ++sequences;
  }
  if (sequences != 0) close();
  return out;
}

}  // namespace tokpack::plan
