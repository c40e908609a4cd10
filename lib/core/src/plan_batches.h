// Best-fit decreasing on the length histogram: which packs are filled with sequences of which lengths,
// before anyone asks which sequences those are.
//
// Item by item, best-fit decreasing takes for each sequence the smallest residual r that holds it and, of the
// packs with that residual, the one that came to it first. If that pack still holds another sequence of the
// same length afterwards, it is the next one's best fit as well: every other residual that is large enough is
// at least r, and it is now below r. So a pack takes min(r / size, sequences it may still hold) of a length
// in a row, and a run of identical packs at the front of a queue goes through the same motions one after the
// other, arriving at the next queue in the same order. One `Step` stands for the whole run; the plan is the
// one that the item-by-item algorithm makes.
//
// Internal to lib/core. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "plan_classes.h"
#include "plan_residuals.h"

namespace tokpack::plan {

/// `packs` packs take `each` sequences of one length class. A cell is one pack of one step.
struct Step {
  static constexpr std::uint32_t kNewPacks = ~std::uint32_t{0};

  std::uint32_t parent;         ///< the step that touched these packs before, or kNewPacks
  std::uint32_t parent_offset;  ///< pack i of this step is pack parent_offset + i of the parent
  std::uint32_t packs;
  std::uint32_t each;
  std::uint32_t first_cell;  ///< cells of a class ascend without a gap through its steps
  std::uint32_t slot;        ///< sequences that stand in each pack before these
};

struct BatchPlan {
  std::vector<Step> steps;
  std::vector<std::uint32_t> first_step;  ///< per class, and one entry more
  std::vector<PackBatch> packs;           ///< all packs in their final state
  std::uint32_t pack_count = 0;
  std::uint32_t cell_count = 0;
};

BatchPlan plan_batches(const LengthClasses& classes, std::uint32_t capacity, std::uint32_t alignment,
                       std::uint32_t max_sequences);

}  // namespace tokpack::plan
