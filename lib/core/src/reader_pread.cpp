// pread mode: one buffer holds all of a pack (columns are read when they are asked for).
#include <array>
#include <memory>
#include <utility>

#include "reader_state.h"

namespace tokpack::detail {

using format::Bytes;
using format::PackBounds;
using format::SectionEntry;
using format::SectionKind;

namespace {

/// One slice to read: from `offset` in the file to `place` in the buffer.
struct Slice {
  std::uint64_t offset = 0;
  std::size_t place = 0;
  std::size_t length = 0;
};

/// Lays the slices of a pack out one after another, each at a multiple of 8.
class Slices {
 public:
  explicit Slices(const ReaderState& state) noexcept : state_(state) {}

  /// `rows` rows of `bytes` bytes from row `first`. Nothing when the file has no such section.
  std::size_t add(SectionKind kind, std::uint64_t first, std::uint64_t rows, std::uint64_t bytes) noexcept {
    const SectionEntry* entry = state_.layout.find(kind);
    Slice& slice = slices_[count_];
    if (entry != nullptr) {
      slice = {entry->offset + first * bytes, size_, static_cast<std::size_t>(rows * bytes)};
      size_ += (slice.length + 7) / 8 * 8;
    }
    return count_++;
  }
  std::size_t size() const noexcept { return size_; }
  Result<void> read(std::span<std::byte> buffer) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (slices_[i].length == 0) continue;
      auto read =
          state_.file->read_at(slices_[i].offset, buffer.subspan(slices_[i].place, slices_[i].length));
      if (!read) return read;
    }
    return {};
  }
  template <typename T>
  std::span<const T> view(Bytes buffer, std::size_t i) const noexcept {
    return format::view<T>(buffer, slices_[i].place, slices_[i].length / sizeof(T));
  }

 private:
  const ReaderState& state_;
  std::array<Slice, 8> slices_{};
  std::size_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

Result<PackRef> ReaderState::read_pack(std::uint64_t p, PackStorage& storage) const {
  if (p >= layout.header.packs) return no_such_pack(p);
  const auto token_pair = offset_pair(SectionKind::kPackTokenOffsets, p);
  if (!token_pair) return token_pair.error();
  const auto sequence_pair = offset_pair(SectionKind::kPackSequenceOffsets, p);
  if (!sequence_pair) return sequence_pair.error();
  auto checked = format::check_pack_bounds(layout.header, p, token_pair.value(), sequence_pair.value());
  if (!checked) return bounds_error(*this, p, std::move(checked).error());
  const PackBounds bounds = checked.value();
  const std::uint64_t tokens = bounds.token_end - bounds.token_begin;
  const std::uint64_t sequences = bounds.sequence_end - bounds.sequence_begin;

  // Every slice lies within its section, because the bounds lie within the counts that made the sections'
  // lengths; so the buffer is no larger than the file.
  const SectionEntry* source_entry = layout.find(SectionKind::kSources);
  const std::uint32_t token_bytes = format::element_bytes(layout.header.token_type);
  const std::uint32_t source_bytes = format::element_bytes(source_entry->element_type);
  Slices slices(*this);
  const std::size_t token_slice = slices.add(SectionKind::kTokens, bounds.token_begin, tokens, token_bytes);
  const std::size_t cu_slice = slices.add(
      SectionKind::kCuSeqlens, format::cu_seqlens_begin(bounds.sequence_begin, p), sequences + 1, 4);
  const std::size_t bit_slice =
      slices.add(SectionKind::kLossBits, format::loss_bits_begin(bounds.token_begin, p), (tokens + 7) / 8, 1);
  const std::size_t label_slice = slices.add(SectionKind::kLabels, bounds.token_begin, tokens, 4);
  const std::size_t target_slice = slices.add(SectionKind::kTargets, p, 1, 4);
  const std::size_t source_slice =
      slices.add(SectionKind::kSources, bounds.sequence_begin, sequences, source_bytes);
  const std::size_t position_slice =
      slices.add(SectionKind::kFirstTokenPositions, bounds.sequence_begin, sequences, 4);
  const std::size_t tail_slice = slices.add(SectionKind::kTailLabels, bounds.sequence_begin, sequences, 4);

  if (storage.size < slices.size()) {
    storage.size = 0;
    storage.bytes.reset(new std::byte[slices.size()]);  // not value-initialised: it is filled at once
    storage.size = slices.size();
  }
  const std::span<std::byte> buffer(storage.bytes.get(), slices.size());
  if (auto read = slices.read(buffer); !read) return read.error();

  const auto cu_seqlens = slices.view<std::int32_t>(buffer, cu_slice);
  if (const std::int64_t bad = format::check_cu_seqlens(cu_seqlens, tokens); bad >= 0) {
    return cu_seqlens_error(*this, bounds, p, cu_seqlens, static_cast<std::size_t>(bad));
  }
  PackArrays& own = storage.arrays;
  own = PackArrays{};
  own.tokens = token_bytes == 4 ? TokenSpan(slices.view<std::uint32_t>(buffer, token_slice))
                                : TokenSpan(slices.view<std::uint16_t>(buffer, token_slice));
  own.cu_seqlens = cu_seqlens.data();
  if (layout.find(SectionKind::kLossBits))
    own.loss_bits = slices.view<std::uint8_t>(buffer, bit_slice).data();
  if (layout.find(SectionKind::kLabels)) own.labels = slices.view<std::int32_t>(buffer, label_slice).data();
  own.targets = slices.view<std::uint32_t>(buffer, target_slice).data();
  own.sources = source_bytes == 8 ? SourceSpan(slices.view<std::uint64_t>(buffer, source_slice))
                                  : SourceSpan(slices.view<std::uint32_t>(buffer, source_slice));
  if (layout.find(SectionKind::kFirstTokenPositions)) {
    own.first_token_positions = slices.view<std::uint32_t>(buffer, position_slice).data();
  }
  if (layout.find(SectionKind::kTailLabels)) {
    own.tail_labels = slices.view<std::int32_t>(buffer, tail_slice).data();
  }
  own.first_pack = p;
  own.first_token = bounds.token_begin;
  own.first_sequence = bounds.sequence_begin;
  own.label_kind = LabelKind{layout.header.label_kind};
  own.ignore_index = layout.header.ignore_index;
  own.state = this;
  return PackRef(&own, p, bounds.token_begin, static_cast<std::uint32_t>(tokens), bounds.sequence_begin,
                 static_cast<std::uint32_t>(sequences));
}

}  // namespace tokpack::detail
