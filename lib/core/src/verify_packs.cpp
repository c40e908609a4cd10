// Pack by pack: both offset pairs, cu_seqlens, aligned sum, loss-bit padding, targets; then the header's
// totals. Chunks of packs are shared by the threads; findings come out in pack order.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "verify_run.h"
#include "verify_scan.h"

namespace tokpack::detail {

using format::PackBounds;
using format::SectionEntry;
using format::SectionKind;

namespace {

struct ChunkResult {
  std::vector<Finding> findings;
  std::uint64_t targets = 0;
  std::uint64_t longest = 0;
  std::uint64_t most_sequences = 0;
  bool sound = true;  ///< every boundary held, so the totals are true
};

/// What is wrong with a pair of offsets, or an empty text.
std::string offset_fault(std::uint64_t pack, std::uint64_t packs, std::span<const std::uint64_t> pair,
                         std::uint64_t count, std::uint64_t most) {
  const std::uint64_t begin = pair[0], end = pair[1];
  if (end <= begin)
    return fmt::format("entries {} and {} are {} and {}: they must ascend", pack, pack + 1, begin, end);
  if (end > count) return fmt::format("entry {} is {}: the file has {}", pack + 1, end, count);
  if (end - begin > most) return fmt::format("the pack has {}: it can have {}", end - begin, most);
  if (pack == 0 && begin != 0) return fmt::format("entry 0 is {}: it must be 0", begin);
  if (pack + 1 == packs && end != count)
    return fmt::format("the last entry is {}: it must be {}", end, count);
  return {};
}

class PackChecker {
 public:
  explicit PackChecker(const ReaderState& state)
      : header_(state.layout.header),
        scan_(scan_kernels()),
        token_offsets_(state, state.layout.find(SectionKind::kPackTokenOffsets)),
        sequence_offsets_(state, state.layout.find(SectionKind::kPackSequenceOffsets)),
        cu_seqlens_(state, state.layout.find(SectionKind::kCuSeqlens)),
        loss_bits_(state, state.layout.find(SectionKind::kLossBits)),
        labels_(state, state.layout.find(SectionKind::kLabels)),
        targets_(state, state.layout.find(SectionKind::kTargets)),
        tail_labels_(state, state.layout.find(SectionKind::kTailLabels)),
        narrow_tokens_(state, tokens_of_width(state, 2)),
        wide_tokens_(state, tokens_of_width(state, 4)) {}

  void check(std::uint64_t p, ChunkResult& out) {
    const std::span<const std::uint64_t> tokens = token_offsets_.at(p, 2);
    const std::span<const std::uint64_t> sequences = sequence_offsets_.at(p, 2);
    const auto checked = format::check_pack_bounds(header_, p, tokens.first<2>(), sequences.first<2>());
    if (!checked) {
      report_bounds(p, tokens, sequences, checked.error(), out);
      return;
    }
    const PackBounds bounds = checked.value();
    const std::uint64_t token_count = bounds.token_end - bounds.token_begin;
    const std::uint64_t sequence_count = bounds.sequence_end - bounds.sequence_begin;
    const std::uint64_t first_entry = format::cu_seqlens_begin(bounds.sequence_begin, p);
    const auto cu_seqlens = cu_seqlens_.at(first_entry, sequence_count + 1);
    if (const std::int64_t bad = format::check_cu_seqlens(cu_seqlens, token_count); bad >= 0) {
      const auto i = static_cast<std::size_t>(bad);
      add(out, Errc::kCuSeqlens, "cu_seqlens", p, cu_seqlens_.offset_of(first_entry + i),
          fmt::format("entry {} of {} is {}: they must ascend from 0 to the pack's {} tokens", i,
                      cu_seqlens.size(), cu_seqlens[i], token_count));
      out.sound = false;
      return;
    }
    check_lengths(p, first_entry, cu_seqlens, out);
    const std::uint64_t found = count_targets(p, bounds, cu_seqlens, out);
    out.targets += found;
    if (const std::uint32_t stored = targets_.at(p, 1)[0]; stored != found) {
      add(out, Errc::kTargetsCount, "targets", p, targets_.offset_of(p),
          fmt::format("the pack has {} targets, stored is {}", found, stored));
    }
  }

 private:
  static const SectionEntry* tokens_of_width(const ReaderState& state, std::uint32_t bytes) noexcept {
    const SectionEntry* entry = state.layout.find(SectionKind::kTokens);
    return format::element_bytes(entry->element_type) == bytes ? entry : nullptr;
  }

  static void add(ChunkResult& out, Errc code, const char* section, std::uint64_t pack, std::uint64_t offset,
                  std::string detail) {
    out.findings.push_back(
        {.code = code, .section = section, .pack = pack, .offset = offset, .detail = std::move(detail)});
  }

