#include "window.h"

#include <algorithm>

namespace tokpack::detail {

Window::Window(std::span<const ColumnSpec> specs) {
  for (const ColumnSpec& spec : specs) {
    ColumnRows column;
    column.row_bytes = std::size_t{spec.width} * format::element_bytes(spec.type);
    column.scope = spec.scope;
    column.ragged = spec.ragged;
    columns.push_back(std::move(column));
  }
}

std::int32_t Window::label(std::size_t t, std::int32_t ignore_index) const noexcept {
  switch (label_kind) {
    case LabelKind::kExplicit:
      return labels[t];
    case LabelKind::kLossMask:
      if (!bits.get(t)) return ignore_index;
      break;
    case LabelKind::kAll:
      break;
  }
  return static_cast<std::int32_t>(token(t));
}

void Window::widen() {
  if (wide) return;
  wide = true;
  std::uint32_t* out = tokens32.extend(tokens16.size());
  for (std::size_t t = 0; t < tokens16.size(); ++t) out[t] = tokens16[t];
  tokens16.release();
}

void Window::set_label_kind(LabelKind kind, std::int32_t ignore_index) {
  if (kind == LabelKind::kExplicit && label_kind == LabelKind::kLossMask) {
    std::int32_t* out = labels.extend(tokens);
    for (std::size_t t = 0; t < tokens; ++t) out[t] = label(t, ignore_index);
    bits.release();
  }
  label_kind = kind;
}

void Window::match(const Window& other, std::int32_t ignore_index) {
  if (other.wide) widen();
  if (other.label_kind > label_kind) set_label_kind(other.label_kind, ignore_index);
}

RaggedRange ragged_range(const ColumnRows& column, std::size_t i) noexcept {
  return {i == 0 ? 0 : column.ends[i - 1], column.ends[i]};
}

void Window::append_part(const Window& other, std::size_t i, std::uint64_t start, Part part,
                         std::int32_t ignore_index) {
  const std::size_t n = sequences();
  const std::uint32_t first = part.first, length = part.length;
  const bool ends = first + length == other.lengths[i];
  lengths.push_back(length);
  sources.push_back(other.sources[i]);
  first_positions.set(n, other.first_positions.get(i) + first);
  tails.set(n, ends ? other.tails.get(i) : other.label(start + first + length, ignore_index));
  times_carried.set(n, part.times_carried);
  if (!other.groups.empty()) groups.push_back(other.groups[i]);
  start += first;
  if (wide) {
    tokens32.append(other.tokens32.data() + start, length);
  } else {
    tokens16.append(other.tokens16.data() + start, length);
  }
  if (label_kind == LabelKind::kLossMask) bits.append_from(other.bits, start, length);
  if (label_kind == LabelKind::kExplicit) labels.append(other.labels.data() + start, length);
  tokens += length;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnRows& from = other.columns[c];
    ColumnRows& to = columns[c];
    if (from.ragged) {
      const RaggedRange rows = ragged_range(from, i);
      to.values.append(from.values.data() + rows.first * from.row_bytes,
                       (rows.last - rows.first) * from.row_bytes);
      to.ends.push_back((to.ends.empty() ? 0 : to.ends.back()) + rows.last - rows.first);
    } else if (from.scope == Scope::kToken) {
      to.values.append(from.values.data() + start * from.row_bytes, length * from.row_bytes);
    } else {
      to.values.append(from.values.data() + i * from.row_bytes, from.row_bytes);
    }
  }
}

void Window::clear() noexcept {
  lengths.clear();
  sources.clear();
  first_positions.clear();
  tails.clear();
  times_carried.clear();
  groups.clear();
  tokens16.clear();
  tokens32.clear();
  bits.clear();
  labels.clear();
  tokens = 0;
  for (ColumnRows& column : columns) {
    column.values.clear();
    column.ends.clear();
  }
}

}  // namespace tokpack::detail
