// The section table as a whole: what must be there, once, in which order. Spec: The section table, Columns.
#include <algorithm>
#include <utility>
#include <vector>

#include "message.h"
#include "parse_detail.h"
#include "tokpack/format/names.h"

namespace tokpack::format::detail {
namespace {

using Entries = std::span<const SectionEntry>;

template <typename... Parts>
std::optional<Error> bad(Errc code, Entries entries, std::size_t i, std::size_t field,
                         const Parts&... parts) {
  return fault(code, entry_offset(i, field), section_label(i, entries[i]), ": ", parts..., kWriterAtFault);
}

std::optional<Error> check_checksums_length(Entries entries) {
  std::uint64_t blocks = 0;  // at most 2^14 sections of at most 2^42 blocks
  for (const SectionEntry& entry : entries) {
    if (!is_kind(entry, SectionKind::kChecksums)) blocks += block_count(entry.length);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_kind(entries[i], SectionKind::kChecksums) && entries[i].length != 8 * blocks) {
      return bad(Errc::kSectionLength, entries, i, offsetof(SectionEntry, length), "length is ",
                 entries[i].length, ", expected 8 bytes for each of the ", blocks,
                 " blocks of the other sections, ", 8 * blocks);
    }
  }
  return std::nullopt;
}

/// What must stand only once: a kind with one name (built-in kinds have but one), a column's name.
std::pair<std::uint16_t, std::string_view> identity(const SectionEntry& entry) noexcept {
  if (is_kind(entry, SectionKind::kColumnOffsets)) {
    return {static_cast<std::uint16_t>(SectionKind::kColumn), entry.name_view()};
  }
  return {entry.kind, entry.name_view()};
}

std::optional<Error> check_duplicates(Entries entries) {
  std::vector<std::uint16_t> order;
  order.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) order.push_back(static_cast<std::uint16_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
    return identity(entries[a]) < identity(entries[b]);
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const std::size_t i = order[k - 1];
    const std::size_t j = order[k];
    if (identity(entries[i]) == identity(entries[j])) {
      return bad(Errc::kSectionDuplicate, entries, j, 0, "section ", i, " is the same kind and name already");
    }
  }
  return std::nullopt;
}

void index_kinds(FileLayout& layout) {
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const std::uint16_t kind = layout.sections[i].kind;
    if (built_in_rule(kind) != nullptr) layout.by_kind[kind] = static_cast<std::int32_t>(i);
  }
}

enum class Presence : std::uint8_t { kRequired, kForbidden, kOptional };

Presence presence(SectionKind kind, const Header& header) noexcept {
  const auto label_kind = static_cast<LabelKind>(header.label_kind);
  switch (kind) {
    case SectionKind::kLossBits:
      return label_kind == LabelKind::kLossMask ? Presence::kRequired : Presence::kForbidden;
    case SectionKind::kLabels:
      return label_kind == LabelKind::kExplicit ? Presence::kRequired : Presence::kForbidden;
    case SectionKind::kFirstTokenPositions:
    case SectionKind::kTailLabels:
    case SectionKind::kMetadata:
      return Presence::kOptional;
    default:
      return Presence::kRequired;
  }
}

std::string_view label_text(const Header& header) noexcept {
  return label_kind_name(static_cast<LabelKind>(header.label_kind));
}

std::optional<Error> check_presence(const FileLayout& layout) {
  for (const KindRule& rule : kBuiltInKinds) {
    const SectionEntry* entry = layout.find(rule.kind);
    const Presence wanted = presence(rule.kind, layout.header);
    if (wanted == Presence::kRequired && entry == nullptr) {
      return fault(Errc::kSectionMissing, sizeof(Header), "section table: no section ", quoted(rule.name),
                   ", which this file needs (its label kind is ", label_text(layout.header), ')',
                   kWriterAtFault);
    }
    if (wanted == Presence::kForbidden && entry != nullptr) {
      return bad(Errc::kSectionUnexpected, layout.sections,
                 static_cast<std::size_t>(entry - layout.sections.data()), 0, "a file of label kind ",
                 label_text(layout.header), " has none");
    }
  }
  return std::nullopt;
}

