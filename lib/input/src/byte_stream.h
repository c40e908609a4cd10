// Bytes of an input, whatever they come from: a file, a pipe, standard input, memory; plain or zstd.
//
// Ownership: a stream owns its descriptor (not that of standard input); a stream over memory borrows it.
// Threads: one at a time. Errors: kIo, kNotRegularFile (a folder), kInputEncoding (another compression or
// encoding, named, with what to do), kInputCompressed (damaged or cut zstd).
//
//   auto stream = open_stream("train.jsonl.zst");
//   Filled filled = (*stream)->fill(buffer);
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tokpack/format/result.h"
#include "tokpack/input/source.h"

namespace tokpack::input {

/// What a call of fill() brought. Bytes before an error are good.
struct Filled {
  std::size_t bytes = 0;
  bool end = false;  ///< nothing follows these bytes, because the input ends or because of `error`
  std::optional<Error> error;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `out` completely unless the input ends first. After the end: no bytes, and the same error if any.
  virtual Filled fill(std::span<char> out) = 0;
  /// In bytes of the file, so compressed ones where it is compressed.
  virtual Progress progress() const = 0;
  /// True when an offset in the stream is an offset in the file.
  virtual bool is_plain() const = 0;
};

/// `path`, or "-" for standard input. Waits on a FIFO until it has a writer, as every reader of pipes does.
/// `stop`: a descriptor that ends all waiting when it becomes readable, with kIo; -1 = none.
Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path, int stop = -1);

/// Over memory, which must outlive the stream. `name` is for messages.
Result<std::unique_ptr<ByteStream>> open_stream_text(std::string_view text, const std::string& name);

/// Reads a whole file or pipe as it is: no decompression, no look at what it holds.
Result<std::unique_ptr<ByteStream>> open_stream_raw(const std::string& path);

/// How the name stands in messages: escaped, and "standard input" for "-".
std::string display_name(const std::string& path);

}  // namespace tokpack::input
