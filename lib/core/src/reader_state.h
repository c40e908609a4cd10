// What a Reader and its views share: the opened file, its layout, and where its arrays stand. Immutable once
// made, so const members need no lock.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tokpack/core/reader.h"

namespace tokpack::detail {

struct ReaderState {
  std::string path;
  format::FileLayout layout;
  std::shared_ptr<const Mapping> mapping;                ///< null in pread mode
  std::optional<File> file;                              ///< pread mode only: a mapping needs no descriptor
  PackArrays arrays;                                     ///< mmap mode only
  std::span<const std::uint64_t> pack_token_offsets;     ///< [packs+1], mmap mode only
  std::span<const std::uint64_t> pack_sequence_offsets;  ///< [packs+1], mmap mode only

  bool mapped() const noexcept { return mapping != nullptr; }

  /// `self` owns this state.
  Result<PackView> pack(const std::shared_ptr<const ReaderState>& self, std::uint64_t p) const;
  Result<PackRef> pack(std::uint64_t p, PackBuffer& buffer) const;
  /// Column `index`: the rows of `pack`, or all of it when `pack` is null (scope file). `owner` keeps this
  /// state alive; null for a borrowed pack.
  Result<ColumnView> column(const std::shared_ptr<const void>& owner, std::size_t index,
                            const PackRef* pack) const;
  Result<Reader::SectionBytes> part(const format::SectionEntry& entry, std::uint64_t offset,
                                    std::uint64_t length) const;
  /// The pair [index], [index+1] of a section of u64. REQUIRES: both lie within it.
  Result<std::array<std::uint64_t, 2>> offset_pair(format::SectionKind kind, std::uint64_t index) const;

  void advise(AccessHint hint, std::uint64_t offset, std::uint64_t length) const noexcept;

  /// Where arrays of the mapped file stand. REQUIRES: mapped().
  void bind_arrays() noexcept;

 private:
  Error no_such_pack(std::uint64_t p) const;
  Result<PackRef> mapped_pack(std::uint64_t p) const;
  Result<PackRef> read_pack(std::uint64_t p, PackStorage& storage) const;  // reader_pread.cpp
};

/// Opens and checks page 0. Errors of the parser come as they are, without the path. Throws std::bad_alloc.
Result<std::shared_ptr<const ReaderState>> open_state(const std::string& path, const ReaderOptions& options);

/// An error of check_pack_bounds with the path and the place of pack `p`'s entry.
Error bounds_error(const ReaderState& state, std::uint64_t p, Error error);

/// kCuSeqlens for entry `bad` of pack `p`.
Error cu_seqlens_error(const ReaderState& state, const format::PackBounds& bounds, std::uint64_t p,
                       std::span<const std::int32_t> cu_seqlens, std::size_t bad);

}  // namespace tokpack::detail
