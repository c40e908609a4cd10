#include "planned_packs.h"

#include <algorithm>

namespace tokpack::detail {
namespace {

template <typename T>
void move_down(std::vector<T>& values, std::size_t from, std::size_t count, std::size_t to) {
  if (values.empty() || from == to) return;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  std::copy(begin, begin + static_cast<std::ptrdiff_t>(count),
            values.begin() + static_cast<std::ptrdiff_t>(to));
}

}  // namespace

void PlannedPacks::remove(std::span<const std::uint32_t> numbers) {
  if (numbers.empty()) return;
  std::size_t kept = 0, next = 0;
  for (std::size_t p = 0; p < count(); ++p) {
    if (next < numbers.size() && numbers[next] == p) {
      ++next;
      continue;
    }
    // first[kept + 1] is written below only after pack p >= kept was read.
    const std::uint32_t begin = first[p], size = first[p + 1] - begin;
    move_down(order, begin, size, first[kept]);
    move_down(fragments, begin, size, first[kept]);
    first[kept + 1] = first[kept] + size;
    ++kept;
  }
  first.resize(kept + 1);
  if (!order.empty()) order.resize(first.back());
  if (!fragments.empty()) fragments.resize(first.back());
}

}  // namespace tokpack::detail