  /// One finding for each of the two arrays that is wrong here.
  void report_bounds(std::uint64_t p, std::span<const std::uint64_t> tokens,
                     std::span<const std::uint64_t> sequences, const Error& error, ChunkResult& out) {
    const std::size_t before = out.findings.size();
    if (auto why = offset_fault(p, header_.packs, tokens, header_.tokens, header_.capacity); !why.empty()) {
      add(out, Errc::kPackTokenOffsets, "pack_token_offsets", p, token_offsets_.offset_of(p), std::move(why));
    }
    if (auto why = offset_fault(p, header_.packs, sequences, header_.sequences, header_.capacity);
        !why.empty()) {
      add(out, Errc::kPackSequenceOffsets, "pack_sequence_offsets", p, sequence_offsets_.offset_of(p),
          std::move(why));
    }
    if (out.findings.size() ==
        before) {  // each right by itself, but not together: more sequences than tokens
      add(out, error.code, "pack_sequence_offsets", p, sequence_offsets_.offset_of(p), error.detail);
    }
    out.sound = false;
  }

  void check_lengths(std::uint64_t p, std::uint64_t first_entry, std::span<const std::int32_t> cu_seqlens,
                     ChunkResult& out) {
    std::int32_t longest = 0;
    for (std::size_t s = 1; s < cu_seqlens.size(); ++s)
      longest = std::max(longest, cu_seqlens[s] - cu_seqlens[s - 1]);
    out.longest = std::max(out.longest, static_cast<std::uint64_t>(longest));
    out.most_sequences = std::max(out.most_sequences, static_cast<std::uint64_t>(cu_seqlens.size() - 1));
    if (header_.alignment == 1) return;
    // At most 2^24 lengths of at most 2^24, each rounded up by less than 2^24: far from wrapping.
    std::uint64_t sum = 0;
    for (std::size_t s = 1; s < cu_seqlens.size(); ++s) {
      const auto length = static_cast<std::uint64_t>(cu_seqlens[s] - cu_seqlens[s - 1]);
      sum += (length + header_.alignment - 1) / header_.alignment * header_.alignment;
    }
    if (sum > header_.capacity) {
      add(out, Errc::kAlignedSum, "cu_seqlens", p, cu_seqlens_.offset_of(first_entry),
          fmt::format("the sequences rounded up to multiples of {} take {}: the capacity is {}",
                      header_.alignment, sum, header_.capacity));
    }
  }

  /// The id of token `row`. REQUIRES: row < tokens.
  std::uint32_t token(std::uint64_t row) {
    return narrow_tokens_.present() ? narrow_tokens_.at(row, 1)[0] : wide_tokens_.at(row, 1)[0];
  }

  std::uint64_t count_targets(std::uint64_t p, const PackBounds& bounds,
                              std::span<const std::int32_t> cu_seqlens, ChunkResult& out) {
    const auto tokens = static_cast<std::size_t>(bounds.token_end - bounds.token_begin);
    const auto sequences = cu_seqlens.size() - 1;
    std::uint64_t found = 0;
    if (labels_.present()) {
      const auto labels = labels_.at(bounds.token_begin, tokens);
      found = scan_.count_other_than(labels.data(), tokens, header_.ignore_index);
      for (std::size_t s = 0; s < sequences; ++s) {
        found -= labels[static_cast<std::size_t>(cu_seqlens[s])] != header_.ignore_index ? 1U : 0U;
      }
    } else if (loss_bits_.present()) {
      const std::uint64_t begin = format::loss_bits_begin(bounds.token_begin, p);
      const auto bytes = loss_bits_.at(begin, format::loss_bits_begin(bounds.token_end, p + 1) - begin);
      found = scan_.count_ones(bytes.data(), tokens);
      if (scan_.count_ones(bytes.data(), bytes.size() * 8) != found)
        report_padding(p, begin, bytes, tokens, out);
      for (std::size_t s = 0; s < sequences; ++s) {
        const auto first = static_cast<std::size_t>(cu_seqlens[s]);
        found -= unsigned{bytes[first / 8]} >> (first % 8) & 1U;
      }
      if (header_.ignore_index >= 0) found -= ids_that_are_ignored(bounds, cu_seqlens, bytes);
    } else {
      found = tokens - sequences;
      if (header_.ignore_index >= 0) found -= ids_that_are_ignored(bounds, cu_seqlens, {});
    }
    if (tail_labels_.present()) {
      const auto tails = tail_labels_.at(bounds.sequence_begin, sequences);
      found += scan_.count_other_than(tails.data(), sequences, header_.ignore_index);
    }
    return found;
  }

