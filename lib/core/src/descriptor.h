// Whole reads and writes on a file descriptor, and what to say when one fails.
//
// Errors: kIo with the file's name, the call and the system's words; kFileChanged when a file is shorter than
// it was. Threads: pure but for the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "reader_text.h"
#include "tokpack/core/descriptor.h"
#include "tokpack/format/bytes.h"
#include "tokpack/format/result.h"

namespace tokpack::detail {

/// kIo: "<call> <name>: <the system's words for `number`>".
Error io_error(const char* call, const std::string& name, int number);

/// Writes all of `bytes` at `offset`, through interruptions and partial writes.
Result<void> write_all(int file, const std::string& name, std::uint64_t offset, format::Bytes bytes);
/// Fills `out` from `offset`.
Result<void> read_all(int file, const std::string& name, std::uint64_t offset, std::span<std::byte> out);

}  // namespace tokpack::detail
