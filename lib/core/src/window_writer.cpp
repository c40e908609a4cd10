#include "window_writer.h"

#include <algorithm>
#include <utility>

#include "carry_over.h"

namespace tokpack::detail {
namespace {

std::uint32_t aligned(std::uint32_t length, std::uint32_t alignment) noexcept {
  return (length + alignment - 1) / alignment * alignment;
}

// Where each group starts: a pack keeps runs of equal group numbers together.
std::vector<std::uint32_t> group_starts(const Window& carried, const Window& fresh) {
  std::vector<std::uint32_t> first;
  std::uint32_t index = 0;
  for (const Window* window : {&carried, &fresh}) {
    for (std::size_t i = 0; i < window->sequences(); ++i, ++index) {
      if (i == 0 || window->groups[i] != window->groups[i - 1]) first.push_back(index);
    }
  }
  first.push_back(index);
  return first;
}

}  // namespace

WindowWriter::WindowWriter(PackSink& sink, const WriterOptions& options)
    : sink_(&sink),
      plan_options_(options.plan),
      groups_(options.groups),
      ignore_index_(options.ignore_index),
      carried_(options.columns),
      next_(options.columns) {}

Result<PlannedPacks> WindowWriter::plan(const WindowPair& pair) {
  if (plan_options_.strategy == Strategy::kConcat) {
    auto planned = plan_concat(lengths_, plan_options_);
    if (!planned) return planned.error();
    return PlannedPacks{{}, std::move(planned->fragments), std::move(planned->first)};
  }
  auto planned = groups_ ? plan_groups(lengths_, group_starts(*pair.carried, *pair.fresh), plan_options_)
                         : plan_packs(lengths_, plan_options_);
  if (!planned) return planned.error();
  return PlannedPacks{std::move(planned->order), {}, std::move(planned->first)};
}

std::vector<std::uint32_t> WindowWriter::choose_carried(const WindowPair& pair,
                                                        const PlannedPacks& packs) const {
  if (packs.count() == 0) return {};
  if (plan_options_.strategy != Strategy::kBestFit) return {static_cast<std::uint32_t>(packs.count() - 1)};
  std::vector<PackFill> fills(packs.count());
  for (std::size_t p = 0; p < packs.count(); ++p) {
    for (std::uint32_t k = packs.first[p]; k < packs.first[p + 1]; ++k) {
      const std::uint32_t i = packs.order[k];
      fills[p].fill += aligned(lengths_[i], plan_options_.alignment);
      fills[p].tokens += lengths_[i];
      if (i < pair.carried->sequences()) {
        fills[p].times_carried = std::max(fills[p].times_carried, pair.carried->times_carried.get(i));
      }
    }
  }
  return choose_dissolved(fills, plan_options_.capacity, pair.carried->tokens + pair.fresh->tokens);
}

Carry WindowWriter::extract(const WindowPair& pair, const PlannedPacks& packs,
                            std::span<const std::uint32_t> carried) {
  next_.clear();
  next_.match(*pair.fresh, ignore_index_);
  if (plan_options_.strategy == Strategy::kConcat) {
    for (const std::uint32_t p : carried) {
      for (std::uint32_t k = packs.first[p]; k < packs.first[p + 1]; ++k) {
        const Fragment& fragment = packs.fragments[k];
        const WindowPair::Place place = pair.at(fragment.sample);
        next_.append_part(*place.window, place.index, place.start, {fragment.first_token, fragment.length, 0},
                          ignore_index_);
      }
    }
  } else {
    // In input order, so that ties by position remain ties by source.
    std::vector<std::uint32_t> indices;
    for (const std::uint32_t p : carried) {
      indices.insert(indices.end(), packs.order.begin() + packs.first[p],
                     packs.order.begin() + packs.first[p + 1]);
    }
    std::sort(indices.begin(), indices.end());
    for (const std::uint32_t i : indices) {
      const WindowPair::Place place = pair.at(i);
      const bool counts = plan_options_.strategy == Strategy::kBestFit;
      const int times = counts ? place.window->times_carried.get(place.index) + 1 : 0;
      next_.append_part(*place.window, place.index, place.start,
                        {0, lengths_[i], static_cast<std::uint8_t>(times)}, ignore_index_);
    }
  }
  return {next_.tokens, next_.sequences()};
}

Result<void> WindowWriter::write_packs(const WindowPair& pair, const PlannedPacks& packs) {
  const FragmentList fragments = packs.all(lengths_);
  for (std::size_t p = 0; p < packs.count(); ++p) {
    if (auto ok = sink_->write_pack(pair, fragments, packs.pack(p)); !ok) return ok;
  }
  return {};
}

Result<void> WindowWriter::write_shared(const WindowPair& pair, const PlannedPacks& packs,
                                        WindowWatcher& watcher) {
  blocks_.clear();
  const FragmentList fragments = packs.all(lengths_);
  if (auto ok = sink_->share_token_arrays(pair, fragments, blocks_); !ok) return ok;
  struct Offer {
    WindowWatcher& watcher;
    Offer(WindowWatcher& w, SharedBlocks& blocks) : watcher(w) { watcher.offer(blocks); }
    ~Offer() { watcher.withdraw(); }  // also when something fails: the window must outlive the helper's block
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;
  };
  {
    const Offer offer(watcher, blocks_);
    for (std::size_t p = 0; p < packs.count(); ++p) {
      if (auto ok = sink_->write_pack_facts(pair, fragments, packs.pack(p)); !ok) return ok;
    }
    while (blocks_.write_one(scratch_)) {
    }
  }
  return blocks_.result();
}

Result<void> WindowWriter::write(Window& fresh, bool last, WindowWatcher& watcher) {
  if (fresh.empty()) {
    fresh.wide = carried_.wide;
    fresh.label_kind = carried_.label_kind;
  }
  carried_.match(fresh, ignore_index_);
  if (fresh.wide && !sink_->wide()) {
    if (auto ok = sink_->widen_tokens(); !ok) return ok;
  }
  if (fresh.label_kind != sink_->label_kind()) {
    if (auto ok = sink_->set_label_kind(fresh.label_kind); !ok) return ok;
  }

  lengths_.assign(carried_.lengths.span().begin(), carried_.lengths.span().end());
  lengths_.insert(lengths_.end(), fresh.lengths.span().begin(), fresh.lengths.span().end());
  starts_.clear();
  for (const Window* window : {&std::as_const(carried_), &std::as_const(fresh)}) {
    std::uint64_t start = 0;
    std::uint64_t* out = starts_.extend(window->sequences());
    for (std::size_t i = 0; i < window->sequences(); ++i) {
      out[i] = start;
      start += window->lengths[i];
    }
  }
  const WindowPair pair{&carried_, &fresh, starts_.span()};
  auto packs = plan(pair);
  if (!packs) return packs.error();

  const std::vector<std::uint32_t> kept = last ? std::vector<std::uint32_t>{} : choose_carried(pair, *packs);
  watcher.planned(extract(pair, *packs, kept));

  if (plan_options_.strategy == Strategy::kConcat) {
    // A sample is cut where two of its fragments follow each other.
    std::uint32_t last_cut = ~std::uint32_t{0};
    for (std::size_t f = 1; f < packs->fragments.size(); ++f) {
      const std::uint32_t sample = packs->fragments[f].sample;
      if (sample != packs->fragments[f - 1].sample || sample == last_cut) continue;
      last_cut = sample;
      ++samples_split_;
    }
  }
  packs->remove(kept);
  auto written = watcher.can_help() ? write_shared(pair, *packs, watcher) : write_packs(pair, *packs);
  if (!written) return written;
  std::swap(carried_, next_);
  next_.clear();
  fresh.clear();
  return {};
}

}  // namespace tokpack::detail
