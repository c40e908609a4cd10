#include "reader_state.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "reader_text.h"

namespace tokpack::detail {

using format::Bytes;
using format::PackBounds;
using format::SectionEntry;
using format::SectionKind;

namespace {

/// All of a section as an array in the mapped file; empty without such a section.
template <typename T>
std::span<const T> whole(const ReaderState& state, SectionKind kind) noexcept {
  const SectionEntry* entry = state.layout.find(kind);
  if (entry == nullptr) return {};
  return format::view<T>(state.mapping->bytes(), entry->offset, entry->length / sizeof(T));
}

template <typename Span, typename Narrow, typename Wide>
Span whole(const ReaderState& state, SectionKind kind) noexcept {
  const SectionEntry* entry = state.layout.find(kind);
  if (entry == nullptr) return {};
  return format::element_bytes(entry->element_type) == sizeof(Wide) ? Span(whole<Wide>(state, kind))
                                                                    : Span(whole<Narrow>(state, kind));
}

}  // namespace

Error bounds_error(const ReaderState& state, std::uint64_t p, Error error) {
  const SectionEntry* entry =
      state.layout.find(error.code == Errc::kPackSequenceOffsets ? SectionKind::kPackSequenceOffsets
                                                                 : SectionKind::kPackTokenOffsets);
  error.offset = entry->offset + p * sizeof(std::uint64_t);
  error.detail = fmt::format("{}: {}", quoted(state.path), error.detail);
  return error;
}

Error ReaderState::no_such_pack(std::uint64_t p) const {
  return {Errc::kPackRange, Error::kNoOffset,
          fmt::format("{}: there is no pack {}: the file has {} (numbered from 0)", quoted(path), p,
                      layout.header.packs)};
}

Error cu_seqlens_error(const ReaderState& state, const PackBounds& bounds, std::uint64_t p,
                       std::span<const std::int32_t> cu_seqlens, std::size_t bad) {
  const std::uint64_t index = format::cu_seqlens_begin(bounds.sequence_begin, p) + bad;
  return {Errc::kCuSeqlens, state.layout.find(SectionKind::kCuSeqlens)->offset + index * sizeof(std::int32_t),
          fmt::format(
              "{}: pack {} has cu_seqlens that do not go from 0 up to its {} tokens: entry {} of {} is {}; "
              "run tokpack verify",
              quoted(state.path), p, bounds.token_end - bounds.token_begin, bad, cu_seqlens.size(),
              cu_seqlens[bad])};
}

void ReaderState::bind_arrays() noexcept {
  const ReaderState& self = *this;
  pack_token_offsets = whole<std::uint64_t>(self, SectionKind::kPackTokenOffsets);
  pack_sequence_offsets = whole<std::uint64_t>(self, SectionKind::kPackSequenceOffsets);
  arrays.tokens = whole<TokenSpan, std::uint16_t, std::uint32_t>(self, SectionKind::kTokens);
  arrays.cu_seqlens = whole<std::int32_t>(self, SectionKind::kCuSeqlens).data();
  arrays.loss_bits = whole<std::uint8_t>(self, SectionKind::kLossBits).data();
  arrays.labels = whole<std::int32_t>(self, SectionKind::kLabels).data();
  arrays.targets = whole<std::uint32_t>(self, SectionKind::kTargets).data();
  arrays.sources = whole<SourceSpan, std::uint32_t, std::uint64_t>(self, SectionKind::kSources);
  arrays.first_token_positions = whole<std::uint32_t>(self, SectionKind::kFirstTokenPositions).data();
  arrays.tail_labels = whole<std::int32_t>(self, SectionKind::kTailLabels).data();
  arrays.label_kind = LabelKind{layout.header.label_kind};
  arrays.ignore_index = layout.header.ignore_index;
  arrays.state = this;
}

namespace {

/// A pack that was read, with all that its view needs.
struct OwnedPack {
  std::shared_ptr<const ReaderState> state;
  PackStorage storage;
};

}  // namespace

Result<PackView> ReaderState::pack(const std::shared_ptr<const ReaderState>& self, std::uint64_t p) const {
  if (mapped()) {
    auto pack = mapped_pack(p);
    if (!pack) return std::move(pack).error();
    return PackView(self, *pack);
  }
  auto owned = std::make_shared<OwnedPack>();
  owned->state = self;
  auto pack = read_pack(p, owned->storage);
  if (!pack) return std::move(pack).error();
  return PackView(std::move(owned), *pack);
}

Result<PackRef> ReaderState::pack(std::uint64_t p, PackBuffer& buffer) const {
  if (mapped()) return mapped_pack(p);
  if (buffer.storage_ == nullptr) buffer.storage_ = std::make_unique<PackStorage>();
  return read_pack(p, *buffer.storage_);
}

Result<PackRef> ReaderState::mapped_pack(std::uint64_t p) const {
  if (p >= layout.header.packs) return no_such_pack(p);
  auto checked = format::check_pack_bounds(layout.header, p, pack_token_offsets.subspan(p).first<2>(),
                                           pack_sequence_offsets.subspan(p).first<2>());
  if (!checked) return bounds_error(*this, p, std::move(checked).error());
  const PackBounds bounds = checked.value();
  const std::uint64_t tokens = bounds.token_end - bounds.token_begin;
  const std::uint64_t sequences = bounds.sequence_end - bounds.sequence_begin;
  const std::span<const std::int32_t> cu_seqlens(
      arrays.cu_seqlens + format::cu_seqlens_begin(bounds.sequence_begin, p), sequences + 1);
  if (const std::int64_t bad = format::check_cu_seqlens(cu_seqlens, tokens); bad >= 0) {
    return cu_seqlens_error(*this, bounds, p, cu_seqlens, static_cast<std::size_t>(bad));
  }
  return PackRef(&arrays, p, bounds.token_begin, static_cast<std::uint32_t>(tokens), bounds.sequence_begin,
                 static_cast<std::uint32_t>(sequences));
}

Result<Reader::SectionBytes> ReaderState::part(const SectionEntry& entry, std::uint64_t offset,
                                               std::uint64_t length) const {
  if (mapped()) {
    return Reader::SectionBytes{mapping->bytes().subspan(static_cast<std::size_t>(entry.offset + offset),
                                                         static_cast<std::size_t>(length)),
                                mapping};
  }
  const auto size = static_cast<std::size_t>(length);  // within the section, so within the file
  std::shared_ptr<std::byte[]> buffer(new std::byte[size]);
  if (auto read = file->read_at(entry.offset + offset, {buffer.get(), size}); !read) return read.error();
  const Bytes bytes(buffer.get(), size);
  return Reader::SectionBytes{bytes, std::move(buffer)};
}

Result<std::array<std::uint64_t, 2>> ReaderState::offset_pair(SectionKind kind, std::uint64_t index) const {
  const std::uint64_t offset = layout.find(kind)->offset + index * sizeof(std::uint64_t);
  std::array<std::uint64_t, 2> pair{};
  if (mapped()) {
    pair = format::load<std::array<std::uint64_t, 2>>(mapping->bytes(), offset);
  } else if (auto read = file->read_at(offset, std::as_writable_bytes(std::span(pair))); !read) {
    return read.error();
  }
  return pair;
}

}  // namespace tokpack::detail
