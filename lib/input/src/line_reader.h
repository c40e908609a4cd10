// Cuts an input into chunks of whole lines, each with readable bytes behind it, as simdjson needs them.
//
// Where chunks are cut depends on the text and `chunk_bytes` alone, so batches are the same for any number of
// threads and any kind of pipe. A leading UTF-8 byte order mark is skipped.
//
// Ownership: a chunk owns its bytes, or borrows from the text that the reader was made over. Threads: the
// reader one at a time; chunks are independent. Errors: those of byte_stream.h, kTooLarge for a line above
// kMaxLineBytes; lines before the error come first.
//
//   while (true) {
//     auto more = reader.next(chunk);
//     if (!more) return more.error();
//     if (!*more) break;
//     use(chunk.text);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "byte_stream.h"

namespace tokpack::input {

/// simdjson reads, but does not use, as many bytes behind a document (checked against its constant).
inline constexpr std::size_t kPaddingBytes = 64;
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 30;

/// Bytes without initialisation, with room for padding behind them.
class PaddedBuffer {
 public:
  char* data() noexcept { return data_.get(); }
  std::size_t capacity() const noexcept { return capacity_; }
  /// At least `capacity` bytes and the padding; keeps the first `used`.
  void reserve(std::size_t capacity, std::size_t used);

 private:
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
};

struct Chunk {
  std::string_view text;     ///< whole lines; only the input's last may lack its newline
  std::uint64_t offset = 0;  ///< of text[0] in the stream
  PaddedBuffer storage;      ///< what `text` stands in, unless it stands in the caller's memory
};

class LineReader {
 public:
  LineReader(std::unique_ptr<ByteStream> stream, std::string name, std::size_t chunk_bytes);
  /// In place. `text` must outlive the reader and its chunks.
  LineReader(std::string_view text, std::string name, std::size_t chunk_bytes);

  /// False at the end. Reuses the storage of `chunk`.
  Result<bool> next(Chunk& chunk);
  Progress progress() const;
  /// True when an offset in the stream is an offset in the file.
  bool is_plain() const;

 private:
  Result<bool> next_in_memory(Chunk& chunk);
  Result<bool> next_in_stream(Chunk& chunk);
  /// Looks at the start of the text and returns how many bytes of byte order mark to skip.
  Result<std::size_t> start(std::string_view head);
  Error too_long(std::uint64_t offset) const;

  std::unique_ptr<ByteStream> stream_;  // null over memory
  std::string_view text_;               // memory only
  std::string name_;
  std::size_t chunk_bytes_;
  PaddedBuffer carry_;  // the bytes after the last cut
  std::size_t carry_bytes_ = 0;
  std::uint64_t offset_ = 0;  // of the next chunk
  bool started_ = false, ended_ = false;
  std::optional<Error> error_;
};

}  // namespace tokpack::input