  /// With an ignore index that is a token id as well, a trained token of that id has the stored label
  /// "ignored".
  std::uint64_t ids_that_are_ignored(const PackBounds& bounds, std::span<const std::int32_t> cu_seqlens,
                                     std::span<const std::uint8_t> bits) {
    std::uint64_t ignored = 0;
    for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
      for (auto i = static_cast<std::size_t>(cu_seqlens[s]) + 1;
           i < static_cast<std::size_t>(cu_seqlens[s + 1]); ++i) {
        const bool trained = bits.empty() || (unsigned{bits[i / 8]} >> (i % 8) & 1U) != 0;
        if (trained && token(bounds.token_begin + i) == static_cast<std::uint32_t>(header_.ignore_index))
          ++ignored;
      }
    }
    return ignored;
  }

  void report_padding(std::uint64_t p, std::uint64_t begin, std::span<const std::uint8_t> bytes,
                      std::size_t tokens, ChunkResult& out) {
    std::size_t bit = tokens;
    while ((unsigned{bytes[bit / 8]} >> (bit % 8) & 1U) == 0) ++bit;  // one is set: the counts differ
    add(out, Errc::kLossBitsPadding, "loss_bits", p, loss_bits_.offset_of(begin + bit / 8),
        fmt::format("bit {} is set, but the pack has {} tokens: bits after its last must be 0", bit, tokens));
  }

  const format::Header& header_;
  const ScanKernels& scan_;
  SectionWindow<std::uint64_t> token_offsets_, sequence_offsets_;
  SectionWindow<std::int32_t> cu_seqlens_;
  SectionWindow<std::uint8_t> loss_bits_;
  SectionWindow<std::int32_t> labels_;
  SectionWindow<std::uint32_t> targets_;
  SectionWindow<std::int32_t> tail_labels_;
  SectionWindow<std::uint16_t> narrow_tokens_;
  SectionWindow<std::uint32_t> wide_tokens_;
};

/// A file without packs has one entry in each offset section, 0.
void check_single_entries(VerifyRun& run) {
  for (const SectionKind kind : {SectionKind::kPackTokenOffsets, SectionKind::kPackSequenceOffsets}) {
    const SectionEntry* entry = run.state.layout.find(kind);
    SectionWindow<std::uint64_t> offsets(run.state, entry);
    const std::uint64_t only = offsets.at(0, 1)[0];
    if (only == 0) continue;
    run.add({.code = kind == SectionKind::kPackTokenOffsets ? Errc::kPackTokenOffsets
                                                            : Errc::kPackSequenceOffsets,
             .section = std::string(entry->name_view()),
             .offset = entry->offset,
             .detail = fmt::format("the only entry of a file without packs is {}: it must be 0", only)});
  }
}

void check_totals(VerifyRun& run, const ChunkResult& totals) {
  const format::Header& header = run.header();
  const auto differ = [&](Errc code, std::uint64_t offset, const char* what, std::uint64_t found,
                          std::uint64_t stored) {
    if (found == stored) return;
    run.add({.code = code,
             .section = "page 0",
             .offset = offset,
             .detail = fmt::format("{}: the file has {}, the header says {}", what, found, stored)});
  };
  differ(Errc::kTargetsCount, offsetof(format::Header, targets), "targets", totals.targets, header.targets);
  differ(Errc::kLongestSequence, offsetof(format::Header, longest_sequence), "longest sequence",
         totals.longest, header.longest_sequence);
  differ(Errc::kLongestSequence, offsetof(format::Header, most_sequences_in_pack), "most sequences in a pack",
         totals.most_sequences, header.most_sequences_in_pack);
}

}  // namespace

void verify_packs(VerifyRun& run) {
  const std::uint64_t packs = run.header().packs;
  if (packs == 0) check_single_entries(run);
  constexpr std::uint64_t kChunkPacks = 256;
  const std::uint64_t chunks = packs / kChunkPacks + (packs % kChunkPacks != 0 ? 1 : 0);
  std::vector<std::unique_ptr<PackChecker>> checkers;
  for (unsigned i = 0; i < run.threads; ++i) checkers.push_back(std::make_unique<PackChecker>(run.state));

  // In waves, so that the findings that wait for their turn stay few.
  const std::uint64_t wave = std::uint64_t{run.threads} * 16;
  ChunkResult totals;
  for (std::uint64_t first = 0; first < chunks; first += wave) {
    std::vector<ChunkResult> results(static_cast<std::size_t>(std::min(wave, chunks - first)));
    shared_loop(run.threads, results.size(), [&](unsigned worker, std::uint64_t i) {
      const std::uint64_t begin = (first + i) * kChunkPacks;
      for (std::uint64_t p = begin; p < std::min(packs, begin + kChunkPacks); ++p) {
        checkers[worker]->check(p, results[static_cast<std::size_t>(i)]);
      }
    });
    for (const ChunkResult& result : results) {
      for (const Finding& finding : result.findings) run.add(finding);
      totals.targets += result.targets;
      totals.longest = std::max(totals.longest, result.longest);
      totals.most_sequences = std::max(totals.most_sequences, result.most_sequences);
      totals.sound = totals.sound && result.sound;
    }
  }
  if (totals.sound) check_totals(run, totals);
}

}  // namespace tokpack::detail
