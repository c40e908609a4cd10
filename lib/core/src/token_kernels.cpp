#include "token_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tokpack::detail {
namespace {

template <typename Visit>
auto visit_ids(TokenSlice ids, Visit visit) noexcept {
  switch (ids.type) {
    case TokenInput::Type::kU16:
      return visit(static_cast<const std::uint16_t*>(ids.data));
    case TokenInput::Type::kU32:
      return visit(static_cast<const std::uint32_t*>(ids.data));
    case TokenInput::Type::kI32:
      return visit(static_cast<const std::int32_t*>(ids.data));
    case TokenInput::Type::kI64:
      break;
  }
  return visit(static_cast<const std::int64_t*>(ids.data));
}

template <typename T>
std::uint64_t largest(const T* ids, std::size_t count) noexcept {
  using U = std::make_unsigned_t<T>;
  U most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, static_cast<U>(ids[i]));
  return most;
}

template <typename T, typename Out>
void copy(const T* ids, std::size_t count, Out* out) noexcept {
  if (count == 0) return;
  if constexpr (sizeof(T) == sizeof(Out)) {
    std::memcpy(out, ids, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(ids[i]);
  }
}

template <typename T>
LabelScan scan(const std::int32_t* labels, const T* ids, std::size_t count, std::int32_t ignore_index,
               std::uint32_t limit) noexcept {
  unsigned out_of_range = 0, other = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t label = labels[i];
    const bool is_ignored = label == ignore_index;
    const bool is_token = static_cast<std::uint32_t>(label) == static_cast<std::uint32_t>(ids[i]);
    out_of_range |= static_cast<unsigned>(!is_ignored & (static_cast<std::uint32_t>(label) > limit));
    other |= static_cast<unsigned>(!is_ignored & !is_token);
  }
  return {out_of_range == 0, other == 0};
}

}  // namespace

TokenSlice TokenSlice::from(std::size_t first) const noexcept {
  return visit_ids(*this, [this, first](const auto* ids) { return TokenSlice{ids + first, type}; });
}

std::uint64_t TokenSlice::at(std::size_t i) const noexcept {
  return static_cast<std::uint64_t>(signed_at(i));
}

std::int64_t TokenSlice::signed_at(std::size_t i) const noexcept {
  return visit_ids(*this, [i](const auto* ids) { return static_cast<std::int64_t>(ids[i]); });
}

std::uint64_t largest_id(TokenSlice ids, std::size_t count) noexcept {
  return visit_ids(ids, [count](const auto* v) { return largest(v, count); });
}

void copy_ids(TokenSlice ids, std::size_t count, std::uint16_t* out) noexcept {
  visit_ids(ids, [count, out](const auto* v) { copy(v, count, out); });
}
void copy_ids(TokenSlice ids, std::size_t count, std::uint32_t* out) noexcept {
  visit_ids(ids, [count, out](const auto* v) { copy(v, count, out); });
}

LabelScan scan_labels(const std::int32_t* labels, TokenSlice ids, std::size_t count,
                      std::int32_t ignore_index, std::uint32_t limit) noexcept {
  return visit_ids(ids, [&](const auto* v) { return scan(labels, v, count, ignore_index, limit); });
}

}  // namespace tokpack::detail
