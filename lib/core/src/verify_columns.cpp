// Columns: the offsets of ragged ones, and the numbers of groups.
#include <fmt/format.h>

#include <algorithm>

#include "verify_run.h"

namespace tokpack::detail {

using format::SectionEntry;
using format::SectionKind;

namespace {

/// The pack that row `row` of a scope belongs to, where its offsets tell.
std::optional<std::uint64_t> pack_of(const ReaderState& state, Scope scope, std::uint64_t row) {
  if (scope == Scope::kPack) return row < state.layout.header.packs ? std::optional(row) : std::nullopt;
  SectionWindow<std::uint64_t> offsets(
      state, state.layout.find(scope == Scope::kToken ? SectionKind::kPackTokenOffsets
                                                      : SectionKind::kPackSequenceOffsets));
  return pack_of_row(state.layout.header, offsets, row);
}

/// Every offset from the first to the last: 0 first, never descending, the count of the values last.
void check_ragged(VerifyRun& run, const SectionEntry& offsets_entry, const SectionEntry& values_entry) {
  const std::uint64_t values =
      values_entry.length /
      (std::uint64_t{format::element_bytes(values_entry.element_type)} * values_entry.width);
  const std::uint64_t entries = offsets_entry.length / sizeof(std::uint64_t);  // rows + 1
  SectionWindow<std::uint64_t> window(run.state, &offsets_entry);
  const auto bad = [&](std::uint64_t i, std::string detail) {
    run.add({.code = Errc::kRaggedOffsets,
             .section = std::string(offsets_entry.name_view()),
             .block = i * sizeof(std::uint64_t) / format::kBlockBytes,
             .pack = pack_of(run.state, Scope{offsets_entry.scope}, i),
             .offset = window.offset_of(i),
             .detail = std::move(detail)});
  };
  constexpr std::uint64_t kAtOnce = 16384;
  std::uint64_t last = 0;  // the highest offset that could be right
  for (std::uint64_t first = 0; first < entries; first += kAtOnce) {
    const auto offsets = window.at(first, std::min(kAtOnce, entries - first));
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::uint64_t offset = offsets[i], row = first + i;
      if (row == 0 && offset != 0) {
        bad(row, fmt::format("the first offset is {}: it must be 0", offset));
      } else if (offset < last) {
        bad(row, fmt::format("offset {} is {}, after {}: offsets must not descend", row, offset, last));
      } else if (offset > values) {
        bad(row, fmt::format("offset {} is {}: the column has {} values", row, offset, values));
      } else {
        last = offset;
        if (row + 1 == entries && offset != values) {
          bad(row, fmt::format("the last offset is {}: the column has {} values", offset, values));
        }
      }
    }
  }
}

/// Group numbers are 0, 1, 2 ... without a gap, and a group stands in one pack.
void check_groups(VerifyRun& run, const SectionEntry& entry) {
  const format::Header& header = run.header();
  SectionWindow<std::uint64_t> token_offsets(run.state,
                                             run.state.layout.find(SectionKind::kPackTokenOffsets));
  SectionWindow<std::uint64_t> sequence_offsets(run.state,
                                                run.state.layout.find(SectionKind::kPackSequenceOffsets));
  SectionWindow<std::uint32_t> groups(run.state, &entry);
  std::vector<bool> seen(
      static_cast<std::size_t>(header.sequences));               // a group has a sequence: numbers are lower
  std::vector<std::pair<std::uint32_t, std::uint64_t>> in_pack;  // group, first sequence
  bool sound = true;
  const auto bad = [&](std::uint64_t p, std::uint64_t sequence, std::string detail) {
    run.add({.code = Errc::kGroupNumbers,
             .section = std::string(entry.name_view()),
             .pack = p,
             .offset = groups.offset_of(sequence),
             .detail = std::move(detail)});
  };
  for (std::uint64_t p = 0; p < header.packs; ++p) {
    const auto checked = format::check_pack_bounds(header, p, token_offsets.at(p, 2).first<2>(),
                                                   sequence_offsets.at(p, 2).first<2>());
    if (!checked) {
      sound = false;
      continue;
    }
    const std::uint64_t begin = checked.value().sequence_begin;
    const auto numbers = groups.at(begin, checked.value().sequence_end - begin);
    in_pack.clear();
    for (std::size_t s = 0; s < numbers.size(); ++s) {
      if (s == 0 || numbers[s] != numbers[s - 1]) in_pack.emplace_back(numbers[s], begin + s);
    }
    std::sort(in_pack.begin(), in_pack.end());
    std::optional<std::uint32_t> last;
    for (const auto& [group, sequence] : in_pack) {
      if (group == last) continue;
      last = group;
      if (group >= header.sequences) {
        bad(p, sequence,
            fmt::format("group {}: the file has {} sequences, so numbers are below that", group,
                        header.sequences));
        sound = false;
      } else if (seen[group]) {
        bad(p, sequence,
            fmt::format("group {} stands in an earlier pack as well: a group stands in one pack", group));
      } else {
        seen[group] = true;
      }
    }
  }
  if (!sound) return;
  const auto gap = std::find(seen.begin(), seen.end(), false);
  const auto after = std::find(gap, seen.end(), true);
  if (after == seen.end()) return;
  run.add(
      {.code = Errc::kGroupNumbers,
       .section = std::string(entry.name_view()),
       .offset = entry.offset,
       .detail = fmt::format("there is a group {} but no group {}: numbers start at 0 and none is skipped",
                             after - seen.begin(), gap - seen.begin())});
}

}  // namespace

void verify_columns(VerifyRun& run) {
  const format::FileLayout& layout = run.state.layout;
  for (const format::ColumnInfo& column : layout.columns) {
    const SectionEntry& entry = layout.sections[column.section];
    if (column.offsets) check_ragged(run, layout.sections[*column.offsets], entry);
    if (entry.name_view() == "group") check_groups(run, entry);
  }
}

}  // namespace tokpack::detail