std::optional<Error> check_order(Entries entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool last = i + 1 == entries.size();
    if (is_kind(entries[i], SectionKind::kChecksums) && !last) {
      return bad(Errc::kSectionOrder, entries, i, 0, "checksums must be the last section");
    }
    const bool values_follow = !last && is_kind(entries[i + 1], SectionKind::kColumnValues) &&
                               entries[i + 1].name == entries[i].name &&
                               entries[i + 1].scope == entries[i].scope;
    if (is_kind(entries[i], SectionKind::kColumnOffsets) && !values_follow) {
      return bad(Errc::kSectionOrder, entries, i, 0,
                 "column values of the same name and scope must follow their offsets");
    }
    if (is_kind(entries[i], SectionKind::kColumnValues) &&
        (i == 0 || !is_kind(entries[i - 1], SectionKind::kColumnOffsets))) {
      return bad(Errc::kSectionOrder, entries, i, 0, "column values must follow their offsets");
    }
  }
  return std::nullopt;
}

std::optional<Error> check_reserved_columns(Entries entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SectionEntry& e = entries[i];
    const bool fixed = is_kind(e, SectionKind::kColumn);
    if (!fixed && !is_kind(e, SectionKind::kColumnOffsets)) continue;
    const auto column = std::find_if(kReservedColumns.begin(), kReservedColumns.end(),
                                     [&](const ReservedColumn& r) { return r.name == e.name_view(); });
    if (column == kReservedColumns.end()) continue;
    if (!fixed || e.element_type != static_cast<std::uint8_t>(column->type) || e.width != 1 ||
        e.scope != static_cast<std::uint8_t>(Scope::kSequence)) {
      return bad(Errc::kReservedColumn, entries, i, 0, "the name is reserved for a column of element type ",
                 element_type_name(column->type), ", scope 3 (sequence) and width 1 that is not ragged");
    }
  }
  return std::nullopt;
}

std::optional<Error> check_ends(const FileLayout& layout) {
  const Entries entries = layout.sections;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_kind(entries[i], SectionKind::kMetadata) && entries[i].length > kMaxMetadataBytes) {
      return bad(Errc::kMetadataSize, entries, i, offsetof(SectionEntry, length), "length is ",
                 entries[i].length, ", expected at most ", kMaxMetadataBytes);
    }
  }
  const std::size_t last = entries.size() - 1;
  const std::uint64_t end = entries[last].offset + entries[last].length;
  if (end != layout.header.file_size) {
    return bad(Errc::kFileEnd, entries, last, offsetof(SectionEntry, length), "the last section ends at ",
               end, ", but the file at ", layout.header.file_size);
  }
  return std::nullopt;
}

void list_columns(FileLayout& layout) {
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const auto section = static_cast<std::uint16_t>(i);
    if (is_kind(layout.sections[i], SectionKind::kColumn)) {
      layout.columns.push_back({.section = section, .offsets = {}});
    } else if (is_kind(layout.sections[i], SectionKind::kColumnValues)) {
      layout.columns.push_back({.section = section, .offsets = static_cast<std::uint16_t>(i - 1)});
    }
  }
}

}  // namespace

std::optional<Error> check_table(FileLayout& layout) {
  const Entries entries = layout.sections;
  if (auto error = check_checksums_length(entries)) return error;
  if (auto error = check_duplicates(entries)) return error;
  index_kinds(layout);
  if (auto error = check_presence(layout)) return error;
  if (auto error = check_order(entries)) return error;
  if (auto error = check_reserved_columns(entries)) return error;
  if (auto error = check_ends(layout)) return error;
  list_columns(layout);
  return std::nullopt;
}

}  // namespace tokpack::format::detail
