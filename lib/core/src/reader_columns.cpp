// Columns: rows of one pack, fixed or ragged, in place or read.
#include <fmt/format.h>

#include <new>
#include <utility>

#include "reader_state.h"
#include "reader_text.h"

namespace tokpack {
namespace detail {

using format::SectionEntry;

namespace {

struct Rows {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

/// Which rows of a column of this scope belong to the view's pack.
Rows rows_of(Scope scope, const PackRef& view) noexcept {
  switch (scope) {
    case Scope::kPack:
      return {view.pack(), 1};
    case Scope::kSequence:
      return {view.first_sequence(), view.sequences()};
    case Scope::kToken:
      return {view.first_token(), view.tokens().size()};
    case Scope::kFile:
      break;
  }
  return {};
}

/// One owner of two things.
std::shared_ptr<const void> both(std::shared_ptr<const void> a, std::shared_ptr<const void> b) {
  using Pair = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  return std::make_shared<Pair>(std::move(a), std::move(b));
}

Error no_such_column(const ReaderState& state, std::size_t index, const char* kind) {
  return {Errc::kColumnRange, Error::kNoOffset,
          fmt::format("{}: there is no {}column {}: the file has {} columns (numbered from 0)",
                      quoted(state.path), kind, index, state.layout.columns.size())};
}

/// Checks the offsets of some rows: they ascend within the values, begin at 0 and end at their count.
Result<void> check_ragged(const ReaderState& state, const SectionEntry& entry, Rows rows,
                          std::uint64_t all_rows, std::span<const std::uint64_t> offsets,
                          std::uint64_t values) {
  const auto bad = [&](std::uint64_t i, std::string_view why) {
    return Error{
        Errc::kRaggedOffsets, entry.offset + (rows.begin + i) * sizeof(std::uint64_t),
        fmt::format("{}: the offsets of column {} {}: row {} says {}, of {} values; run tokpack verify",
                    quoted(state.path), quoted(entry.name_view()), why, rows.begin + i, offsets[i], values)};
  };
  if (rows.begin == 0 && offsets[0] != 0) return bad(0, "do not begin at 0");
  std::uint64_t last = offsets[0];
  for (std::uint64_t i = 0; i <= rows.count; ++i) {
    if (offsets[i] < last) return bad(i, "do not ascend");
    if (offsets[i] > values) return bad(i, "run past the values");
    last = offsets[i];
  }
  if (rows.begin + rows.count == all_rows && last != values)
    return bad(rows.count, "do not end at the last value");
  return {};
}

}  // namespace

Result<ColumnView> ReaderState::column(const std::shared_ptr<const void>& owner, std::size_t index,
                                       const PackRef* view) const {
  if (index >= layout.columns.size()) return no_such_column(*this, index, "");
  const format::ColumnInfo& info = layout.columns[index];
  const SectionEntry& entry = layout.sections[info.section];
  ColumnView out;
  out.name = entry.name_view();
  out.type = ElementType{entry.element_type};
  out.scope = Scope{entry.scope};
  out.width = entry.width;
  out.ragged = info.offsets.has_value();
  const std::uint64_t row_bytes = std::uint64_t{format::element_bytes(entry.element_type)} * entry.width;

  if (out.scope == Scope::kFile) {  // never ragged: the parser sees to it
    out.rows = entry.length / row_bytes;
    auto all = part(entry, 0, entry.length);
    if (!all) return std::move(all).error();
    out.values = all->bytes;
    out.owner = mapped() ? owner : both(owner, std::move(all->owner));
  } else {
    if (view == nullptr) return no_such_column(*this, index, "file-wide ");
    const Rows rows = rows_of(out.scope, *view);
    out.rows = rows.count;
    Rows values = rows;
    std::shared_ptr<const void> offsets_owner;
    if (out.ragged) {
      const SectionEntry& offsets_entry = layout.sections[*info.offsets];
      auto read =
          part(offsets_entry, rows.begin * sizeof(std::uint64_t), (rows.count + 1) * sizeof(std::uint64_t));
      if (!read) return std::move(read).error();
      out.offsets = format::view<std::uint64_t>(read->bytes, 0, rows.count + 1);
      offsets_owner = std::move(read->owner);
      auto checked = check_ragged(*this, offsets_entry, rows, format::scope_rows(layout.header, out.scope),
                                  out.offsets, entry.length / row_bytes);
      if (!checked) return checked.error();
      values = {out.offsets.front(), out.offsets.back() - out.offsets.front()};
    }
    auto read = part(entry, values.begin * row_bytes, values.count * row_bytes);
    if (!read) return std::move(read).error();
    out.values = read->bytes;
    out.owner = mapped() ? owner : both(both(owner, std::move(offsets_owner)), std::move(read->owner));
  }
  return out;
}

}  // namespace detail

Result<ColumnView> PackRef::column(std::size_t index) const try {
  return arrays_->state->column(nullptr, index, this);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a column");
}

Result<ColumnView> PackView::column(std::size_t index) const try {
  return arrays_->state->column(owner_, index, this);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a column");
}

}  // namespace tokpack
