#include "tokpack/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "reader_text.h"

namespace tokpack {
namespace {

const char* kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISSOCK(mode)) return "a socket";
  return "something else";
}

Error not_regular(const std::string& path, const char* what) {
  return {Errc::kNotRegularFile, Error::kNoOffset,
          fmt::format("{} is {}; a regular file is needed", detail::quoted(path), what)};
}

}  // namespace

Result<File> File::open(const std::string& path) try {
  if (path.find('\0') != std::string::npos) {
    return Error{Errc::kIo, Error::kNoOffset,
                 fmt::format("cannot open {}: a path cannot hold a NUL byte", detail::quoted(path))};
  }
  int descriptor = -1;
  do {
    // O_NONBLOCK: a FIFO without a writer must not hang; regular files do not care.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    if (errno == ENXIO) return not_regular(path, "a socket or a device that is not there");
    return detail::system_error("open", path, "open", errno);
  }
  File file(descriptor, 0, std::string());  // owns the descriptor from here on
  file.path_ = path;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return detail::system_error("look at", path, "fstat", errno);
  if (!S_ISREG(status.st_mode)) return not_regular(path, kind_of(status.st_mode));
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to open a file");
}

File::File(int descriptor, std::uint64_t size, std::string path) noexcept
    : descriptor_(descriptor), size_(size), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> File::read_at(std::uint64_t offset, std::span<std::byte> out) const try {
  constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // the system cuts reads of 2 GiB
  while (!out.empty()) {
    const ssize_t got =
        ::pread(descriptor_, out.data(), std::min(out.size(), kLargestRead), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      Error error = detail::system_error("read", path_, "pread", errno);
      error.offset = offset;
      return error;
    }
    if (got == 0) {
      return Error{Errc::kFileChanged, offset,
                   fmt::format("{} ends before byte {}: it had {} bytes when it was opened and has become "
                               "shorter; open it again",
                               detail::quoted(path_), offset + out.size(), size_)};
    }
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to read a file");
}

}  // namespace tokpack
