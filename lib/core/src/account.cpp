#include "tokpack/core/account.h"

#include <initializer_list>

namespace tokpack {
namespace {

// total == the sum of the parts, without forming a sum.
bool is_sum(std::uint64_t total, std::initializer_list<std::uint64_t> parts) noexcept {
  for (const std::uint64_t part : parts) {
    if (part > total) return false;
    total -= part;
  }
  return total == 0;
}

}  // namespace

bool adds_up(const Account& a) noexcept {
  return is_sum(a.samples_in, {a.samples_packed, a.samples_empty, a.samples_dropped, a.samples_held_out,
                               a.samples_skipped}) &&
         is_sum(a.tokens_in, {a.tokens_stored, a.tokens_dropped, a.tokens_held_out, a.tokens_skipped,
                              a.tokens_target_only}) &&
         is_sum(a.sequences, {a.samples_packed, a.extra_fragments});
}

}  // namespace tokpack
