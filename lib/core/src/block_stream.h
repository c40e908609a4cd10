// One section while it is being written: bytes are appended through a buffer of one checksum block, which is
// hashed while it is in the cache and written by one call.
//
// A stream either writes in place (the tokens, at their offset in the output) or to a spool: a nameless file
// that is made only when the first block is full, so that small outputs need none. What is kept in memory is
// one block and 8 bytes per block written.
//
// Errors: kIo. Throws std::bad_alloc. Threads: one at a time.
//
//   BlockStream sources(output);  // a spool beside `output`
//   auto ok = sources.append_values(first, count);
//   if (ok) ok = sources.finish();
//   if (ok) ok = sources.copy_to_output(offset);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "descriptor.h"
#include "grow_array.h"
#include "tokpack/core/output_file.h"
#include "tokpack/format/layout.h"

namespace tokpack::detail {

class BlockStream {
 public:
  /// A spool beside `output`, which must outlive this.
  explicit BlockStream(const OutputFile& output) noexcept : output_(&output) {}
  /// In place: writes at `offset` of the output itself.
  BlockStream(const OutputFile& output, std::uint64_t offset) noexcept
      : output_(&output), in_place_(true), base_(offset) {}

  Result<void> append(const void* bytes, std::size_t size) {
    if (size == 0) return {};  // `bytes` may be null then
    if (size <= kBlock - filled_) [[likely]] {
      std::memcpy(room(size), bytes, size);
      filled_ += size;
      return {};
    }
    return append_across(static_cast<const std::byte*>(bytes), size);
  }
  template <typename T>
  Result<void> append_value(T value) {
    return append(&value, sizeof value);
  }
  template <typename T>
  Result<void> append_values(const T* values, std::size_t count) {
    return append(values, count * sizeof(T));
  }
  /// `count` times the same value.
  template <typename T>
  Result<void> append_repeated(T value, std::uint64_t count) {
    for (; count > 0; --count) {
      if (auto ok = append(&value, sizeof value); !ok) return ok;
    }
    return {};
  }

  std::uint64_t size() const noexcept { return flushed_ + filled_; }

  /// Bytes until the current block is full.
  std::size_t room_in_block() const noexcept { return kBlock - filled_; }
  /// Makes room for `count` whole blocks, which write_block() fills in any order and from any thread, each
  /// once, before finish(). Returns the number of the first. REQUIRES: the current block is full or empty.
  Result<std::size_t> reserve_blocks(std::size_t count);
  /// REQUIRES: a reserved block, and all of it. Threads: other blocks may be written, and bytes appended, at
  /// the same time.
  Result<void> write_block(std::size_t number, format::Bytes block);

  /// Copies back what was appended. REQUIRES: offset + out.size() <= size().
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

  /// Rewrites every element as a wider one of the same value, from the last block to the first, so that an
  /// in-place stream never overtakes itself. The result is what appending wide elements would have given.
  Result<void> widen_u16_to_u32();
  Result<void> widen_u32_to_u64();

  /// Flushes and gives the checksums of all blocks. Nothing may be appended afterwards.
  Result<void> finish();
  /// One XXH3-64 per block. REQUIRES: finish() was called.
  std::span<const std::uint64_t> checksums() const noexcept { return checksums_; }
  /// Copies a finished spool to `offset` of the output.
  Result<void> copy_to_output(std::uint64_t offset) const;
  /// Frees buffer and spool.
  void close() noexcept;

 private:
  static constexpr std::size_t kBlock = format::kBlockBytes;

  std::byte* room(std::size_t size) {
    if (buffer_.size() < filled_ + size) buffer_.extend(filled_ + size - buffer_.size());
    return buffer_.data() + filled_;
  }
  Result<void> append_across(const std::byte* bytes, std::size_t size);
  Result<void> flush_block();
  Result<int> file();
  template <typename Narrow, typename Wide>
  Result<void> widen();

  const OutputFile* output_;
  bool in_place_ = false;
  std::uint64_t base_ = 0;     // of the section in its file
  std::uint64_t flushed_ = 0;  // bytes in the file: whole blocks
  std::size_t filled_ = 0;     // bytes in the buffer
  GrowArray<std::byte> buffer_;
  Descriptor spool_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace tokpack::detail
