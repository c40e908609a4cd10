#include "descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "system_calls.h"

namespace tokpack {

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

namespace detail {
namespace {

// One call never asks for more than this, so that the count fits every system's limit.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30;

}  // namespace

Error io_error(const char* call, const std::string& name, int number) {
  std::string detail =
      std::string(call) + " " + quoted(name) + ": " + std::generic_category().message(number);
  if (number == ENOSPC || number == EDQUOT) {
    detail += ". Free space in that folder or write the output elsewhere";
  }
  if (number == EFBIG) detail += ". Raise the file-size limit (ulimit -f)";
  return {Errc::kIo, Error::kNoOffset, std::move(detail)};
}

Result<void> write_all(int file, const std::string& name, std::uint64_t offset, format::Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = system_calls().write_at(file, bytes.data(), std::min(bytes.size(), kMostPerCall),
                                              static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return io_error("write", name, errno);
    }
    if (n == 0) return io_error("write", name, ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<void> read_all(int file, const std::string& name, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = system_calls().read_at(file, out.data(), std::min(out.size(), kMostPerCall),
                                             static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return io_error("read", name, errno);
    }
    if (n == 0) {
      return Error{Errc::kFileChanged, offset, quoted(name) + " became shorter while it was being written"};
    }
    out = out.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace detail
}  // namespace tokpack
