// The steps of parse_page0, one file each. Every function returns the first fault it finds, or nothing.
#pragma once

#include <optional>
#include <span>

#include "tokpack/format/bytes.h"
#include "tokpack/format/layout.h"
#include "tokpack/format/parse.h"

namespace tokpack::format::detail {

/// Why these first bytes, which are not the magic, are refused: another kind of file, recognised where that
/// is possible, or a magic damaged by a copy. `head` is what there is of the first 4096 bytes.
Error foreign_file(Bytes head, std::uint64_t file_size);

/// Fields of the header from token_type on. REQUIRES: magic to file_size have been checked.
std::optional<Error> check_header_fields(const Header& header);

/// Each entry on its own, and its place after the one before it.
std::optional<Error> check_entries(const Header& header, std::span<const SectionEntry> entries);

/// The table as a whole: the checksums' length, duplicates, presence, order, columns, the end of the file.
/// Fills `columns` and `by_kind` of `layout`. REQUIRES: check_entries found nothing.
std::optional<Error> check_table(FileLayout& layout);

inline bool is_kind(const SectionEntry& entry, SectionKind kind) noexcept {
  return entry.kind == static_cast<std::uint16_t>(kind);
}
/// The rule of a built-in kind; nullptr for columns and unknown kinds.
const KindRule* built_in_rule(std::uint16_t kind) noexcept;

/// Byte offset in the file of a field of entry i.
constexpr std::uint64_t entry_offset(std::size_t i, std::size_t field) noexcept {
  return sizeof(Header) + i * sizeof(SectionEntry) + field;
}
/// `section 3 "cu_seqlens"`.
std::string section_label(std::size_t i, const SectionEntry& entry);

}  // namespace tokpack::format::detail
