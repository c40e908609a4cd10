// Views of one pack, of one of its sequences and of its columns: spans over the file's own bytes.
//
// A PackView owns a share of what it looks at (the mapping; in pread mode a buffer of its own), so it
// outlives its Reader and may be copied and used from any thread. The spans that it returns live as long as
// the view or any copy of it, or as long as a copy of `owner()`.
//
// A PackRef is the same without the share, for loops over many packs: it and its spans must not outlive the
// Reader (some copy of it) nor, in pread mode, the next use of the PackBuffer that it was made with. Counting
// a share is a locked instruction, which keeps the processor from fetching one pack while it waits for
// another.
//
// Spans cannot be taken from a temporary of either. Nothing is copied, and nothing here can fail but
// column().
//
// Spec: Sections; Reading. Errors: column() alone: kColumnRange, kRaggedOffsets; pread: kIo, kFileChanged.
//
//   for (std::size_t s = 0; s < view.sequences(); ++s) use(view.sequence(s).tokens());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "tokpack/format/bytes.h"
#include "tokpack/format/layout.h"
#include "tokpack/format/result.h"

namespace tokpack {

using format::ElementType;
using format::Hash128;
using format::LabelKind;
using format::Scope;

/// An array of unsigned integers of one of two widths, in place.
template <typename Narrow, typename Wide>
class WidthSpan {
 public:
  WidthSpan() = default;
  explicit WidthSpan(std::span<const Narrow> values) noexcept : data_(values.data()), size_(values.size()) {}
  explicit WidthSpan(std::span<const Wide> values) noexcept
      : data_(values.data()), size_(values.size()), wide_(true) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool is_wide() const noexcept { return wide_; }
  std::uint64_t operator[](std::size_t i) const noexcept {
    return wide_ ? std::uint64_t{static_cast<const Wide*>(data_)[i]}
                 : std::uint64_t{static_cast<const Narrow*>(data_)[i]};
  }
  /// REQUIRES: !is_wide() and is_wide() respectively.
  std::span<const Narrow> narrow() const noexcept { return {static_cast<const Narrow*>(data_), size_}; }
  std::span<const Wide> wide() const noexcept { return {static_cast<const Wide*>(data_), size_}; }
  const void* data() const noexcept { return data_; }
  /// REQUIRES: begin + count <= size().
  WidthSpan subspan(std::size_t begin, std::size_t count) const noexcept {
    return wide_ ? WidthSpan(wide().subspan(begin, count)) : WidthSpan(narrow().subspan(begin, count));
  }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  bool wide_ = false;
};
using TokenSpan = WidthSpan<std::uint16_t, std::uint32_t>;
using SourceSpan = WidthSpan<std::uint32_t, std::uint64_t>;

/// One column's rows for one pack (or, for scope file, all of it). `values` are rows * width elements of
/// `type`; for a ragged column row i is values [offsets[i], offsets[i+1]) - offsets[0], in rows of width.
struct ColumnView {
  std::string_view name;  ///< lives as long as the owner
  ElementType type{};
  Scope scope{};
  std::uint16_t width = 1;
  bool ragged = false;
  std::uint64_t rows = 0;
  format::Bytes values;
  std::span<const std::uint64_t> offsets;  ///< rows + 1 entries, as stored (absolute), ragged only
  std::shared_ptr<const void> owner;       ///< keeps the bytes alive; null for a PackRef's in mmap mode
};

namespace detail {
struct ReaderState;

/// Where the per-pack arrays stand, and the numbers of the pack, token and sequence that they begin with:
/// 0 for a mapped file; the pack's own for a buffer of one pack. Null where the file has no such section.
struct PackArrays {
  TokenSpan tokens;
  const std::int32_t* cu_seqlens = nullptr;
  const std::uint8_t* loss_bits = nullptr;
  const std::int32_t* labels = nullptr;
  const std::uint32_t* targets = nullptr;
  SourceSpan sources;
  const std::uint32_t* first_token_positions = nullptr;
  const std::int32_t* tail_labels = nullptr;
  std::uint64_t first_pack = 0;
  std::uint64_t first_token = 0;
  std::uint64_t first_sequence = 0;
  LabelKind label_kind{};
  std::int32_t ignore_index = 0;
  const ReaderState* state = nullptr;  ///< kept alive by the view's owner
};

/// One pack that was read: what its arrays point into.
struct PackStorage {
  PackArrays arrays;
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};
}  // namespace detail

/// Where pread mode puts the pack that a PackRef looks at; mmap mode leaves it empty. Grows to the largest
/// pack and is used again for the next. One for each thread, and for each PackRef that is looked at together.
class PackBuffer {
 public:
  PackBuffer() = default;

