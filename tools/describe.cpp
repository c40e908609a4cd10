#include "describe.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "tokpack/format/layout.h"

namespace tokpack::tools {

namespace {

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31;
  const std::uint32_t exponent = bits >> 10 & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float tiny = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? tiny : -tiny;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <typename T>
T element(const ColumnView& column, std::uint64_t index) {
  return format::load<T>(column.values, index * sizeof(T));
}

std::string float_text(float value, bool stored_precision) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  if (value == 0 && std::signbit(value)) return "-0.0";  // "-0" is the integer 0
  if (!stored_precision) return python_number(static_cast<double>(value));
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

void append_element(std::string& out, const ColumnView& column, std::uint64_t index, bool stored_precision) {
  switch (column.type) {
    case ElementType::kU8:
    case ElementType::kBytes:
      out += std::to_string(element<std::uint8_t>(column, index));
      return;
    case ElementType::kU16:
      out += std::to_string(element<std::uint16_t>(column, index));
      return;
    case ElementType::kU32:
      out += std::to_string(element<std::uint32_t>(column, index));
      return;
    case ElementType::kU64:
      out += std::to_string(element<std::uint64_t>(column, index));
      return;
    case ElementType::kI32:
      out += std::to_string(element<std::int32_t>(column, index));
      return;
    case ElementType::kI64:
      out += std::to_string(element<std::int64_t>(column, index));
      return;
    case ElementType::kF16:
      out += float_text(half_to_float(element<std::uint16_t>(column, index)), stored_precision);
      return;
    case ElementType::kBF16: {
      const std::uint32_t bits = std::uint32_t{element<std::uint16_t>(column, index)} << 16;
      out += float_text(std::bit_cast<float>(bits), stored_precision);
      return;
    }
    case ElementType::kF32:
      out += float_text(element<float>(column, index), stored_precision);
      return;
  }
  out += "null";
}

/// One row of `width` elements.
void append_cells(std::string& out, const ColumnView& column, std::uint64_t row, bool stored_precision) {
  if (column.width == 1) {
    append_element(out, column, row, stored_precision);
    return;
  }
  out += '[';
  for (std::uint64_t i = 0; i < column.width; ++i) {
    if (i > 0) out += ',';
    append_element(out, column, row * column.width + i, stored_precision);
  }
  out += ']';
}

}  // namespace

std::string_view type_name(const format::SectionEntry& entry) noexcept {
  return format::element_type_name(static_cast<ElementType>(entry.element_type));
}

std::string_view scope_name(const format::SectionEntry& entry) noexcept {
  return format::scope_name(static_cast<Scope>(entry.scope));
}

std::string kind_name(std::uint16_t kind) {
  const std::string_view name = format::section_kind_name(kind);
  return name == "unknown" ? fmt::format("unknown_{}", kind) : std::string(name);
}

const format::SectionEntry& column_entry(const Reader& reader, std::size_t index) noexcept {
  return reader.layout().sections[reader.layout().columns[index].section];
}

std::string column_text(const Reader& reader, std::size_t index) {
  const format::ColumnInfo& info = reader.layout().columns[index];
  const format::SectionEntry& entry = column_entry(reader, index);
  // A ragged column's scope stands with its offsets: there is one per row.
  const format::SectionEntry& scoped = info.offsets ? reader.layout().sections[*info.offsets] : entry;
  std::string text = fmt::format("{} {}", entry.name_view(), type_name(entry));
  if (entry.width > 1) text += fmt::format("x{}", entry.width);
  if (info.offsets) text += "[]";
  return fmt::format("{}@{}", text, scope_name(scoped));
}

void append_row(std::string& out, const ColumnView& column, std::uint64_t row, bool stored_precision) {
  std::uint64_t first = row;
  std::uint64_t last = row + 1;
  if (column.ragged) {
    first = column.offsets[row] - column.offsets[0];
    last = column.offsets[row + 1] - column.offsets[0];
  }
  if (column.type == ElementType::kBytes) {
    out += '"';
    for (std::uint64_t i = first * column.width; i < last * column.width; ++i)
      out += fmt::format("{:02x}", std::to_integer<unsigned>(column.values[i]));
    out += '"';
    return;
  }
  if (!column.ragged) {
    append_cells(out, column, row, stored_precision);
    return;
  }
  out += '[';
  for (std::uint64_t i = first; i < last; ++i) {
    if (i > first) out += ',';
    append_cells(out, column, i, stored_precision);
  }
  out += ']';
}

}  // namespace tokpack::tools
