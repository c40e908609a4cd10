// Columns beside padded rows.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
namespace {

Error bad_options(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

}  // namespace

Result<void> fill_column_rows(const Reader& reader, std::span<const std::uint64_t> packs, std::size_t column,
                              std::uint32_t items, std::span<std::byte> out) try {
  const format::FileLayout& layout = reader.layout();
  if (column >= layout.columns.size()) {
    return Error{Errc::kColumnRange, Error::kNoOffset,
                 fmt::format("{}: there is no column {}: the file has {} columns (numbered from 0)",
                             detail::quoted(reader.path()), column, layout.columns.size())};
  }
  const format::SectionEntry& entry = layout.sections[layout.columns[column].section];
  const std::string name = detail::quoted(entry.name_view());
  if (layout.columns[column].offsets || Scope{entry.scope} == Scope::kFile) {
    return bad_options(
        fmt::format("column {} is {}; only columns with the same rows for every item have a "
                    "padded form",
                    name, layout.columns[column].offsets ? "ragged" : "of scope file"));
  }
  const std::size_t item_bytes = std::size_t{format::element_bytes(entry.element_type)} * entry.width;
  const std::size_t row_bytes = item_bytes * items;  // below 2^32 x 2^20
  const bool fits = row_bytes == 0 || packs.size() <= std::numeric_limits<std::size_t>::max() / row_bytes;
  if (!fits || out.size() != row_bytes * packs.size()) {
    return bad_options(
        fmt::format("a buffer of {} bytes for column {}, expected {} ({} rows x {} items x {})", out.size(),
                    name, row_bytes * packs.size(), packs.size(), items, item_bytes));
  }
  PackBuffer buffer;
  for (std::size_t row = 0; row < packs.size(); ++row) {
    const std::span<std::byte> to = out.subspan(row * row_bytes, row_bytes);
    std::size_t filled = 0;
    if (packs[row] != Sampler::kNoPack) {
      const auto pack = reader.pack(packs[row], buffer);
      if (!pack) return pack.error();
      const auto rows = pack->column(column);
      if (!rows) return rows.error();
      if (rows->rows > items) {
        return bad_options(fmt::format("{}: pack {} has {} rows in column {}, more than {} items",
                                       detail::quoted(reader.path()), packs[row], rows->rows, name, items));
      }
      filled = rows->values.size();
      std::copy(rows->values.begin(), rows->values.end(), to.begin());
    }
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(filled), to.end(), std::byte{0});
  }
  return {};
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a column");
}

}  // namespace tokpack
