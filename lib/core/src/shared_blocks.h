// The arrays with a value per token (tokens, explicit labels) of a planned window, cut into the blocks of
// their sections, so that several threads can gather, hash and write them side by side.
//
// What a block holds is decided before any is written, so the bytes are those of appending one after another.
//
// Ownership: borrows the window, the plan and the streams until the last write_one() has returned.
// Errors: kIo, kOutOfMemory, kept until error() is asked. Threads: prepare from one; write_one from any
// number, each with a scratch buffer of its own. prepare throws std::bad_alloc.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "block_stream.h"
#include "grow_array.h"
#include "planned_packs.h"

namespace tokpack::detail {

/// One array of a window pair, and the section that it is written to.
struct TokenArray {
  BlockStream* stream = nullptr;
  const std::byte* carried = nullptr;  ///< of the carried window
  const std::byte* fresh = nullptr;
  std::size_t width = 0;  ///< bytes of an element
};

class SharedBlocks {
 public:
  /// Forgets what was prepared before.
  void clear() noexcept;
  /// Appends the values before the first and behind the last whole block of `array` to its stream, and makes
  /// a task of every block between.
  Result<void> prepare(const TokenArray& array, const WindowPair& pair, const FragmentList& fragments);
  /// Writes a block that no other thread does; false when there is none left.
  bool write_one(GrowArray<std::byte>& scratch) noexcept;
  /// The first failure. REQUIRES: no write_one() is running.
  Result<void> result() const;

 private:
  /// A place in the fragments: `token` tokens into fragment `fragment`.
  struct Cut {
    std::size_t fragment;
    std::uint32_t token;
  };
  struct Task {
    std::size_t array;
    Cut begin;
    std::size_t block;  ///< of its stream
  };
  struct Source {
    TokenArray array;
    WindowPair pair;
    FragmentList fragments;

    /// Copies `count` values from `from` on; returns where they end.
    Cut gather(Cut from, std::uint64_t count, std::byte* out) const noexcept;
  };
  Result<void> write(const Task& task, GrowArray<std::byte>& scratch) const;
  void fail(Error error) noexcept;

  std::vector<Source> sources_;
  std::vector<Task> tasks_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace tokpack::detail
