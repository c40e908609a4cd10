// Section entries one by one: kind, types, name, place and length. Spec: The section table, Section kinds.
#include <algorithm>

#include "message.h"
#include "parse_detail.h"
#include "tokpack/format/names.h"

namespace tokpack::format::detail {
namespace {

/// One entry, and what its checks need to say where it stands.
struct Entry {
  const Header& header;
  const SectionEntry& entry;
  std::size_t index;

  template <typename... Parts>
  std::optional<Error> bad(Errc code, std::size_t field, const Parts&... parts) const {
    return fault(code, entry_offset(index, field), section_label(index, entry), ": ", parts...);
  }
};

bool is_known(std::uint16_t kind) noexcept { return kind >= 1 && kind <= kLastKnownKind; }

constexpr std::uint8_t number(ElementType type) noexcept { return static_cast<std::uint8_t>(type); }
constexpr std::uint8_t number(Scope scope) noexcept { return static_cast<std::uint8_t>(scope); }

/// `10 (bytes)`.
std::string type_text(std::uint8_t type) {
  return concat(type, " (", element_type_name(static_cast<ElementType>(type)), ')');
}
std::string scope_text(std::uint8_t scope) {
  return concat(scope, " (", scope_name(static_cast<Scope>(scope)), ')');
}

/// The element type that a kind prescribes in this file; 0 = any.
std::uint8_t prescribed_type(const Header& header, std::uint16_t kind) noexcept {
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::kTokens:
      return header.token_type;
    case SectionKind::kSources:
      return number(header.samples < (std::uint64_t{1} << 32) ? ElementType::kU32 : ElementType::kU64);
    case SectionKind::kColumnOffsets:
      return number(ElementType::kU64);
    default: {
      const KindRule* rule = built_in_rule(kind);
      return rule == nullptr ? std::uint8_t{0} : rule->element_type;
    }
  }
}

std::optional<Error> check_kind(const Entry& e) {
  if (e.entry.kind == 0) return e.bad(Errc::kSectionKind, 0, "kind is 0", kWriterAtFault);
  if (!is_known(e.entry.kind) && (e.entry.flags & kSectionRequired) != 0) {
    return e.bad(
        Errc::kUnknownRequired, 0, "kind ", e.entry.kind,
        " is required to understand the file and not known to this version: read it with a newer tokpack");
  }
  return std::nullopt;
}

std::optional<Error> check_element_type(const Entry& e) {
  constexpr std::size_t kField = offsetof(SectionEntry, element_type);
  if (element_bytes(e.entry.element_type) == 0) {
    return e.bad(Errc::kElementType, kField, "element type is ", e.entry.element_type, ", expected 1 to 10",
                 kWriterAtFault);
  }
  const std::uint8_t type = prescribed_type(e.header, e.entry.kind);
  if (type != 0 && type != e.entry.element_type) {
    return e.bad(Errc::kElementType, kField, "element type is ", type_text(e.entry.element_type),
                 ", but its kind takes ", type_text(type), " in this file", kWriterAtFault);
  }
  return std::nullopt;
}

std::optional<Error> check_scope(const Entry& e) {
  constexpr std::size_t kField = offsetof(SectionEntry, scope);
  const std::uint8_t scope = e.entry.scope;
  if (scope < number(Scope::kFile) || scope > number(Scope::kToken)) {
    return e.bad(Errc::kScope, kField, "scope is ", scope, ", expected 1 to 4", kWriterAtFault);
  }
  const KindRule* rule = built_in_rule(e.entry.kind);
  if (rule != nullptr && number(rule->scope) != scope) {
    return e.bad(Errc::kScope, kField, "scope is ", scope_text(scope), ", but its kind takes ",
                 scope_text(number(rule->scope)), kWriterAtFault);
  }
  const bool ragged =
      is_kind(e.entry, SectionKind::kColumnOffsets) || is_kind(e.entry, SectionKind::kColumnValues);
  if (ragged && scope == number(Scope::kFile)) {
    return e.bad(Errc::kScope, kField, "scope is 1 (file), but a ragged column takes 2, 3 or 4",
                 kWriterAtFault);
  }
  return std::nullopt;
}

std::optional<Error> check_flags_and_width(const Entry& e) {
  if ((e.entry.flags & kSectionReservedFlags) != 0) {
    return e.bad(Errc::kSectionFlags, offsetof(SectionEntry, flags), "flags are ", hex(e.entry.flags),
                 ", but bits 1 to 7 must be 0", kWriterAtFault);
  }
  const bool one = built_in_rule(e.entry.kind) != nullptr || is_kind(e.entry, SectionKind::kColumnOffsets);
  if (e.entry.width == 0 || (one && e.entry.width != 1)) {
    return e.bad(Errc::kSectionWidth, offsetof(SectionEntry, width), "width is ", e.entry.width,
                 ", expected ", one ? "1" : "at least 1", kWriterAtFault);
  }
  return std::nullopt;
}

std::optional<Error> check_name(const Entry& e) {
  constexpr std::size_t kField = offsetof(SectionEntry, name);
  const std::string_view name = e.entry.name_view();
  const auto& field = e.entry.name;
  const bool padded = std::all_of(field.begin() + static_cast<std::ptrdiff_t>(name.size()), field.end(),
                                  [](char c) { return c == '\0'; });
  if (!padded || !valid_section_name(name)) {
    return e.bad(Errc::kSectionName, kField,
                 padded ? "its name is not 1 to 24 of a-z, 0-9 and _" : "its name is not padded with zeros",
                 kWriterAtFault);
  }
  const KindRule* rule = built_in_rule(e.entry.kind);
  if (rule != nullptr && rule->name != name) {
    return e.bad(Errc::kSectionName, kField, "a section of kind ", e.entry.kind, " has the name ",
                 quoted(rule->name), kWriterAtFault);
  }
  if (rule == nullptr && std::any_of(kBuiltInKinds.begin(), kBuiltInKinds.end(),
                                     [&](const KindRule& r) { return r.name == name; })) {
    return e.bad(Errc::kSectionName, kField, "a section of kind ", e.entry.kind,
                 " may not have the name of a built-in one", kWriterAtFault);
  }
  return std::nullopt;
}

/// `expected` is where the section before this one makes it start.
std::optional<Error> check_place(const Entry& e, std::uint64_t expected) {
  constexpr std::size_t kField = offsetof(SectionEntry, offset);
  const std::uint64_t offset = e.entry.offset;
  if (offset % kPageBytes != 0) {
    return e.bad(Errc::kSectionUnaligned, kField, "offset is ", offset, ", expected a multiple of ",
                 kPageBytes, kWriterAtFault);
  }
  if (offset < expected) {
    return e.bad(Errc::kSectionOverlap, kField, "offset is ", offset, ", but what precedes it reaches to ",
                 expected, kWriterAtFault);
  }
  if (offset > expected) {
    return e.bad(Errc::kSectionGap, kField, "offset is ", offset, ", expected ", expected,
                 ", the first page after what precedes it", kWriterAtFault);
  }
  if (!in_bounds(offset, e.entry.length, e.header.file_size)) {
    return e.bad(Errc::kSectionPastEnd, offsetof(SectionEntry, length), "offset ", offset, " and length ",
                 e.entry.length, " pass the end of the file at ", e.header.file_size, kWriterAtFault);
  }
  return std::nullopt;
}

/// Rows that the counts prescribe. nullopt: as many as the length holds.
/// The counts are at most 2^62 each, so no sum here wraps.
std::optional<std::uint64_t> prescribed_rows(const Header& header, const SectionEntry& entry) noexcept {
  switch (static_cast<SectionKind>(entry.kind)) {
    case SectionKind::kPackTokenOffsets:
    case SectionKind::kPackSequenceOffsets:
      return header.packs + 1;
    case SectionKind::kCuSeqlens:
      return header.sequences + header.packs;
    case SectionKind::kLossBits:
      return loss_bits_length(header.tokens, header.packs);
    case SectionKind::kColumnOffsets:
      return scope_rows(header, static_cast<Scope>(entry.scope)) + 1;
    case SectionKind::kColumnValues:
    case SectionKind::kMetadata:
    case SectionKind::kChecksums:
      return std::nullopt;
    default:
      if (entry.scope == number(Scope::kFile)) return std::nullopt;
      return scope_rows(header, static_cast<Scope>(entry.scope));
  }
}

std::optional<Error> check_length(const Entry& e) {
  if (!is_known(e.entry.kind)) return std::nullopt;
  constexpr std::size_t kField = offsetof(SectionEntry, length);
  const std::uint64_t row_bytes = std::uint64_t{e.entry.width} * element_bytes(e.entry.element_type);
  const std::uint64_t length = e.entry.length;
  const auto rows = prescribed_rows(e.header, e.entry);
  if (length % row_bytes != 0) {
    return e.bad(Errc::kSectionLength, kField, "length is ", length, ", expected a multiple of its rows of ",
                 row_bytes, " bytes", kWriterAtFault);
  }
  if (rows && length / row_bytes != *rows) {
    return e.bad(Errc::kSectionLength, kField, "length is ", length, " bytes, ", length / row_bytes,
                 " rows, but the header's counts make it ", *rows, " rows of ", row_bytes, " bytes",
                 kWriterAtFault);
  }
  return std::nullopt;
}

}  // namespace

const KindRule* built_in_rule(std::uint16_t kind) noexcept {
  for (const KindRule& rule : kBuiltInKinds) {
    if (static_cast<std::uint16_t>(rule.kind) == kind) return &rule;
  }
  return nullptr;
}

std::string section_label(std::size_t i, const SectionEntry& entry) {
  return concat("section ", i, ' ', quoted(entry.name_view()));
}

std::optional<Error> check_entries(const Header& header, std::span<const SectionEntry> entries) {
  std::uint64_t expected = header.header_bytes;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry e{header, entries[i], i};
    for (const auto check :
         {check_kind, check_element_type, check_scope, check_flags_and_width, check_name}) {
      if (auto error = check(e)) return error;
    }
    if (auto error = check_place(e, expected)) return error;
    if (auto error = check_length(e)) return error;
    // In bounds of a file of at most 2^62 bytes, so neither sum nor rounding wraps.
    expected = page_up(entries[i].offset + entries[i].length);
  }
  return std::nullopt;
}

}  // namespace tokpack::format::detail
