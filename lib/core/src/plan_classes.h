// The length histogram: the distinct lengths that occur, longest first, and how often each does.
//
// Counted in a table where lengths are small against their number, else sorted, so that a capacity of 2^24
// with ten sequences costs what ten sequences cost. Length 0 is in no class. Throws std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tokpack::plan {

struct LengthClasses {
  std::vector<std::uint32_t> lengths;  ///< distinct, descending
  std::vector<std::uint32_t> counts;   ///< of each, at least 1
  std::vector<std::uint32_t> table;    ///< class of each length; empty when lengths were sorted

  std::size_t size() const noexcept { return lengths.size(); }

  /// Calls `work` with a function from an occurring length to its class, once, outside the caller's loop.
  template <typename Work>
  void with_lookup(Work work) const {
    if (!table.empty()) {
      work([t = table.data()](std::uint32_t length) { return t[length]; });
    } else {
      work([this](std::uint32_t length) {
        const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
        return static_cast<std::uint32_t>(at - lengths.begin());
      });
    }
  }
};

LengthClasses classify(std::span<const std::uint32_t> lengths);

}  // namespace tokpack::plan
