#include "tokpack/core/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>

#include "descriptor.h"
#include "system_calls.h"
#include "tokpack/format/checksum.h"

namespace tokpack {
namespace {

using detail::io_error;
using detail::quoted;
using detail::system_calls;

constexpr std::size_t kRandomDigits = 16;
constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kLongestName = 255;
constexpr int kAttempts = 64;
constexpr mode_t kMode = 0666;  // less the umask, as any program's output

std::string hex64(std::uint64_t value) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out(kRandomDigits, '0');
  for (std::size_t i = 0; i < kRandomDigits; ++i) out[kRandomDigits - 1 - i] = kHex[(value >> (4 * i)) & 15];
  return out;
}

// Only names of temporaries depend on it, never a byte of a file.
std::uint64_t unique_number() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof value)) return value;
  static std::atomic<std::uint64_t> count{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return (static_cast<std::uint64_t>(now.tv_nsec) << 32) ^ (static_cast<std::uint64_t>(::getpid()) << 8) ^
         count.fetch_add(1);
}

bool is_temporary_of(std::string_view name, std::string_view stem) {
  if (name.size() != stem.size() + kRandomDigits + kSuffix.size()) return false;
  if (name.substr(0, stem.size()) != stem || name.substr(name.size() - kSuffix.size()) != kSuffix)
    return false;
  return name.substr(stem.size(), kRandomDigits).find_first_not_of("0123456789abcdef") ==
         std::string_view::npos;
}

// True when `name` in `folder` is still the file that `file` is open on.
bool still_named(int folder, const char* name, int file) {
  struct stat by_name {};
  struct stat by_file {};
  return ::fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &by_file) == 0 &&
         by_name.st_dev == by_file.st_dev && by_name.st_ino == by_file.st_ino;
}

/// The folder that holds what `path` names.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// `what` failed in the folder that was to hold the output; says what to do about it.
Error folder_error(const std::string& what, const std::string& folder, int number) {
  Error error{Errc::kIo, Error::kNoOffset,
              what + " the output folder " + quoted(folder) + ": " + std::generic_category().message(number)};
  if (number == ENOENT) error.detail += ". Create it first, or name an output in another folder";
  if (number == ENOTDIR) error.detail += ". A part of that path is a file; name an output in another folder";
  if (number == EACCES || number == EPERM || number == EROFS) {
    error.detail += ". Name an output in a folder that you may write to, or change its permissions";
  }
  if (number == ENOSPC || number == EDQUOT) {
    error.detail += ". Free space in that folder or write the output elsewhere";
  }
  return error;
}

Error exists_error(const std::string& path) {
  return {Errc::kExists, Error::kNoOffset,
          "the output " + quoted(path) + " exists. Name another file, or give force to replace it"};
}

}  // namespace

std::string temporary_stem(const std::string& target) {
  constexpr std::string_view kMark = ".tokpack-";
  std::string stem = "." + target;
  if (stem.size() + kMark.size() + kRandomDigits + kSuffix.size() > kLongestName) {
    const auto bytes = std::as_bytes(std::span(target.data(), target.size()));
    stem = "." + target.substr(0, 128) + "-" + hex64(format::xxh3_64(bytes));
  }
  return stem.append(kMark);
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    folder_ = std::move(other.folder_);
    file_ = std::move(other.file_);
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, {});
    force_ = other.force_;
  }
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (!temporary_.empty()) {
    // Unlinked while the lock is held, so that nobody else takes the name for a dead writer's.
    ::unlinkat(folder_.number(), temporary_.c_str(), 0);
    temporary_.clear();
  }
  file_.close();
}

