// A file in memory (memfd) that a test changes byte by byte: thousands of variants without writing it anew.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace tokpack::test {

class PatchedFile {
 public:
  explicit PatchedFile(std::string_view bytes) : descriptor_(::memfd_create("tokpack-test", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    write(0, bytes);
  }
  PatchedFile(const PatchedFile&) = delete;
  PatchedFile& operator=(const PatchedFile&) = delete;
  ~PatchedFile() { ::close(descriptor_); }

  const std::string& path() const { return path_; }
  void write(std::size_t offset, std::string_view bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != size) {
      throw std::runtime_error("pwrite failed");
    }
  }
  void put(std::size_t offset, char byte) { write(offset, std::string_view(&byte, 1)); }
  void resize(std::size_t size) {
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw std::runtime_error("ftruncate failed");
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace tokpack::test
