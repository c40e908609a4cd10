// Arrays of a parsed line into flat vectors. The loops are the room's hot path: one pass over the array, one
// store and a range check per element that is looked at once, at the end.
//
// Every function appends nothing that counts when it returns an index: the caller cuts its vectors back.
// Threads: pure but for the vectors.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokpack::input {

inline constexpr std::size_t kAllGood = ~std::size_t{0};

/// Elements of `array`. simdjson keeps 24 bits of the count; beyond them we count.
inline std::size_t count_elements(simdjson::dom::array array) {
  constexpr std::size_t kSaturated = 0xffffff;
  const std::size_t count = array.size();
  if (count < kSaturated) return count;
  std::size_t counted = 0;
  for ([[maybe_unused]] const simdjson::dom::element element : array) ++counted;
  return counted;
}

/// Appends ids 0..limit-1. Returns the index of the first element that is none, or kAllGood.
inline std::size_t append_ids(simdjson::dom::array array, std::uint64_t limit,
                              std::vector<std::uint32_t>& out) {
  const std::size_t base = out.size();
  out.resize(base + count_elements(array));
  std::uint32_t* const first = out.data() + base;
  std::uint32_t* next = first;
  std::uint64_t largest = 0;  // a negative value becomes a huge one
  for (const simdjson::dom::element element : array) {
    std::int64_t value;
    if (element.get_int64().get(value) != simdjson::SUCCESS) return static_cast<std::size_t>(next - first);
    const auto id = static_cast<std::uint64_t>(value);
    largest = id > largest ? id : largest;
    *next++ = static_cast<std::uint32_t>(id);
  }
  if (largest < limit) return kAllGood;
  std::size_t index = 0;
  for (const simdjson::dom::element element : array) {
    std::int64_t value;
    if (element.get_int64().get(value) != simdjson::SUCCESS || static_cast<std::uint64_t>(value) >= limit)
      break;
    ++index;
  }
  return index;
}

/// Appends labels: ignore_index or ids 0..limit-1.
inline std::size_t append_labels(simdjson::dom::array array, std::uint64_t limit, std::int32_t ignore_index,
                                 std::vector<std::int32_t>& out) {
  const std::size_t base = out.size();
  out.resize(base + count_elements(array));
  std::int32_t* const first = out.data() + base;
  std::int32_t* next = first;
  const auto good = [limit, ignore_index](std::int64_t value) {
    return value == ignore_index || static_cast<std::uint64_t>(value) < limit;
  };
  bool all_good = true;
  for (const simdjson::dom::element element : array) {
    std::int64_t value;
    if (element.get_int64().get(value) != simdjson::SUCCESS) return static_cast<std::size_t>(next - first);
    all_good &= good(value);
    *next++ = static_cast<std::int32_t>(value);
  }
  if (all_good) return kAllGood;
  std::size_t index = 0;
  for (const simdjson::dom::element element : array) {
    std::int64_t value;
    if (element.get_int64().get(value) != simdjson::SUCCESS || !good(value)) break;
    ++index;
  }
  return index;
}

/// 0, 1, false or true; anything else is no mask element.
inline bool read_mask_bit(simdjson::dom::element element, std::uint8_t& bit) {
  std::int64_t number;
  if (element.get_int64().get(number) == simdjson::SUCCESS) {
    bit = static_cast<std::uint8_t>(number);
    return number == 0 || number == 1;
  }
  bool flag;
  if (element.get_bool().get(flag) != simdjson::SUCCESS) return false;
  bit = flag ? 1 : 0;
  return true;
}

/// And-s a mask into `mask`, whose size is the array's. Returns as above.
inline std::size_t and_mask(simdjson::dom::array array, std::uint8_t* mask) {
  std::size_t index = 0;
  for (const simdjson::dom::element element : array) {
    std::uint8_t bit = 0;
    if (!read_mask_bit(element, bit)) return index;
    mask[index++] &= bit;
  }
  return kAllGood;
}

}  // namespace tokpack::input
