#include "tokpack/core/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "reader_state.h"
#include "reader_text.h"

namespace tokpack {

using detail::ReaderState;
using format::FileLayout;
using format::SectionEntry;
using format::SectionKind;

Result<Reader> Reader::open(const std::string& path, const ReaderOptions& options) try {
  auto state = detail::open_state(path, options);
  if (state) return Reader(std::move(state).value());
  Error error = std::move(state).error();
  // The parser knows bytes alone; the system's errors name the file already.
  if (error.code < Errc::kIo) error.detail = fmt::format("{}: {}", detail::quoted(path), error.detail);
  return error;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to open a file");
}

Reader::Reader(std::shared_ptr<const ReaderState> state) noexcept : state_(std::move(state)) {}

const format::Header& Reader::header() const& noexcept { return state_->layout.header; }
const FileLayout& Reader::layout() const& noexcept { return state_->layout; }
ReadMode Reader::mode() const noexcept { return state_->mapped() ? ReadMode::kMmap : ReadMode::kPread; }
const std::string& Reader::path() const& noexcept { return state_->path; }

bool Reader::is_ragged(std::size_t column) const noexcept {
  const auto& columns = state_->layout.columns;
  return column < columns.size() && columns[column].offsets.has_value();
}

Result<PackView> Reader::pack(std::uint64_t p) const try {
  return state_->pack(state_, p);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a pack");
}

Result<PackRef> Reader::pack(std::uint64_t p, PackBuffer& buffer) const& try {
  return state_->pack(p, buffer);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a pack");
}

Result<SequenceLocation> Reader::locate(std::uint64_t sequence) const try {
  const format::Header& header = state_->layout.header;
  if (sequence >= header.sequences) {
    return Error{Errc::kSequenceRange, Error::kNoOffset,
                 fmt::format("{}: there is no sequence {}: the file has {} (numbered from 0)",
                             detail::quoted(state_->path), sequence, header.sequences)};
  }
  // The last pack that begins at or before the sequence. Hostile offsets need not ascend: the search ends in
  // some pack all the same, and what it finds is checked.
  std::uint64_t low = 0, high = header.packs;  // begin(low) <= sequence < begin(high), were they in order
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto pair = state_->offset_pair(SectionKind::kPackSequenceOffsets, middle);
    if (!pair) return std::move(pair).error();
    (pair.value()[0] <= sequence ? low : high) = middle;
  }
  auto pair = state_->offset_pair(SectionKind::kPackSequenceOffsets, low);
  if (!pair) return std::move(pair).error();
  const auto [begin, end] = pair.value();
  if (sequence < begin || sequence >= end || end - begin > header.capacity) {
    const SectionEntry* entry = state_->layout.find(SectionKind::kPackSequenceOffsets);
    return Error{
        Errc::kPackSequenceOffsets, entry->offset + low * sizeof(std::uint64_t),
        fmt::format("{}: pack_sequence_offsets do not ascend: sequence {} should be in pack {}, which "
                    "says {} to {}; run tokpack verify",
                    detail::quoted(state_->path), sequence, low, begin, end)};
  }
  return SequenceLocation{low, sequence - begin};
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to find a sequence");
}

Result<SequenceView> Reader::sequence(std::uint64_t j) const try {
  auto where = locate(j);
  if (!where) return std::move(where).error();
  auto view = pack(where->pack);
  if (!view) return std::move(view).error();
  if (where->index_in_pack >= view->sequences()) {  // pread: the file changed in between
    return Error{Errc::kFileChanged, Error::kNoOffset, "the pack offsets changed while they were read"};
  }
  return SequenceView(std::move(view).value(), static_cast<std::size_t>(where->index_in_pack));
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a sequence");
}

Result<Reader::SectionBytes> Reader::section(std::size_t index) const {
  const auto& sections = state_->layout.sections;
  return section_part(index, 0, index < sections.size() ? sections[index].length : 0);
}

Result<Reader::SectionBytes> Reader::section_part(std::size_t index, std::uint64_t offset,
                                                  std::uint64_t length) const try {
  const auto& sections = state_->layout.sections;
  if (index >= sections.size() || !format::in_bounds(offset, length, sections[index].length)) {
    return Error{Errc::kOptions, Error::kNoOffset,
                 fmt::format("{}: there are no {} bytes from byte {} of section {}",
                             detail::quoted(state_->path), length, offset, index)};
  }
  return state_->part(sections[index], offset, length);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a section");
}

Result<std::string> Reader::metadata_json() const try {
  const SectionEntry* entry = state_->layout.find(SectionKind::kMetadata);
  if (entry == nullptr) return std::string("{}");
  auto part = state_->part(*entry, 0, entry->length);
  if (!part) return std::move(part).error();
  std::string text(part->bytes.size(), '\0');
  std::copy(part->bytes.begin(), part->bytes.end(), std::as_writable_bytes(std::span(text)).begin());
  return text;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for the metadata");
}

Result<ColumnView> Reader::file_column(std::size_t index) const try {
  return state_->column(state_, index, nullptr);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a column");
}

void Reader::advise(AccessHint hint, std::uint64_t first_pack, std::uint64_t packs) const noexcept try {
  const ReaderState& state = *state_;
  const format::Header& header = state.layout.header;
  if (first_pack >= header.packs || packs == 0) return;
  const std::uint64_t last_pack = first_pack + std::min(packs, header.packs - first_pack);
  const auto begin = state.offset_pair(SectionKind::kPackTokenOffsets, first_pack);
  const auto end = state.offset_pair(SectionKind::kPackTokenOffsets, last_pack - 1);
  if (!begin || !end) return;
  const std::uint64_t first = std::min(begin.value()[0], header.tokens);
  const std::uint64_t last = std::clamp(end.value()[1], first, header.tokens);
  // The three arrays that grow with the tokens; the others are small beside them.
  const SectionEntry* tokens = state.layout.find(SectionKind::kTokens);
  const std::uint64_t width = format::element_bytes(header.token_type);
  state.advise(hint, tokens->offset + first * width, (last - first) * width);
  if (const SectionEntry* labels = state.layout.find(SectionKind::kLabels)) {
    state.advise(hint, labels->offset + first * 4, (last - first) * 4);
  }
  if (const SectionEntry* bits = state.layout.find(SectionKind::kLossBits)) {
    state.advise(hint, bits->offset + format::loss_bits_begin(first, first_pack),
                 (last - first) / 8 + (last_pack - first_pack));
  }
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace tokpack
