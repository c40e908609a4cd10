// Best-fit decreasing with ids: the histogram is planned in batches, then one pass over the sequences gives
// each its pack and its place.
//
// The pass runs in index order, so a pack is met first at its smallest index, which is when it gets its
// number; and the sequences of a length reach their cells in index order. Both orders of the plan fall out.
//
// Peak memory, the plan included: 4 bytes a sequence for the order, 4 for the cells (one per pack and
// distinct length, so at most one per sequence), 8 a pack; and a few words a distinct length for classes,
// cursors and steps (about 1.5 of them per distinct length where nearly all lengths are distinct, else far
// fewer).
#include <algorithm>
#include <array>

#include "plan_batches.h"
#include "plan_detail.h"

namespace tokpack::plan {

namespace {

/// Until a pack gets its number, its entry holds how many sequences it has, with this bit set.
constexpr std::uint32_t kNotYet = 0x80000000;

/// Which pack each cell belongs to, packs numbered as they stand in `batches.packs`. Sets `state` to
/// kNotYet | sequences for each pack.
std::vector<std::uint32_t> packs_of_cells(const BatchPlan& batches, std::vector<std::uint32_t>& state) {
  std::vector<std::uint32_t> pack_of_cell(batches.cell_count);
  state.resize(batches.pack_count);
  std::uint32_t pack = 0;
  for (const PackBatch& batch : batches.packs) {
    std::fill_n(state.begin() + pack, batch.packs, kNotYet | batch.sequences);
    std::uint32_t step = batch.step, offset = batch.offset;
    while (step != Step::kNewPacks) {
      const Step& s = batches.steps[step];
      std::uint32_t* cell = pack_of_cell.data() + s.first_cell + offset;
      for (std::uint32_t i = 0; i < batch.packs; ++i) cell[i] = pack + i;
      offset += s.parent_offset;
      step = s.parent;
    }
    pack += batch.packs;
  }
  return pack_of_cell;
}

/// Where the next sequence of a length class goes.
struct Cursor {
  std::uint32_t cell, used;        // sequences of this class already in the cell
  std::uint32_t each, cells_left;  // of the current step
  std::uint32_t slot, step;

  void load(const Step& s) noexcept {
    used = 0;
    each = s.each;
    cells_left = s.packs;
    slot = s.slot;
  }
};

template <typename ClassOf>
void place(std::span<const std::uint32_t> lengths, const BatchPlan& batches,
           const std::vector<std::uint32_t>& pack_of_cell, std::vector<std::uint32_t>& state,
           std::vector<Cursor>& cursors, ClassOf class_of, Plan& out) {
  // Three passes over a block that stays in L1, so that the cache misses of a block overlap.
  constexpr std::size_t kBlock = 256;
  std::array<std::uint32_t, kBlock> index, pack, place;
  const std::uint32_t steps = static_cast<std::uint32_t>(batches.steps.size());
  std::uint32_t next_pack = 0, next_place = 0;
  for (std::size_t begin = 0; begin < lengths.size();) {
    const std::size_t end = std::min(lengths.size(), begin + kBlock);
    std::size_t items = 0;
    for (; begin < end; ++begin) {
      if (lengths[begin] == 0) continue;
      Cursor& cursor = cursors[class_of(lengths[begin])];
      index[items] = static_cast<std::uint32_t>(begin);
      pack[items] = pack_of_cell[cursor.cell];
      place[items] = cursor.slot + cursor.used;
      __builtin_prefetch(&state[pack[items]], 1);
      ++items;
      if (++cursor.used == cursor.each) {
        cursor.used = 0;
        ++cursor.cell;
        // Past the last step of a class this loads another class's step, which nothing will use.
        if (--cursor.cells_left == 0 && ++cursor.step < steps) cursor.load(batches.steps[cursor.step]);
      }
    }
    for (std::size_t i = 0; i < items; ++i) {
      std::uint32_t& entry = state[pack[i]];
      if ((entry & kNotYet) != 0) {
        const std::uint32_t sequences = entry & ~kNotYet;
        entry = next_place;
        out.first[next_pack++] = next_place;
        next_place += sequences;
      }
      place[i] += entry;
      __builtin_prefetch(&out.order[place[i]], 1);
    }
    for (std::size_t i = 0; i < items; ++i) out.order[place[i]] = index[i];
  }
  out.first[next_pack] = next_place;
}

}  // namespace

Plan best_fit(std::span<const std::uint32_t> lengths, const PlanOptions& options) {
  const LengthClasses classes = classify(lengths);
  BatchPlan batches = plan_batches(classes, options.capacity, options.alignment, sequence_limit(options));
  batches.steps.shrink_to_fit();
  std::vector<std::uint32_t> state;
  const std::vector<std::uint32_t> pack_of_cell = packs_of_cells(batches, state);
  std::vector<PackBatch>().swap(batches.packs);
  std::vector<Cursor> cursors(classes.size());
  std::size_t sequences = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    cursors[c].step = batches.first_step[c];
    cursors[c].load(batches.steps[cursors[c].step]);
    cursors[c].cell = batches.steps[cursors[c].step].first_cell;
    sequences += classes.counts[c];
  }
  Plan out;
  out.order.resize(sequences);
  out.first.resize(std::size_t{batches.pack_count} + 1);
  classes.with_lookup(
      [&](auto class_of) { place(lengths, batches, pack_of_cell, state, cursors, class_of, out); });
  return out;
}

}  // namespace tokpack::plan
