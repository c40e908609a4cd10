// What stands beside padded rows: intervals of attention, and columns.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
namespace {

constexpr std::int32_t kNoSequences[] = {0};

Error bad_options(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

std::optional<std::size_t> column_named(const Reader& reader, std::string_view name) noexcept {
  const format::FileLayout& layout = reader.layout();
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    if (layout.sections[layout.columns[c].section].name_view() == name) return c;
  }
  return std::nullopt;
}

/// The prefixes of a pack's sequences, as int32.
Result<void> load_prefixes(const PackRef& pack, std::size_t column, std::vector<std::int32_t>& out) {
  const auto rows = pack.column(column);
  if (!rows) return rows.error();
  out.resize(pack.sequences());
  std::memcpy(out.data(), rows->values.data(), rows->values.size());  // u32 by the format; the builder checks
  return {};
}

}  // namespace

Result<void> fill_row_intervals(const Reader& reader, std::span<const std::uint64_t> packs,
                                std::uint32_t row_length, const IntervalOptions& options, std::int32_t* lo,
                                std::int32_t* hi) try {
  IntervalOptions of_row = options;
  std::optional<std::size_t> column;
  if (options.family == MaskFamily::kPrefixLm) {
    column = column_named(reader, "prefix_len");
    if (!column) {
      return bad_options(fmt::format(
          "{}: prefix-LM masks need the column prefix_len, which the file does not have; pack with "
          "--column prefix_len:u32@sequence",
          detail::quoted(reader.path())));
    }
  }
  PackBuffer buffer;
  std::vector<std::int32_t> prefixes;
  for (std::size_t row = 0; row < packs.size(); ++row) {
    const std::size_t at = row * row_length;
    std::span<const std::int32_t> boundaries = kNoSequences;
    std::optional<Result<PackRef>> pack;  // keeps what `boundaries` looks at
    prefixes.clear();
    if (packs[row] != Sampler::kNoPack) {
      pack.emplace(reader.pack(packs[row], buffer));
      if (!pack->ok()) return std::move(*pack).error();
      const PackRef& found = pack->value();
      boundaries = found.cu_seqlens();
      if (column) {
        if (auto ok = load_prefixes(found, *column, prefixes); !ok) return ok;
      }
    }
    of_row.prefixes = prefixes;
    auto built = build_row_intervals(
        boundaries, of_row, {lo + at, row_length},
        hi != nullptr ? std::span<std::int32_t>(hi + at, row_length) : std::span<std::int32_t>());
    if (!built) {
      Error error = std::move(built).error();
      error.detail = fmt::format("{}, pack {}: {}", detail::quoted(reader.path()), packs[row], error.detail);
      return error;
    }
  }
  return {};
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for row intervals");
}

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
  const std::size_t row_bytes = item_bytes * items;
  if (out.size() != row_bytes * packs.size()) {
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
