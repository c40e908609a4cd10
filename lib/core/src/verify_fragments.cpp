// Sequences of one source are fragments of one sample: they must not overlap in it.
//
// In bounded memory: one pass marks the sources that occur, and those that occur again; if there are any, a
// second collects their sequences, in as many rounds as the memory for them allows, sorts them and compares
// neighbours.
#include <fmt/format.h>

#include <algorithm>

#include "verify_run.h"

namespace tokpack::detail {

using format::SectionKind;

namespace {

struct Piece {
  std::uint64_t source;
  std::uint64_t sequence;
  std::uint32_t position;
  std::uint32_t length;
};

/// Visits every sequence of every pack whose boundaries hold and whose source is within range.
class SequenceWalk {
 public:
  explicit SequenceWalk(const ReaderState& state)
      : header_(state.layout.header),
        token_offsets_(state, state.layout.find(SectionKind::kPackTokenOffsets)),
        sequence_offsets_(state, state.layout.find(SectionKind::kPackSequenceOffsets)),
        cu_seqlens_(state, state.layout.find(SectionKind::kCuSeqlens)),
        narrow_sources_(state, sources_of_width(state, 4)),
        wide_sources_(state, sources_of_width(state, 8)),
        positions_(state, state.layout.find(SectionKind::kFirstTokenPositions)) {}

  template <typename Visit>  // visit(pack, const Piece&)
  void run(const Visit& visit) {
    for (std::uint64_t p = 0; p < header_.packs; ++p) {
      const auto checked = format::check_pack_bounds(header_, p, token_offsets_.at(p, 2).first<2>(),
                                                     sequence_offsets_.at(p, 2).first<2>());
      if (!checked) continue;
      const format::PackBounds& bounds = checked.value();
      const std::uint64_t count = bounds.sequence_end - bounds.sequence_begin;
      const auto cu_seqlens = cu_seqlens_.at(format::cu_seqlens_begin(bounds.sequence_begin, p), count + 1);
      if (format::check_cu_seqlens(cu_seqlens, bounds.token_end - bounds.token_begin) >= 0) continue;
      const auto narrow = narrow_sources_.present() ? narrow_sources_.at(bounds.sequence_begin, count)
                                                    : std::span<const std::uint32_t>();
      const auto wide = narrow_sources_.present() ? std::span<const std::uint64_t>()
                                                  : wide_sources_.at(bounds.sequence_begin, count);
      const auto positions = positions_.present() ? positions_.at(bounds.sequence_begin, count)
                                                  : std::span<const std::uint32_t>();
      for (std::size_t s = 0; s < count; ++s) {
        const std::uint64_t source = narrow.empty() ? wide[s] : narrow[s];
        if (source >= header_.samples) continue;
        visit(p, Piece{source, bounds.sequence_begin + s, positions.empty() ? 0 : positions[s],
                       static_cast<std::uint32_t>(cu_seqlens[s + 1] - cu_seqlens[s])});
      }
    }
  }

 private:
  static const format::SectionEntry* sources_of_width(const ReaderState& state,
                                                      std::uint32_t bytes) noexcept {
    const format::SectionEntry* entry = state.layout.find(SectionKind::kSources);
    return format::element_bytes(entry->element_type) == bytes ? entry : nullptr;
  }

  const format::Header& header_;
  SectionWindow<std::uint64_t> token_offsets_, sequence_offsets_;
  SectionWindow<std::int32_t> cu_seqlens_;
  SectionWindow<std::uint32_t> narrow_sources_;
  SectionWindow<std::uint64_t> wide_sources_;
  SectionWindow<std::uint32_t> positions_;
};

/// A set of sources that never misses one and may take one for another: at most 2 bytes a sequence.
class SourceMarks {
 public:
  SourceMarks(std::uint64_t samples, std::uint64_t sequences)
      : slots_(std::max<std::uint64_t>(1, std::min(samples, sequences * 16))),
        exact_(slots_ == samples),
        seen_(static_cast<std::size_t>((slots_ + 63) / 64)),
        again_(seen_.size()) {}

  /// True when the source's slot was marked before.
  bool mark(std::uint64_t source) noexcept {
    const std::uint64_t slot = slot_of(source);
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    const bool known = (seen_[slot / 64] & bit) != 0;
    seen_[slot / 64] |= bit;
    if (known) again_[slot / 64] |= bit;
    return known;
  }
  bool repeated(std::uint64_t source) const noexcept {
    const std::uint64_t slot = slot_of(source);
    return (again_[slot / 64] >> (slot % 64) & 1) != 0;
  }

 private:
  std::uint64_t slot_of(std::uint64_t source) const noexcept {
    return exact_ ? source : source * 0x9e3779b97f4a7c15U % slots_;
  }
  std::uint64_t slots_;
  bool exact_;
  std::vector<std::uint64_t> seen_, again_;
};

void report_overlap(VerifyRun& run, const Piece& before, const Piece& piece) {
  const format::SectionEntry* entry = run.state.layout.find(SectionKind::kFirstTokenPositions);
  const bool present = entry != nullptr;
  if (!present) entry = run.state.layout.find(SectionKind::kSources);
  SectionWindow<std::uint64_t> offsets(run.state, run.state.layout.find(SectionKind::kPackSequenceOffsets));
  run.add({.code = Errc::kFirstTokenPosition,
           .section = std::string(entry->name_view()),
           .pack = pack_of_row(run.header(), offsets, piece.sequence),
           .offset = entry->offset + piece.sequence * format::element_bytes(entry->element_type),
           .detail = fmt::format(
               "sequences {} and {} are of sample {} and overlap: one has its tokens {} to {}, the "
               "other begins at {}{}",
               before.sequence, piece.sequence, piece.source, before.position,
               std::uint64_t{before.position} + before.length - 1, piece.position,
               present ? "" : " (the file has no first_token_positions: all are 0)")});
}

}  // namespace

void verify_fragments(VerifyRun& run) {
  const format::Header& header = run.header();
  if (header.sequences == 0) return;
  SequenceWalk walk(run.state);
  SourceMarks marks(header.samples, header.sequences);
  std::uint64_t repeats = 0;
  walk.run([&](std::uint64_t, const Piece& piece) { repeats += marks.mark(piece.source) ? 1U : 0U; });
  if (repeats == 0) return;

  // A marked slot has one first sequence and at least one repeat: twice the repeats bounds the collection.
  const std::uint64_t budget = std::max<std::uint64_t>(std::uint64_t{64} << 20, header.file_size / 16);
  const std::uint64_t rounds = (2 * repeats * sizeof(Piece) + budget - 1) / budget;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<Piece> pieces;
    walk.run([&](std::uint64_t, const Piece& piece) {
      if (piece.source % rounds == round && marks.repeated(piece.source)) pieces.push_back(piece);
    });
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      if (a.source != b.source) return a.source < b.source;
      return a.position != b.position ? a.position < b.position : a.sequence < b.sequence;
    });
    const Piece* reach = nullptr;  // the piece of this source that goes furthest so far
    for (const Piece& piece : pieces) {
      if (reach == nullptr || reach->source != piece.source) {
        reach = &piece;
        continue;
      }
      const std::uint64_t end = std::uint64_t{reach->position} + reach->length;
      if (piece.position < end) report_overlap(run, *reach, piece);
      if (std::uint64_t{piece.position} + piece.length > end) reach = &piece;
    }
  }
}

}  // namespace tokpack::detail
