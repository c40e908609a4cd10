// A file opened for reading, and its mapping.
//
// `File` owns a descriptor (O_RDONLY, O_CLOEXEC, O_NONBLOCK), requires a regular file and never blocks on a
// FIFO. `Mapping` owns a read-only shared map of a whole file, made by Boost.Interprocess from File's
// descriptor; it needs no descriptor afterwards. Threads: const members from any thread.
// Errors: kIo (with path, call and the system's words), kNotRegularFile, kFileChanged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tokpack/format/bytes.h"
#include "tokpack/format/result.h"

namespace tokpack {

class File {
 public:
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  std::uint64_t size() const noexcept { return size_; }  ///< bytes, at open
  int descriptor() const noexcept { return descriptor_; }
  const std::string& path() const noexcept { return path_; }

  /// Fills `out` from `offset`; a shorter file is kFileChanged. Retries interrupted and partial reads.
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  File(int descriptor, std::uint64_t size, std::string path) noexcept;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string path_;
};

/// How the pages of a mapping will be used.
enum class AccessHint : std::uint8_t { kNormal, kSequential, kRandom, kWillNeed };

class Mapping {
 public:
  /// Maps all of `file`. Refused by the system: kIo. REQUIRES: file.size() > 0.
  static Result<std::shared_ptr<const Mapping>> map(const File& file);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Lives as long as this Mapping. Touching bytes of a file that has shrunk raises SIGBUS: use pread mode
  /// where that can happen.
  format::Bytes bytes() const& noexcept;
  format::Bytes bytes() const&& = delete;

  void advise(AccessHint hint, std::uint64_t offset, std::uint64_t length) const noexcept;

 private:
  struct Impl;
  explicit Mapping(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tokpack