 private:
  friend struct detail::ReaderState;
  std::unique_ptr<detail::PackStorage> storage_;
};

/// One sequence of a pack. Holds the pack's view (SequenceView: an owner) or reference (SequenceRef: none).
template <typename Pack>
class BasicSequence;
class PackRef;
class PackView;
using SequenceRef = BasicSequence<PackRef>;
using SequenceView = BasicSequence<PackView>;

/// One pack, borrowed: see above for how long.
class PackRef {
 public:
  std::uint64_t pack() const noexcept { return pack_; }
  std::uint64_t first_token() const noexcept {
    return first_token_;
  }  ///< number of its first token in the file
  std::uint64_t first_sequence() const noexcept { return first_sequence_; }  ///< the same for sequences
  std::size_t sequences() const noexcept { return sequences_; }

  /// [T] u16 or u32.
  TokenSpan tokens() const& noexcept { return arrays_->tokens.subspan(token_index(), tokens_); }
  TokenSpan tokens() const&& = delete;
  /// [sequences+1], first 0, strictly increasing, last T: checked when the view was made.
  std::span<const std::int32_t> cu_seqlens() const& noexcept {
    return {arrays_->cu_seqlens + format::cu_seqlens_begin(sequence_index(), pack_index()),
            sequences_ + std::size_t{1}};
  }
  std::span<const std::int32_t> cu_seqlens() const&& = delete;
  LabelKind label_kind() const noexcept { return arrays_->label_kind; }
  std::int32_t ignore_index() const noexcept { return arrays_->ignore_index; }
  /// Label kind kLossMask: bit i is token i's, least significant bit of byte 0 first; ceil(T/8) bytes.
  std::span<const std::uint8_t> loss_bits() const& noexcept {
    if (arrays_->loss_bits == nullptr) return {};
    const std::uint64_t begin = format::loss_bits_begin(first_token_, pack_) -
                                format::loss_bits_begin(arrays_->first_token, arrays_->first_pack);
    return {arrays_->loss_bits + begin, (tokens_ + std::size_t{7}) / 8};
  }
  std::span<const std::uint8_t> loss_bits() const&& = delete;
  /// Label kind kExplicit: [T] i32 in place, unshifted.
  std::span<const std::int32_t> labels() const& noexcept {
    if (arrays_->labels == nullptr) return {};
    return {arrays_->labels + token_index(), tokens_};
  }
  std::span<const std::int32_t> labels() const&& = delete;
  /// Whatever the kind: the stored label of token i (the token, or ignore_index). REQUIRES: i < T.
  std::int32_t stored_label(std::size_t i) const noexcept {
    if (arrays_->label_kind == LabelKind::kExplicit) return labels()[i];
    if (arrays_->label_kind == LabelKind::kLossMask && (loss_bits()[i / 8] >> (i % 8) & 1) == 0) {
      return arrays_->ignore_index;
    }
    return static_cast<std::int32_t>(tokens()[i]);
  }
  /// [sequences], or empty where the file has none.
  std::span<const std::int32_t> tail_labels() const& noexcept {
    if (arrays_->tail_labels == nullptr) return {};
    return {arrays_->tail_labels + sequence_index(), sequences_};
  }
  std::span<const std::int32_t> tail_labels() const&& = delete;
  /// [sequences] u32 or u64.
  SourceSpan sources() const& noexcept { return arrays_->sources.subspan(sequence_index(), sequences_); }
  SourceSpan sources() const&& = delete;
  /// [sequences], or empty where no sample was split: all are 0 then.
  std::span<const std::uint32_t> first_token_positions() const& noexcept {
    if (arrays_->first_token_positions == nullptr) return {};
    return {arrays_->first_token_positions + sequence_index(), sequences_};
  }
  std::span<const std::uint32_t> first_token_positions() const&& = delete;
  /// Trained targets of this pack, as stored.
  std::uint32_t targets() const noexcept { return arrays_->targets[pack_index()]; }

