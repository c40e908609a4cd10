// A file descriptor that closes itself, and whole reads and writes on one.
//
// Errors: kIo with the file's name, the call and the system's words; kFileChanged when a file is shorter than
// it was. Threads: a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "reader_text.h"
#include "tokpack/format/bytes.h"
#include "tokpack/format/result.h"

namespace tokpack::detail {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  void close() noexcept;

 private:
  int number_ = -1;
};

/// kIo: "<call> <name>: <the system's words for `number`>".
Error io_error(const char* call, const std::string& name, int number);

/// Writes all of `bytes` at `offset`, through interruptions and partial writes.
Result<void> write_all(int file, const std::string& name, std::uint64_t offset, format::Bytes bytes);
/// Fills `out` from `offset`.
Result<void> read_all(int file, const std::string& name, std::uint64_t offset, std::span<std::byte> out);

}  // namespace tokpack::detail
