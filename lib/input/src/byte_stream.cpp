#include "byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "quote.h"
#include "sniff.h"
#include "zstd_stream.h"

namespace tokpack::input {
namespace {

std::string system_words(int number) { return std::error_code(number, std::generic_category()).message(); }

/// A descriptor, with its first bytes read ahead for a look at them.
class FileStream final : public ByteStream {
 public:
  FileStream(int descriptor, bool owned, std::string name, std::uint64_t total) noexcept
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)), total_(total) {}
  /// What comes later than it is asked for: wait for it, or for a stop.
  void wait_before_reads(int stop) noexcept {
    waits_ = true;
    stop_ = stop;
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  ~FileStream() override {
    if (owned_) ::close(descriptor_);
  }

  std::optional<Error> look_ahead() {
    Filled filled = read_full(head_);
    head_bytes_ = filled.bytes;
    return std::move(filled.error);
  }
  std::string_view head() const noexcept { return {head_.data(), head_bytes_}; }

  Filled fill(std::span<char> out) override {
    const std::size_t ahead = std::min(out.size(), head_bytes_ - head_taken_);
    std::memcpy(out.data(), head_.data() + head_taken_, ahead);
    head_taken_ += ahead;
    Filled filled = read_full(out.subspan(ahead));
    filled.bytes += ahead;
    return filled;
  }
  Progress progress() const override { return {read_, total_}; }
  bool is_plain() const override { return true; }

 private:
  /// Reads until `out` is full: pipes hand over a little at a time.
  Filled read_full(std::span<char> out) {
    Filled filled;
    while (filled.bytes < out.size()) {
      if (waits_ && stopped_while_waiting()) {
        filled.end = true;
        filled.error =
            Error{Errc::kIo, Error::kNoOffset, fmt::format("{}: interrupted while waiting for data", name_)};
        break;
      }
      const ssize_t got = ::read(descriptor_, out.data() + filled.bytes, out.size() - filled.bytes);
      if (got > 0) {
        filled.bytes += static_cast<std::size_t>(got);
      } else if (got == 0) {
        filled.end = true;
        break;
      } else if (errno != EINTR && !(waits_ && errno == EAGAIN)) {  // a pipe may be given non-blocking
        filled.end = true;
        filled.error = Error{Errc::kIo, Error::kNoOffset,
                             fmt::format("{}: read failed: {}", name_, system_words(errno))};
        break;
      }
    }
    read_ += filled.bytes;
    return filled;
  }

  /// Returns when a read would not block, which it says itself; true when to stop instead.
  bool stopped_while_waiting() const noexcept {
    std::array<pollfd, 2> both{pollfd{descriptor_, POLLIN, 0},
                               pollfd{stop_, POLLIN, 0}};  // -1 is passed over
    while (true) {
      const int ready = ::poll(both.data(), both.size(), -1);
      if (ready < 0 && errno == EINTR) continue;
      return ready > 0 && both[1].revents != 0;
    }
  }

  int descriptor_;
  bool owned_;
  bool waits_ = false;
  int stop_ = -1;
  std::string name_;
  std::uint64_t total_;
  std::uint64_t read_ = 0;
  std::array<char, kSniffBytes> head_{};
  std::size_t head_bytes_ = 0, head_taken_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string_view text) noexcept : text_(text) {}

  Filled fill(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), text_.size() - taken_);
    if (n > 0) std::memcpy(out.data(), text_.data() + taken_, n);
    taken_ += n;
    return {n, n < out.size(), std::nullopt};
  }
  Progress progress() const override { return {taken_, text_.size()}; }
  bool is_plain() const override { return true; }

 private:
  std::string_view text_;
  std::size_t taken_ = 0;
};

/// A FIFO is opened without waiting for its writer: the wait comes before the first read, where it can be
/// stopped. (A read would take "no writer yet" for the end; poll() tells the two apart.)
Result<std::unique_ptr<FileStream>> open_file(const std::string& path, int stop) {
  const std::string name = display_name(path);
  if (path.find('\0') != std::string::npos) {  // the system would open what stands before it
    return Error{Errc::kIo, Error::kNoOffset,
                 fmt::format("{}: cannot be opened: a path cannot hold a NUL byte", name)};
  }
  const bool standard_input = path == "-";
  const int descriptor =
      standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return Error{Errc::kIo, Error::kNoOffset,
                 fmt::format("{}: cannot be opened: {}", name, system_words(errno))};
  }
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const int fstat_error = errno;
  const std::uint64_t total =
      known && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  auto stream = std::make_unique<FileStream>(descriptor, !standard_input, name, total);
  if (!known) {
    return Error{Errc::kIo, Error::kNoOffset,
                 fmt::format("{}: fstat failed: {}", name, system_words(fstat_error))};
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{Errc::kNotRegularFile, Error::kNoOffset,
                 fmt::format("{}: expected a file, found a folder; name the files in it", name)};
  }
  if (!standard_input) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags >= 0) ::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
  }
  if (!S_ISREG(status.st_mode)) stream->wait_before_reads(stop);
  if (auto error = stream->look_ahead()) return std::move(*error);
  return stream;
}

}  // namespace

std::string display_name(const std::string& path) {
  return path == "-" ? std::string("standard input") : escaped_name(path);
}

Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path, int stop) {
  auto file = open_file(path, stop);
  if (!file) return file.error();
  if (looks_like_zstd((*file)->head())) return open_zstd(std::move(*file), display_name(path));
  if (auto error = refuse_foreign((*file)->head(), display_name(path))) return std::move(*error);
  return std::unique_ptr<ByteStream>(std::move(*file));
}

Result<std::unique_ptr<ByteStream>> open_stream_text(std::string_view text, const std::string& name) {
  std::unique_ptr<ByteStream> stream = std::make_unique<MemoryStream>(text);
  if (looks_like_zstd(text.substr(0, kSniffBytes))) return open_zstd(std::move(stream), name);
  if (auto error = refuse_foreign(text.substr(0, kSniffBytes), name)) return std::move(*error);
  return stream;
}

Result<std::unique_ptr<ByteStream>> open_stream_raw(const std::string& path) {
  auto file = open_file(path, -1);
  if (!file) return file.error();
  return std::unique_ptr<ByteStream>(std::move(*file));
}

}  // namespace tokpack::input
