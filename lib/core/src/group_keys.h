// Finds a group key that comes back after another one, without keeping all keys in memory.
//
// Keys that only grow (as a reader that numbers its groups gives them) cannot come back: nothing to do.
// Others are spooled and looked through at the end, a share of them at a time.
//
// Errors: kGroupReturned, kIo. Throws std::bad_alloc. Threads: one at a time.
#pragma once

#include <cstdint>

#include "block_stream.h"

namespace tokpack::detail {

class GroupKeys {
 public:
  explicit GroupKeys(const OutputFile& output) noexcept : spool_(output) {}

  /// A group with this key starts at this sample.
  Result<void> add(std::uint64_t key, std::uint64_t source);
  /// kGroupReturned with the first sample of the earliest group whose key had been there before.
  Result<void> check() const;

 private:
  struct Entry {
    std::uint64_t key, source;
  };
  Result<void> scan_share(std::uint64_t share, std::uint64_t shares, Entry& returned) const;

  BlockStream spool_;
  std::uint64_t count_ = 0, last_ = 0;
  bool ascending_ = true;
};

}  // namespace tokpack::detail
