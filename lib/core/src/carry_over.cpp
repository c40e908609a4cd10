#include "carry_over.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tokpack::detail {

std::vector<std::uint32_t> choose_dissolved(std::span<const PackFill> packs, std::uint32_t capacity,
                                            std::uint64_t window_tokens) {
  const std::uint64_t wanted = window_tokens / kCarriedShare;
  std::vector<std::uint32_t> dissolved;
  if (wanted == 0) return dissolved;
  // Least fill in the high half; the complement of the pack number lets the higher number come first.
  std::vector<std::uint64_t> keys;
  for (std::size_t p = 0; p < packs.size(); ++p) {
    if (packs[p].fill >= capacity || packs[p].times_carried >= kMostCarries) continue;
    keys.push_back(std::uint64_t{packs[p].fill} << 32 | (0xffffffffu - static_cast<std::uint32_t>(p)));
  }
  // A heap: only an eighth of the tokens is ever taken, however many packs are open.
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> least({}, std::move(keys));
  std::uint64_t carried = 0;
  while (carried < wanted && !least.empty()) {
    const std::uint32_t pack = 0xffffffffu - static_cast<std::uint32_t>(least.top());
    least.pop();
    dissolved.push_back(pack);
    carried += packs[pack].tokens;
  }
  std::sort(dissolved.begin(), dissolved.end());
  return dissolved;
}

}  // namespace tokpack::detail
