#include "export_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tokpack::tools {

namespace {

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

NewFile::NewFile(std::string path, bool force) : path_(std::move(path)), force_(force) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      fail(kUnusable, fmt::format("{} is not a regular file; '-o -' writes to standard output", path_));
    if (!force_) fail(kUnusable, fmt::format("{} exists; --force replaces it", path_));
  }
  temporary_ = fmt::format("{}.{}.tmp", path_, ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int error = errno;
    fail(kUnusable,
         fmt::format("{}: cannot create a file in {}: {}", path_, folder_of(path_), std::strerror(error)));
  }
  out_ = std::make_unique<Output>(descriptor_, path_);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::commit() {
  out_->flush();
  const auto stop = [this](const char* call) {
    const int error = errno;
    fail(kUnusable, fmt::format("{}: {} failed: {}", path_, call, std::strerror(error)));
  };
  if (::fsync(descriptor_) != 0) stop("fsync");
  if (::close(std::exchange(descriptor_, -1)) != 0) stop("close");
  if (force_) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) stop("rename");
    temporary_.clear();
  } else if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    temporary_.clear();
  } else if (errno == EEXIST || ::link(temporary_.c_str(), path_.c_str()) != 0) {
    // link() cannot replace either, for file systems without RENAME_NOREPLACE.
    if (errno == EEXIST) fail(kUnusable, fmt::format("{} exists by now; --force replaces it", path_));
    stop("rename");
  }
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace tokpack::tools