  /// REQUIRES: index < sequences(). Borrowed like this.
  SequenceRef sequence(std::size_t index) const;

  /// The rows of column `index` (0-based, file order); the whole column for scope file. In mmap mode borrowed
  /// like this.
  Result<ColumnView> column(std::size_t index) const;

 private:
  friend struct detail::ReaderState;
  friend class PackView;
  PackRef(const detail::PackArrays* arrays, std::uint64_t pack, std::uint64_t first_token,
          std::uint32_t tokens, std::uint64_t first_sequence, std::uint32_t sequences) noexcept
      : arrays_(arrays),
        pack_(pack),
        first_token_(first_token),
        first_sequence_(first_sequence),
        tokens_(tokens),
        sequences_(sequences) {}

  std::uint64_t pack_index() const noexcept { return pack_ - arrays_->first_pack; }
  std::size_t token_index() const noexcept { return first_token_ - arrays_->first_token; }
  std::size_t sequence_index() const noexcept { return first_sequence_ - arrays_->first_sequence; }

  const detail::PackArrays* arrays_;
  std::uint64_t pack_;
  std::uint64_t first_token_;
  std::uint64_t first_sequence_;
  std::uint32_t tokens_;
  std::uint32_t sequences_;
};

/// One pack, with a share of what keeps its bytes alive.
class PackView : public PackRef {
 public:
  /// REQUIRES: index < sequences(). Shares this view's owner.
  SequenceView sequence(std::size_t index) const;

  /// The rows of column `index` (0-based, file order); the whole column for scope file. Shares the owner.
  Result<ColumnView> column(std::size_t index) const;

  /// What keeps the bytes alive.
  const std::shared_ptr<const void>& owner() const& noexcept { return owner_; }
  const std::shared_ptr<const void>& owner() const&& = delete;

 private:
  friend struct detail::ReaderState;
  PackView(std::shared_ptr<const void> owner, const PackRef& pack) noexcept
      : PackRef(pack), owner_(std::move(owner)) {}

  std::shared_ptr<const void> owner_;
};

template <typename Pack>
class BasicSequence {
 public:
  BasicSequence(Pack pack, std::size_t index) noexcept : pack_(std::move(pack)), index_(index) {
    begin_ = static_cast<std::size_t>(pack_.cu_seqlens()[index]);
    size_ = static_cast<std::size_t>(pack_.cu_seqlens()[index + 1]) - begin_;
  }
  const Pack& pack() const& noexcept { return pack_; }
  const Pack& pack() const&& = delete;
  std::size_t index_in_pack() const noexcept { return index_; }
  std::size_t first_token_in_pack() const noexcept { return begin_; }
  std::uint64_t number() const noexcept { return pack_.first_sequence() + index_; }  ///< in the file

  TokenSpan tokens() const& noexcept { return pack_.tokens().subspan(begin_, size_); }  ///< [n]
  TokenSpan tokens() const&& = delete;
  std::int32_t stored_label(std::size_t i) const noexcept { return pack_.stored_label(begin_ + i); }
  std::uint64_t source() const noexcept { return pack_.sources()[index_]; }
  std::uint32_t first_token_position() const noexcept {
    const auto positions = pack_.first_token_positions();
    return positions.empty() ? 0 : positions[index_];
  }
  /// Label of the token after the last one, or ignore_index.
  std::int32_t tail_label() const noexcept {
    const auto tails = pack_.tail_labels();
    return tails.empty() ? pack_.ignore_index() : tails[index_];
  }

 private:
  Pack pack_;
  std::size_t index_;
  std::size_t begin_;
  std::size_t size_;
};

inline SequenceRef PackRef::sequence(std::size_t index) const { return SequenceRef(*this, index); }
inline SequenceView PackView::sequence(std::size_t index) const { return SequenceView(*this, index); }

}  // namespace tokpack
