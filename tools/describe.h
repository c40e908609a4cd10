// Names and values of what a file holds, for people and for JSON: kinds, types, scopes, columns.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "json.h"
#include "tokpack/core/reader.h"
#include "tokpack/format/names.h"

namespace tokpack::tools {

std::string_view type_name(const format::SectionEntry& entry) noexcept;   ///< "u16"
std::string_view scope_name(const format::SectionEntry& entry) noexcept;  ///< "sequence"
std::string kind_name(std::uint16_t kind);                         ///< "cu_seqlens", "column", "unknown_99"
std::string column_text(const Reader& reader, std::size_t index);  ///< "embedding f32x4@token"

/// The index of a column's own (or its values') entry.
const format::SectionEntry& column_entry(const Reader& reader, std::size_t index) noexcept;

/// Appends row `row` as compact JSON: a number, an array for width > 1, an array of rows when ragged; a
/// string of hex digits for bytes. Floats as the shortest decimal: of the stored type (`stored_precision`),
/// or of the same value as binary64. Those that are not finite as "nan", "inf", "-inf".
void append_row(std::string& out, const ColumnView& column, std::uint64_t row, bool stored_precision);

}  // namespace tokpack::tools
