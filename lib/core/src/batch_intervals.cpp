#include <fmt/format.h>

#include <cstring>

#include "batch_fill.h"
#include "reader_text.h"

namespace tokpack::detail {
namespace {

std::optional<std::size_t> column_named(const Reader& reader, std::string_view name) noexcept {
  const format::FileLayout& layout = reader.layout();
  for (std::size_t c = 0; c < layout.columns.size(); ++c) {
    if (layout.sections[layout.columns[c].section].name_view() == name) return c;
  }
  return std::nullopt;
}

}  // namespace

Result<IntervalFiller> IntervalFiller::create(const Reader& reader, const IntervalOptions& options) {
  IntervalFiller filler(options);
  if (options.family != MaskFamily::kPrefixLm) return filler;
  filler.prefix_column_ = column_named(reader, "prefix_len");
  if (filler.prefix_column_) return filler;
  return Error{
      Errc::kOptions, Error::kNoOffset,
      fmt::format("{}: prefix-LM masks need the column prefix_len, which the file does not have; pack "
                  "with --column prefix_len:u32@sequence",
                  quoted(reader.path()))};
}

Result<void> IntervalFiller::load_prefixes(const PackRef& pack) {
  const auto rows = pack.column(*prefix_column_);
  if (!rows) return rows.error();
  prefixes_.resize(pack.sequences());
  if (rows->values.size() != prefixes_.size() * sizeof(std::int32_t)) {  // the format allows it to be ragged
    return Error{
        Errc::kOptions, Error::kNoOffset,
        fmt::format("the column prefix_len of pack {} has {} bytes for {} sequences; prefix-LM masks need "
                    "one u32 for each",
                    pack.pack(), rows->values.size(), prefixes_.size())};
  }
  std::memcpy(prefixes_.data(), rows->values.data(), rows->values.size());  // ranges: build_row_intervals
  return {};
}

Result<void> IntervalFiller::fill(const PackRef* pack, std::span<std::int32_t> lo,
                                  std::span<std::int32_t> hi) {
  static constexpr std::int32_t kNoSequences[] = {0};
  prefixes_.clear();
  if (pack != nullptr && prefix_column_) {
    if (auto ok = load_prefixes(*pack); !ok) return ok;
  }
  options_.prefixes = prefixes_;
  return build_row_intervals(pack != nullptr ? pack->cu_seqlens() : kNoSequences, options_, lo, hi);
}

}  // namespace tokpack::detail
