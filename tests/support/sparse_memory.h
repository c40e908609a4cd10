// Address space without memory until it is touched: for offsets that no machine has the memory for.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace tokpack::test {

/// data() is null where the system refuses it.
class SparseMemory {
 public:
  explicit SparseMemory(std::size_t bytes) : bytes_(bytes) {
    void* at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    data_ = static_cast<std::uint8_t*>(at);
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace tokpack::test
