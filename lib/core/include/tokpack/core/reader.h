// Opens a .tpk file and hands out packs without copying (spec: Reading).
//
// A Reader is a handle on shared, immutable state: copy it freely, use it from any number of threads. Every
// view keeps the mapping (or, in pread mode, its own buffer) alive, so it outlives the Reader; the spans that
// a view returns live as long as that view or any copy of it.
//
// Opening costs a constant number of system calls, whatever the size, and checks page 0 only. pack() checks
// the boundaries of the pack it returns. Contents are checked by verify().
//
// Errors: codes 1..49 and kIo, kNotRegularFile from open; 50..57 and (pread) kIo, kFileChanged on access.
//
//   auto reader = Reader::open("train.tpk");
//   auto pack = reader->pack(7);
//   std::span<const std::int32_t> boundaries = pack->cu_seqlens();
//   for (std::size_t i = 0; i < pack->tokens().size(); ++i) use(pack->tokens()[i]);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/core/file.h"
#include "tokpack/format/parse.h"

namespace tokpack {

using format::ElementType;
using format::Hash128;
using format::LabelKind;
using format::Scope;

enum class ReadMode : std::uint8_t {
  kAuto,  ///< mmap, and pread where the system refuses to map
  kMmap,
  kPread,  ///< every view owns a buffer; a shrinking file gives an error instead of SIGBUS
};

struct ReaderOptions {
  ReadMode mode = ReadMode::kAuto;
  AccessHint hint = AccessHint::kNormal;
};

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
  std::string_view name;
  ElementType type{};
  Scope scope{};
  std::uint16_t width = 1;
  bool ragged = false;
  std::uint64_t rows = 0;
  format::Bytes values;
  std::span<const std::uint64_t> offsets;  ///< rows + 1 entries, as stored (absolute), ragged only
  std::shared_ptr<const void> owner;
};

/// One pack, or one sequence of a pack.
class PackView {
 public:
  std::uint64_t pack() const noexcept;
  std::uint64_t first_sequence() const noexcept;  ///< number of the view's first sequence in the file
  std::size_t sequences() const noexcept;

  TokenSpan tokens() const noexcept;                          ///< [T] u16 or u32
  std::span<const std::int32_t> cu_seqlens() const noexcept;  ///< [sequences+1], first 0, last T
  LabelKind label_kind() const noexcept;
  /// Label kind kLossMask: bit i is token i's, least significant bit of byte 0 first; ceil(T/8) bytes.
  std::span<const std::uint8_t> loss_bits() const noexcept;
  /// Label kind kExplicit: [T] i32 in place, unshifted.
  std::span<const std::int32_t> labels() const noexcept;
  /// Whatever the kind: the stored label of token i (the token, or ignore_index). REQUIRES: i < T.
  std::int32_t stored_label(std::size_t i) const noexcept;
  std::span<const std::int32_t> tail_labels() const noexcept;             ///< [sequences] or empty
  SourceSpan sources() const noexcept;                                    ///< [sequences]
  std::span<const std::uint32_t> first_token_positions() const noexcept;  ///< [sequences] or empty
  std::uint32_t targets() const noexcept;                                 ///< of this pack
  /// The rows of column `index` (0-based, file order). kColumnRange, kRaggedOffsets; pread: kIo.
  Result<ColumnView> column(std::size_t index) const;

 private:
  friend class Reader;
  // Layout is the reader's business; see reader.cpp.
};

/// One sequence: where it stands.
struct SequenceLocation {
  std::uint64_t pack;
  std::uint64_t index_in_pack;
};

class Reader {
 public:
  static Result<Reader> open(const std::string& path, const ReaderOptions& options = {});

  const format::Header& header() const& noexcept;
  const format::FileLayout& layout() const& noexcept;
  ReadMode mode() const noexcept;  ///< kMmap or kPread: what was really used
  const std::string& path() const& noexcept;

  std::uint64_t packs() const noexcept { return header().packs; }
  std::uint64_t sequences() const noexcept { return header().sequences; }
  std::uint64_t tokens() const noexcept { return header().tokens; }
  bool is_ragged(std::size_t column) const noexcept;

  /// O(1), no allocation in mmap mode.
  Result<PackView> pack(std::uint64_t p) const;
  /// Binary search over the pack offsets: which pack holds sequence j.
  Result<SequenceLocation> locate(std::uint64_t sequence) const;

  /// Raw bytes of a section (mmap: in place; pread: read). The owner keeps them alive.
  struct SectionBytes {
    format::Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  Result<SectionBytes> section(std::size_t index) const;
  Result<SectionBytes> section_part(std::size_t index, std::uint64_t offset, std::uint64_t length) const;
  /// The metadata's text, "{}" where there is none.
  Result<std::string> metadata_json() const;
  /// Column of scope file.
  Result<ColumnView> file_column(std::size_t index) const;

  void advise(AccessHint hint, std::uint64_t first_pack, std::uint64_t packs) const noexcept;

 private:
  struct State;
  explicit Reader(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

}  // namespace tokpack