Result<OutputFile> OutputFile::create(const std::string& path, bool force) {
  if (path.find('\0') != std::string::npos) {
    return Error{Errc::kIo, Error::kNoOffset,
                 "cannot create the output " + quoted(path) + ": a path cannot hold a NUL byte"};
  }
  OutputFile out;
  out.path_ = path;
  out.force_ = force;
  const std::size_t slash = path.rfind('/');
  out.target_ = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string folder = folder_of(path);
  if (out.target_.empty() || out.target_ == "." || out.target_ == "..") {
    return Error{Errc::kNotRegularFile, Error::kNoOffset,
                 "the output " + quoted(path) + " names a folder. Give the name of a file"};
  }
  out.folder_ =
      Descriptor(system_calls().open_at(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!out.folder_.is_open()) {
    return folder_error("cannot open", folder, errno);
  }
  struct stat status {};
  if (::fstatat(out.folder_.number(), out.target_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    const bool link_to_file = S_ISLNK(status.st_mode);
    if (!S_ISREG(status.st_mode) && !link_to_file) {
      return Error{Errc::kNotRegularFile, Error::kNoOffset,
                   "the output " + quoted(path) + " is a folder or a device. Give the name of a file"};
    }
    if (!force) return exists_error(path);
  } else if (errno != ENOENT) {
    return io_error("look at the output", path, errno);
  }
  if (auto opened = out.open_temporary(); !opened) return opened.error();
  out.remove_dead_temporaries();
  return out;
}

Result<void> OutputFile::open_temporary() {
  const std::string stem = temporary_stem(target_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = stem + hex64(unique_number()) + std::string(kSuffix);
    Descriptor file(
        system_calls().open_at(folder_.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (!file.is_open()) {
      if (errno == EEXIST || errno == EINTR) continue;
      return folder_error("cannot create a file in", folder_of(path_), errno);
    }
    if (system_calls().lock(file.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK || errno == EINTR) {  // a writer that cleans up has it for a moment
        ::unlinkat(folder_.number(), name.c_str(), 0);
        continue;
      }
      // A file system without locks: the name alone protects, and no left-over is ever removed.
      if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) {
        const int number = errno;
        ::unlinkat(folder_.number(), name.c_str(), 0);
        return io_error("lock the temporary beside", path_, number);
      }
    }
    // Between its making and its lock another writer may have taken it for a dead one's.
    if (!still_named(folder_.number(), name.c_str(), file.number())) continue;
    file_ = std::move(file);
    temporary_ = std::move(name);
    return {};
  }
  return Error{Errc::kIo, Error::kNoOffset,
               "no temporary could be made beside " + quoted(path_) + " in " + std::to_string(kAttempts) +
                   " attempts"};
}

void OutputFile::remove_dead_temporaries() {
  const int copy = ::openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(copy), &::closedir);
  if (!listing) {
    ::close(copy);
    return;
  }
  const std::string stem = temporary_stem(target_);
  while (const dirent* entry = ::readdir(listing.get())) {
    if (!is_temporary_of(entry->d_name, stem) || temporary_ == entry->d_name) continue;
    const Descriptor file(
        ::openat(folder_.number(), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open() || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    if (still_named(folder_.number(), entry->d_name, file.number())) {
      ::unlinkat(folder_.number(), entry->d_name, 0);
    }
  }
}

Result<Descriptor> OutputFile::open_spool() const {
  Descriptor file(system_calls().open_at(folder_.number(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) {
    return io_error("create a spool file beside", path_, errno);
  }
  // Without O_TMPFILE: a file under a temporary's name, unlinked at once. Killed in between, it is a dead
  // temporary without a lock, which the next run removes.
  const std::string stem = temporary_stem(target_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = stem + hex64(unique_number()) + std::string(kSuffix);
    file = Descriptor(
        system_calls().open_at(folder_.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.is_open()) {
      ::unlinkat(folder_.number(), name.c_str(), 0);
      return file;
    }
    if (errno != EEXIST && errno != EINTR) break;
  }
  return io_error("create a spool file beside", path_, errno);
}

Result<void> OutputFile::rename_without_replacing() {
  const int folder = folder_.number();
  if (system_calls().rename_at(folder, temporary_.c_str(), folder, target_.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  if (errno == EEXIST) return exists_error(path_);
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return io_error("rename to", path_, errno);
  // File systems without RENAME_NOREPLACE: a hard link cannot replace either.
  if (system_calls().link_at(folder, temporary_.c_str(), folder, target_.c_str(), 0) == 0) {
    ::unlinkat(folder, temporary_.c_str(), 0);
    return {};
  }
  if (errno == EEXIST) return exists_error(path_);
  // Nor hard links: reserve the name with an empty file, then rename over what is ours.
  const Descriptor reserved(
      system_calls().open_at(folder, target_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!reserved.is_open()) {
    return errno == EEXIST ? exists_error(path_) : io_error("create", path_, errno);
  }
  if (system_calls().rename_at(folder, temporary_.c_str(), folder, target_.c_str(), 0) != 0) {
    const int number = errno;
    ::unlinkat(folder, target_.c_str(), 0);
    return io_error("rename to", path_, number);
  }
  return {};
}

Result<void> OutputFile::commit(bool sync) {
  if (sync && system_calls().sync(file_.number()) != 0) return io_error("fsync", path_, errno);
  if (force_) {
    const int folder = folder_.number();
    if (system_calls().rename_at(folder, temporary_.c_str(), folder, target_.c_str(), 0) != 0) {
      return io_error("rename to", path_, errno);
    }
  } else if (auto renamed = rename_without_replacing(); !renamed) {
    return renamed.error();
  }
  temporary_.clear();
  file_.close();
  if (sync && system_calls().sync(folder_.number()) != 0 && errno != EINVAL) {
    Error error = io_error("fsync the folder of", path_, errno);
    error.detail += ". The file is complete, but its name might not survive a power failure";
    return error;
  }
  return {};
}

}  // namespace tokpack
