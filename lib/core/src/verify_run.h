// What the parts of verify share: the opened file, the callback, windows over sections, and a loop that
// several threads share.
//
// Structural damage must not crash later checks: whatever reads by a number from the file proves it first,
// and leaves the pack out when it cannot. A read that fails leaves through ReadFailure, which verify()
// catches; no exception crosses the library's interface.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "reader_state.h"
#include "tokpack/core/verify.h"

namespace tokpack::detail {

struct ReadFailure {
  Error error;
};

/// `length` bytes of the file: in place, or read into `buffer`. REQUIRES: within the file. Throws
/// ReadFailure.
format::Bytes bytes_at(const ReaderState& state, std::uint64_t offset, std::uint64_t length,
                       std::vector<std::byte>& buffer);

struct VerifyRun {
  const ReaderState& state;
  unsigned threads;
  const std::function<void(const Finding&)>& report;
  std::uint64_t findings = 0;

  const format::Header& header() const noexcept { return state.layout.header; }
  void add(const Finding& finding) {
    ++findings;
    report(finding);
  }
};

/// Elements of one section, in place when mapped, else through a buffer that moves along: cheapest in order.
template <typename T>
class SectionWindow {
 public:
  SectionWindow(const ReaderState& state, const format::SectionEntry* entry) : state_(&state), entry_(entry) {
    if (entry != nullptr && state.mapped()) {
      in_place_ = format::view<T>(state.mapping->bytes(), entry->offset, entry->length / sizeof(T));
    }
  }
  bool present() const noexcept { return entry_ != nullptr; }
  /// Where element i stands in the file.
  std::uint64_t offset_of(std::uint64_t i) const noexcept { return entry_->offset + i * sizeof(T); }

  /// Elements [first, first + count), until the next call. REQUIRES: within the section. Throws ReadFailure.
  std::span<const T> at(std::uint64_t first, std::uint64_t count) {
    if (state_->mapped()) {
      return in_place_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    }
    if (first < first_ || count > loaded_.size() || first - first_ > loaded_.size() - count)
      load(first, count);
    return loaded_.subspan(static_cast<std::size_t>(first - first_), static_cast<std::size_t>(count));
  }

 private:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{256} << 10;

  void load(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t all = entry_->length / sizeof(T);
    const std::uint64_t wanted = std::min(std::max(count, kWindowBytes / sizeof(T)), all - first);
    loaded_ = {};
    const format::Bytes bytes = bytes_at(*state_, offset_of(first), wanted * sizeof(T), buffer_);
    loaded_ = format::view<T>(bytes, 0, wanted);
    first_ = first;
  }

  const ReaderState* state_;
  const format::SectionEntry* entry_;
  std::span<const T> in_place_;
  std::vector<std::byte> buffer_;
  std::span<const T> loaded_;
  std::uint64_t first_ = 0;
};

/// work(worker, i) for every i below `count`, workers numbered below `threads`; i ascends within a worker.
/// The first exception ends all and is thrown here.
template <typename Work>
void shared_loop(unsigned threads, std::uint64_t count, const Work& work) {
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&](unsigned worker) noexcept {
    try {
      for (std::uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(worker, i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next.store(count);
    }
  };
  {
    std::vector<std::jthread> others;
    const auto wanted = static_cast<unsigned>(std::min<std::uint64_t>(threads, count));
    try {
      others.reserve(wanted);
      for (unsigned worker = 1; worker < wanted; ++worker) others.emplace_back(run, worker);
    } catch (const std::system_error&) {
      // No more threads to be had: those that started and this one do the work.
    }
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

/// The pack that row `row` of a token or sequence section belongs to; nothing when the offsets do not say so.
std::optional<std::uint64_t> pack_of_row(const format::Header& header, SectionWindow<std::uint64_t>& offsets,
                                         std::uint64_t row);

// The parts, in the order in which verify runs them.
void verify_gaps(VerifyRun& run);
void verify_blocks(VerifyRun& run);     ///< checksums, hashes, ranges of values
void verify_packs(VerifyRun& run);      ///< boundaries, targets, extremes
void verify_fragments(VerifyRun& run);  ///< sources and first token positions
void verify_columns(VerifyRun& run);    ///< ragged offsets, groups
void verify_metadata(VerifyRun& run);   ///< canonical form, account

}  // namespace tokpack::detail
