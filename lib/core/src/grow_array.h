// A growing array of plain values that never copies itself to grow and keeps its pages when cleared.
//
// Large ones are maps that the system can move (mremap) and back with huge pages: a window is written once
// and then read at random places, where 4 KiB pages cost more than the memory itself. Room that was never
// written costs no memory. Under a sanitizer it is ordinary heap memory, so that overruns are seen.
//
// Ownership: owns its memory. Threads: a value. Throws std::bad_alloc; callers turn it into kOutOfMemory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define TOKPACK_PLAIN_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TOKPACK_PLAIN_MEMORY 1
#endif
#endif

namespace tokpack::detail {

template <typename T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowArray() = default;
  GrowArray(GrowArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowArray& operator=(GrowArray&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
    }
    return *this;
  }
  ~GrowArray() { release(); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  std::span<const T> span() const noexcept { return {data_, size_}; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  /// New elements are not initialised. Returns the first of them.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  void push_back(T value) { *extend(1) = value; }
  void append(const T* values, std::size_t count) {
    if (count != 0) std::memcpy(extend(count), values, count * sizeof(T));
  }
  void append_fill(std::size_t count, T value) {
    T* out = extend(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = value;
  }
  void clear() noexcept { size_ = 0; }
  void release() noexcept {
    if (data_ == nullptr) return;
    if (is_map(capacity_)) {
      ::munmap(data_, capacity_ * sizeof(T));
    } else {
      std::free(data_);
    }
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
#if defined(TOKPACK_PLAIN_MEMORY)
  static constexpr std::size_t kMapFrom = std::numeric_limits<std::size_t>::max();
#else
  static constexpr std::size_t kMapFrom = std::size_t{4} << 20;
#endif
  static constexpr std::size_t kMapUnit = std::size_t{2} << 20;  // a huge page
  static bool is_map(std::size_t count) noexcept { return count * sizeof(T) >= kMapFrom; }

  void grow(std::size_t needed) {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(T) / 2;
    if (needed > kMost) throw std::bad_alloc();
    std::size_t count = needed > capacity_ + capacity_ / 2 ? needed : capacity_ + capacity_ / 2;
    if (count < 64) count = 64;
    if (!is_map(count)) {
      T* moved = static_cast<T*>(std::realloc(data_, count * sizeof(T)));
      if (moved == nullptr) throw std::bad_alloc();
      data_ = moved;
      capacity_ = count;
      return;
    }
    const std::size_t bytes = (count * sizeof(T) + kMapUnit - 1) / kMapUnit * kMapUnit;
    void* moved = nullptr;
    if (data_ != nullptr && is_map(capacity_)) {
      moved = ::mremap(data_, capacity_ * sizeof(T), bytes, MREMAP_MAYMOVE);
      if (moved == MAP_FAILED) throw std::bad_alloc();
    } else {
      moved = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (moved == MAP_FAILED) throw std::bad_alloc();
      if (data_ != nullptr) {
        std::memcpy(moved, data_, size_ * sizeof(T));
        std::free(data_);
      }
    }
    ::madvise(moved, bytes, MADV_HUGEPAGE);
    data_ = static_cast<T*>(moved);
    capacity_ = bytes / sizeof(T);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tokpack::detail
