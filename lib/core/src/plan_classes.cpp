#include "plan_classes.h"

namespace tokpack::plan {

namespace {

/// A table this small is always cheaper than sorting.
constexpr std::uint32_t kSmallTable = 4096;

LengthClasses counted(std::span<const std::uint32_t> lengths, std::uint32_t longest) {
  const std::size_t entries = std::size_t{longest} + 1;
  LengthClasses out;
  out.table.assign(entries, 0);
  {
    // Two tables in turn: equal neighbours would otherwise wait for each other's store.
    std::vector<std::uint32_t> odd(entries, 0);
    std::size_t i = 0;
    for (; i + 1 < lengths.size(); i += 2) {
      ++out.table[lengths[i]];
      ++odd[lengths[i + 1]];
    }
    if (i < lengths.size()) ++out.table[lengths[i]];
    for (std::size_t l = 0; l < entries; ++l) out.table[l] += odd[l];
  }
  for (std::uint32_t length = longest; length >= 1; --length) {
    const std::uint32_t count = out.table[length];
    out.table[length] = static_cast<std::uint32_t>(out.lengths.size());
    if (count == 0) continue;
    out.lengths.push_back(length);
    out.counts.push_back(count);
  }
  return out;
}

LengthClasses sorted(std::span<const std::uint32_t> lengths) {
  std::vector<std::uint32_t> copy;
  copy.reserve(lengths.size());
  for (const std::uint32_t length : lengths) {
    if (length != 0) copy.push_back(length);
  }
  std::sort(copy.begin(), copy.end(), std::greater<>());
  LengthClasses out;
  for (const std::uint32_t length : copy) {
    if (out.lengths.empty() || out.lengths.back() != length) {
      out.lengths.push_back(length);
      out.counts.push_back(0);
    }
    ++out.counts.back();
  }
  return out;
}

}  // namespace

LengthClasses classify(std::span<const std::uint32_t> lengths) {
  std::uint32_t longest = 0;
  for (const std::uint32_t length : lengths) longest = std::max(longest, length);
  if (longest == 0) return {};
  const bool table_pays = longest <= kSmallTable || longest / 2 <= lengths.size();
  return table_pays ? counted(lengths, longest) : sorted(lengths);
}

}  // namespace tokpack::plan
