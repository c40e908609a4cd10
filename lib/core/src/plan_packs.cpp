// plan_packs: checks, then the strategy.
#include "plan_detail.h"

namespace tokpack {

Result<Plan> plan_packs(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  return plan::guarded([&]() -> Result<Plan> {
    if (auto checked = plan::check_plannable(lengths.size(), options); !checked) return checked.error();
    if (options.strategy == Strategy::kConcat) {
      return Error{
          Errc::kOptions, Error::kNoOffset,
          "concat cuts sequences and is planned by plan_concat; plan_packs takes best-fit or next-fit"};
    }
    if (auto checked = plan::check_lengths(lengths, options); !checked) return checked.error();
    return options.strategy == Strategy::kNextFit ? plan::next_fit(lengths, options)
                                                  : plan::best_fit(lengths, options);
  });
}

}  // namespace tokpack
