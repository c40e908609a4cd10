// The pure parser of page 0: bytes in, a validated description of the file out. No I/O, no logging.
//
// After parse_page0 every section lies within the file, has exactly the length that the counts make it, and
// every count is bounded by its own section; nothing else has been read. Boundaries inside sections are
// checked by the functions below when a pack is asked for.
//
// Errors: codes 1..49. Threads: pure functions.
//
//   auto layout = parse_page0(first_bytes, file_size);
//   const SectionEntry* tokens = layout->find(SectionKind::kTokens);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tokpack/format/bytes.h"
#include "tokpack/format/layout.h"
#include "tokpack/format/result.h"

namespace tokpack::format {

/// A column: one fixed section, or offsets and values.
struct ColumnInfo {
  std::uint16_t section = 0;             ///< index of the column's (or its values') entry
  std::optional<std::uint16_t> offsets;  ///< index of the offsets' entry when ragged
};

struct FileLayout {
  Header header{};
  std::vector<SectionEntry> sections;
  std::vector<ColumnInfo> columns;                         ///< in file order
  std::array<std::int32_t, kLastKnownKind + 1> by_kind{};  ///< index of a built-in kind's entry or -1

  const SectionEntry* find(SectionKind kind) const noexcept {
    const std::int32_t i = by_kind[static_cast<std::size_t>(kind)];
    return i < 0 ? nullptr : &sections[static_cast<std::size_t>(i)];
  }
  /// The column of this name, or nullptr.
  const ColumnInfo* find_column(std::string_view name) const noexcept;
};

/// How many bytes page 0 takes, from the first 4096 (or fewer) bytes of a file of `file_size` bytes. Checks
/// size, magic, version and header_bytes, so that a caller without a mapping knows what to read.
Result<std::uint32_t> page0_bytes(Bytes first_page, std::uint64_t file_size);

/// Parses and validates page 0. `page0` holds at least page0_bytes() bytes (a whole mapping will do).
Result<FileLayout> parse_page0(Bytes page0, std::uint64_t file_size);

/// Rows that a scope has in this file. REQUIRES: scope is not kFile.
std::uint64_t scope_rows(const Header& header, Scope scope) noexcept;

/// Token and sequence ranges of one pack, checked: begin <= end <= count, within the capacity, at least one
/// sequence. `token_offsets` and `sequence_offsets` are the pair [p], [p+1] of each section.
struct PackBounds {
  std::uint64_t token_begin, token_end, sequence_begin, sequence_end;
};
Result<PackBounds> check_pack_bounds(const Header& header, std::uint64_t pack,
                                     std::span<const std::uint64_t, 2> token_offsets,
                                     std::span<const std::uint64_t, 2> sequence_offsets);

/// Checks a pack's cu_seqlens: first 0, strictly increasing, last = tokens. `cu_seqlens` has sequences + 1
/// entries. Returns the index of the first bad entry, or -1 when all is well: cheap enough for every access.
std::int64_t check_cu_seqlens(std::span<const std::int32_t> cu_seqlens, std::uint64_t tokens) noexcept;

/// Section names: 1 to 24 of [a-z0-9_].
bool valid_section_name(std::string_view name) noexcept;

}  // namespace tokpack::format
