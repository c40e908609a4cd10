#include "group_keys.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tokpack::detail {
namespace {

constexpr std::uint64_t kEntriesAtOnce = std::uint64_t{2} << 20;  // 32 MiB
constexpr std::uint64_t kEntriesPerRead = 4096;

// Keys of any pattern fall evenly into shares (a multiplicative hash).
std::uint64_t share_of(std::uint64_t key, std::uint64_t shares) noexcept {
  return ((key * 0x9e3779b97f4a7c15u) >> 32) % shares;
}

}  // namespace

Result<void> GroupKeys::add(std::uint64_t key, std::uint64_t source) {
  if (count_ > 0 && key <= last_) ascending_ = false;
  last_ = key;
  ++count_;
  return spool_.append_value(Entry{key, source});
}

Result<void> GroupKeys::scan_share(std::uint64_t share, std::uint64_t shares, Entry& returned) const {
  std::vector<Entry> found, part;
  for (std::uint64_t first = 0; first < count_; first += kEntriesPerRead) {
    part.resize(static_cast<std::size_t>(std::min(kEntriesPerRead, count_ - first)));
    auto ok = spool_.read(first * sizeof(Entry), std::as_writable_bytes(std::span(part)));
    if (!ok) return ok;
    std::copy_if(part.begin(), part.end(), std::back_inserter(found),
                 [&](const Entry& e) { return share_of(e.key, shares) == share; });
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.source < b.source;
  });
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i].key == found[i - 1].key && found[i].source < returned.source) returned = found[i];
  }
  return {};
}

Result<void> GroupKeys::check() const {
  if (ascending_) return {};
  const std::uint64_t shares = count_ / kEntriesAtOnce + 1;
  Entry returned{0, ~std::uint64_t{0}};
  for (std::uint64_t share = 0; share < shares; ++share) {
    if (auto ok = scan_share(share, shares, returned); !ok) return ok;
  }
  if (returned.source == ~std::uint64_t{0}) return {};
  return Error{
      Errc::kGroupReturned, Error::kNoOffset,
      "sample " + std::to_string(returned.source) + ": group " + std::to_string(returned.key) +
          " was there before, with other groups in between. Members of a group must follow each other: "
          "sort the input by group"};
}

}  // namespace tokpack::detail
