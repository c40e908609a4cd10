// Opens a .tpk file and hands out packs without copying (spec: Reading).
//
// A Reader is a handle on shared, immutable state: copy it freely, use it from any number of threads. Every
// view keeps the mapping (or, in pread mode, its own buffer) alive, so it outlives the Reader; the spans that
// a view returns live as long as that view or any copy of it. `pack(p, buffer)` gives a reference instead,
// which the Reader must outlive.
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
#include <string>

#include "tokpack/core/file.h"
#include "tokpack/core/pack_view.h"
#include "tokpack/format/parse.h"

namespace tokpack {

enum class ReadMode : std::uint8_t {
  kAuto,  ///< mmap, and pread where the system refuses to map
  kMmap,
  kPread,  ///< every view owns a buffer; a shrinking file gives an error instead of SIGBUS
};

struct ReaderOptions {
  ReadMode mode = ReadMode::kAuto;
  AccessHint hint = AccessHint::kNormal;
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
  const format::Header& header() const&& = delete;
  const format::FileLayout& layout() const& noexcept;
  const format::FileLayout& layout() const&& = delete;
  ReadMode mode() const noexcept;  ///< kMmap or kPread: what is really used
  const std::string& path() const& noexcept;
  const std::string& path() const&& = delete;

  std::uint64_t packs() const noexcept { return header().packs; }
  std::uint64_t sequences() const noexcept { return header().sequences; }
  std::uint64_t tokens() const noexcept { return header().tokens; }
  std::size_t columns() const noexcept { return layout().columns.size(); }
  bool is_ragged(std::size_t column) const noexcept;

  /// O(1), no allocation in mmap mode. kPackRange, kPackTokenOffsets, kPackSequenceOffsets, kCuSeqlens.
  Result<PackView> pack(std::uint64_t p) const;
  /// The same, borrowed from this Reader and, in pread mode, from `buffer`: nothing is counted, and nothing
  /// allocated once the buffer has grown. For loops over many packs.
  Result<PackRef> pack(std::uint64_t p, PackBuffer& buffer) const&;
  Result<PackRef> pack(std::uint64_t p, PackBuffer& buffer) const&& = delete;
  /// Binary search over the pack offsets: which pack holds sequence j. kSequenceRange.
  Result<SequenceLocation> locate(std::uint64_t sequence) const;
  /// Sequence j of the file: locate() and pack() in one.
  Result<SequenceView> sequence(std::uint64_t j) const;

  /// Raw bytes of a section (mmap: in place; pread: read). The owner keeps them alive.
  struct SectionBytes {
    format::Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  Result<SectionBytes> section(std::size_t index) const;
  /// `length` bytes from `offset` of the section; outside of it: kOptions.
  Result<SectionBytes> section_part(std::size_t index, std::uint64_t offset, std::uint64_t length) const;
  /// The metadata's text as it stands, "{}" where there is none.
  Result<std::string> metadata_json() const;
  /// Column of scope file. kColumnRange for another scope.
  Result<ColumnView> file_column(std::size_t index) const;

  /// How the bytes of these packs will be used; a wish, never an error.
  void advise(AccessHint hint, std::uint64_t first_pack, std::uint64_t packs) const noexcept;

 private:
  explicit Reader(std::shared_ptr<const detail::ReaderState> state) noexcept;
  std::shared_ptr<const detail::ReaderState> state_;
};

}  // namespace tokpack
