// What must hold of every FileLayout that the parser hands out, checked the slow way. Shared by unit tests
// and the fuzz target.
#pragma once

#include <algorithm>
#include <string>

#include "tokpack/format/parse.h"

namespace tokpack::test {

/// The first invariant that does not hold, or an empty string.
inline std::string broken_invariant(const format::FileLayout& layout, std::uint64_t file_size) {
  using namespace tokpack::format;
  __extension__ using Wide = unsigned __int128;  // no product of two u64 wraps
  const Header& h = layout.header;
  if (h.file_size != file_size || file_size > kMaxFileBytes) return "file size";
  if (layout.sections.size() != h.section_count || layout.sections.empty()) return "section count";
  if (h.capacity == 0 || h.capacity > kMaxCapacity || h.alignment == 0 || h.capacity % h.alignment != 0) {
    return "capacity";
  }
  if (h.packs > h.sequences || h.sequences > h.tokens || Wide{h.tokens} > Wide{h.packs} * h.capacity)
    return "counts";

  Wide end = h.header_bytes;
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const SectionEntry& e = layout.sections[i];
    if (e.offset % kPageBytes != 0 || Wide{e.offset} != (end + kPageBytes - 1) / kPageBytes * kPageBytes) {
      return "section placement";
    }
    end = Wide{e.offset} + e.length;
    if (end > file_size) return "section within the file";
    if (!valid_section_name(e.name_view())) return "section name";
    if (element_bytes(e.element_type) == 0 || e.width == 0) return "element type and width";
    if (i + 1 < layout.sections.size()) blocks += e.length / kBlockBytes + (e.length % kBlockBytes != 0);
  }
  if (end != file_size) return "file end";

  const auto holds = [&](SectionKind kind, Wide rows) {
    const SectionEntry* e = layout.find(kind);
    return e == nullptr || Wide{e->length} == rows * element_bytes(e->element_type);
  };
  using enum SectionKind;
  if (!holds(kTokens, h.tokens) || !holds(kLabels, h.tokens)) return "token sections";
  if (!holds(kPackTokenOffsets, Wide{h.packs} + 1) || !holds(kPackSequenceOffsets, Wide{h.packs} + 1)) {
    return "offsets";
  }
  if (!holds(kCuSeqlens, Wide{h.packs} + h.sequences)) return "cu_seqlens";
  if (!holds(kLossBits, Wide{h.tokens / 8} + h.packs)) return "loss bits";
  if (!holds(kTargets, h.packs)) return "targets";
  if (!holds(kSources, h.sequences) || !holds(kFirstTokenPositions, h.sequences) ||
      !holds(kTailLabels, h.sequences)) {
    return "sequence sections";
  }
  if (!holds(kChecksums, blocks)) return "checksums";
  for (const SectionKind kind :
       {kTokens, kPackTokenOffsets, kPackSequenceOffsets, kCuSeqlens, kTargets, kSources, kChecksums}) {
    if (layout.find(kind) == nullptr) return "required sections";
  }
  if ((layout.find(kLossBits) != nullptr) != (h.label_kind == 1)) return "loss bits present";
  if ((layout.find(kLabels) != nullptr) != (h.label_kind == 2)) return "labels present";

  for (const ColumnInfo& column : layout.columns) {
    const SectionEntry& e = layout.sections[column.section];
    const Wide row = Wide{e.width} * element_bytes(e.element_type);
    if (e.length % row != 0) return "column rows";
    const auto scope = static_cast<Scope>(e.scope);
    if (!column.offsets && scope != Scope::kFile && Wide{e.length} != row * scope_rows(h, scope)) {
      return "column length";
    }
    if (column.offsets) {
      const SectionEntry& o = layout.sections[*column.offsets];
      if (o.name != e.name || Wide{o.length} != (Wide{scope_rows(h, scope)} + 1) * 8) return "column offsets";
    }
    if (layout.find_column(e.name_view()) != &column) return "column names";
  }
  return {};
}

}  // namespace tokpack::test
