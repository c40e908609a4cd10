#include "batch_fill.h"

#include <algorithm>

namespace tokpack::detail {

void PackFiller::ids(const IntOutput& out, std::size_t begin, std::size_t count) const noexcept {
  if (!out.wanted()) return;
  const BatchKernels& kernels = batch_kernels();
  if (tokens_.is_wide()) {
    const std::uint32_t* from = tokens_.wide().data() + begin;
    out.is_64_bit() ? kernels.widen_32_64(from, count, out.wide())
                    : kernels.widen_32_32(from, count, out.narrow());
  } else {
    const std::uint16_t* from = tokens_.narrow().data() + begin;
    out.is_64_bit() ? kernels.widen_16_64(from, count, out.wide())
                    : kernels.widen_16_32(from, count, out.narrow());
  }
}

void PackFiller::stored_labels(std::size_t begin, std::size_t count, std::int64_t* out) const noexcept {
  if (count == 0) return;
  const BatchKernels& kernels = batch_kernels();
  switch (pack_.label_kind()) {
    case LabelKind::kAll:
      ids(out, begin, count);
      return;
    case LabelKind::kExplicit:
      kernels.labels_64(pack_.labels().data() + begin, count, out);
      return;
    case LabelKind::kLossMask:
      break;
  }
  const std::uint8_t* bits = pack_.loss_bits().data();
  if (tokens_.is_wide()) {
    kernels.masked_32_64(tokens_.wide().data() + begin, bits, begin, count, pack_.ignore_index(), out);
  } else {
    kernels.masked_16_64(tokens_.narrow().data() + begin, bits, begin, count, pack_.ignore_index(), out);
  }
}

void PackFiller::labels(std::int64_t* out) const noexcept {
  stored_labels(0, tokens_.size(), out);
  for (std::size_t s = 0; s + 1 < cu_seqlens_.size(); ++s) out[begin(s)] = pack_.ignore_index();
}

void PackFiller::targets(std::int64_t* out) const noexcept {
  // Position i predicts token i + 1; what would cross a boundary is overwritten.
  stored_labels(1, tokens_.size() - 1, out);
  for (std::size_t s = 0; s + 1 < cu_seqlens_.size(); ++s) out[begin(s + 1) - 1] = last_target(s);
}

std::int64_t PackFiller::last_target(std::size_t sequence) const noexcept {
  const auto tails = pack_.tail_labels();
  return tails.empty() ? pack_.ignore_index() : tails[sequence];
}

void PackFiller::labels_of(std::size_t sequence, std::int64_t* out) const noexcept {
  stored_labels(begin(sequence), length(sequence), out);
  out[0] = pack_.ignore_index();
}

void PackFiller::targets_of(std::size_t sequence, std::int64_t* out) const noexcept {
  const std::size_t n = length(sequence);
  stored_labels(begin(sequence) + 1, n - 1, out);
  out[n - 1] = last_target(sequence);
}

std::int64_t PackFiller::first_position(std::size_t sequence) const noexcept {
  if (positions_ == SequencePositions::kRestart) return 0;
  const auto firsts = pack_.first_token_positions();
  return firsts.empty() ? 0 : firsts[sequence];
}

std::int64_t PackFiller::positions(const IntOutput& out) const noexcept {
  std::int64_t next = 0;
  for (std::size_t s = 0; s + 1 < cu_seqlens_.size(); ++s) {
    const std::int64_t first = first_position(s);
    count_up(at(out, begin(s)), first, length(s));
    next = first + static_cast<std::int64_t>(length(s));
  }
  return next;
}

void PackFiller::count(BatchCounts& counts) const noexcept {
  std::uint64_t tails = 0;
  for (const std::int32_t tail : pack_.tail_labels()) tails += tail != pack_.ignore_index() ? 1u : 0u;
  counts.tokens += tokens_.size();
  counts.sequences += pack_.sequences();
  counts.targets += pack_.targets();
  counts.label_targets += pack_.targets() - std::min<std::uint64_t>(tails, pack_.targets());
}

}  // namespace tokpack::detail
