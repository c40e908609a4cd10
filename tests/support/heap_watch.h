// operator new of this program: it counts, and can be told to fail. Include it in one source file of a
// program.
//
// Threads: counts are of all threads together; a limit is of all threads (NoMemoryAfter) or of one
// (NoMemoryHereAfter). Only what goes through operator new is seen.
#pragma once

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace tokpack::test {

inline constexpr long kUnlimited = std::numeric_limits<long>::max();

struct Heap {
  std::atomic<std::size_t> bytes{0}, peak{0}, allocations{0};
  std::atomic<long> left{kUnlimited};  ///< allocations until all of them fail
};
inline Heap heap;
inline thread_local long left_here = kUnlimited;

inline void* allocate(std::size_t bytes) noexcept {
  if (heap.left.load() != kUnlimited && heap.left.fetch_sub(1) <= 0) return nullptr;
  if (left_here != kUnlimited && left_here-- <= 0) return nullptr;
  void* const p = std::malloc(bytes == 0 ? 1 : bytes);
  if (p == nullptr) return nullptr;
  ++heap.allocations;
  const std::size_t now = heap.bytes += malloc_usable_size(p);
  std::size_t peak = heap.peak.load();
  while (now > peak && !heap.peak.compare_exchange_weak(peak, now)) {
  }
  return p;
}

inline void* allocate_or_throw(std::size_t bytes) {
  void* const p = allocate(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

inline void release(void* p) noexcept {
  if (p == nullptr) return;
  heap.bytes -= malloc_usable_size(p);
  std::free(p);
}

/// From the n-th on every allocation fails, those of handlers too.
class NoMemoryAfter {
 public:
  explicit NoMemoryAfter(long n) noexcept { heap.left = n; }
  ~NoMemoryAfter() { heap.left = kUnlimited; }
  NoMemoryAfter(const NoMemoryAfter&) = delete;
  NoMemoryAfter& operator=(const NoMemoryAfter&) = delete;
};

/// Runs part of limited work, such as a caller's own preparations, without the limit.
template <typename Work>
auto without_limit(Work work) {
  const long left = heap.left.exchange(kUnlimited);
  auto result = work();
  heap.left = left;
  return result;
}

/// The same for this thread alone.
class NoMemoryHereAfter {
 public:
  explicit NoMemoryHereAfter(long n) noexcept { left_here = n; }
  ~NoMemoryHereAfter() { left_here = kUnlimited; }
  NoMemoryHereAfter(const NoMemoryHereAfter&) = delete;
  NoMemoryHereAfter& operator=(const NoMemoryHereAfter&) = delete;
  static bool was_needed() noexcept { return left_here < 0; }
};

/// How many bytes more than before stood allocated at once.
template <typename Work>
double peak_bytes(Work work) {
  const std::size_t before = heap.bytes;
  heap.peak = before;
  work();
  return static_cast<double>(heap.peak - before);
}

template <typename Work>
std::size_t allocations_of(Work work) {
  const std::size_t before = heap.allocations;
  work();
  return heap.allocations - before;
}

}  // namespace tokpack::test

void* operator new(std::size_t bytes) { return tokpack::test::allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return tokpack::test::allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return tokpack::test::allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return tokpack::test::allocate(bytes);
}
void operator delete(void* p) noexcept { tokpack::test::release(p); }
void operator delete[](void* p) noexcept { tokpack::test::release(p); }
void operator delete(void* p, std::size_t) noexcept { tokpack::test::release(p); }
void operator delete[](void* p, std::size_t) noexcept { tokpack::test::release(p); }
