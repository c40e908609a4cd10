#include "column_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "json_arrays.h"
#include "small_float.h"

namespace tokpack::input {
namespace {

namespace dom = simdjson::dom;

template <typename T>
void push(std::vector<std::byte>& out, T value) {
  const std::size_t base = out.size();
  out.resize(base + sizeof value);
  std::memcpy(out.data() + base, &value, sizeof value);
}

template <typename T>
bool push_integer(dom::element value, std::vector<std::byte>& out) {
  if constexpr (sizeof(T) == 8 && !std::numeric_limits<T>::is_signed) {
    std::uint64_t number;
    if (value.get_uint64().get(number) != simdjson::SUCCESS) return false;
    push<T>(out, number);
  } else {
    std::int64_t number;
    if (value.get_int64().get(number) != simdjson::SUCCESS) return false;
    if (number < std::int64_t{std::numeric_limits<T>::min()} ||
        number > std::int64_t{std::numeric_limits<T>::max()}) {
      return false;
    }
    push(out, static_cast<T>(number));
  }
  return true;
}

bool push_float(dom::element value, ElementType type, std::vector<std::byte>& out) {
  double number;
  if (value.get_double().get(number) != simdjson::SUCCESS) return false;
  if (type == ElementType::kF32) {
    const auto narrow = static_cast<float>(number);
    if (!std::isfinite(narrow)) return false;
    push(out, narrow);
    return true;
  }
  const auto bits = type == ElementType::kF16 ? to_f16(number) : to_bf16(number);
  if (!bits) return false;
  push(out, *bits);
  return true;
}

bool push_element(dom::element value, ElementType type, std::vector<std::byte>& out) {
  switch (type) {
    case ElementType::kU8:
      return push_integer<std::uint8_t>(value, out);
    case ElementType::kU16:
      return push_integer<std::uint16_t>(value, out);
    case ElementType::kU32:
      return push_integer<std::uint32_t>(value, out);
    case ElementType::kU64:
      return push_integer<std::uint64_t>(value, out);
    case ElementType::kI32:
      return push_integer<std::int32_t>(value, out);
    case ElementType::kI64:
      return push_integer<std::int64_t>(value, out);
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
      return push_float(value, type, out);
    case ElementType::kBytes:
      break;
  }
  return false;
}

std::string element_words(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return "an integer from 0 to 255";
    case ElementType::kU16:
      return "an integer from 0 to 65535";
    case ElementType::kU32:
      return "an integer from 0 to 4294967295";
    case ElementType::kU64:
      return "an integer from 0 to 18446744073709551615";
    case ElementType::kI32:
      return "an integer of 32 bits";
    case ElementType::kI64:
      return "an integer of 64 bits";
    case ElementType::kF16:
      return "a number that f16 can hold";
    case ElementType::kBF16:
      return "a number that bf16 can hold";
    case ElementType::kF32:
      return "a number that f32 can hold";
    case ElementType::kBytes:
      break;
  }
  return "a string";
}

/// One row: an element, a list of `width` elements, or a string of `width` bytes.
std::optional<ColumnFault> append_row(dom::element value, const ColumnSpec& spec,
                                      std::vector<std::byte>& out) {
  if (spec.type == ElementType::kBytes) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS || text.size() != spec.width) {
      return ColumnFault{fmt::format("a string of {} bytes", spec.width), {}};
    }
    const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
    out.insert(out.end(), bytes.begin(), bytes.end());
    return std::nullopt;
  }
  if (spec.width == 1) {
    if (push_element(value, spec.type, out)) return std::nullopt;
    return ColumnFault{element_words(spec.type), {}};
  }
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS || count_elements(array) != spec.width) {
    return ColumnFault{fmt::format("a list of {} numbers", spec.width), {}};
  }
  std::size_t i = 0;
  for (const dom::element element : array) {
    if (!push_element(element, spec.type, out)) return ColumnFault{element_words(spec.type), {i}};
    ++i;
  }
  return std::nullopt;
}

std::optional<ColumnFault> append_rows(dom::array array, const ColumnSpec& spec,
                                       std::vector<std::byte>& out) {
  std::size_t i = 0;
  for (const dom::element element : array) {
    if (auto fault = append_row(element, spec, out)) {
      fault->path = {i, fault->path.element};
      return fault;
    }
    ++i;
  }
  return std::nullopt;
}

std::optional<ColumnFault> append_ragged(dom::element value, const ColumnSpec& spec,
                                         SampleBatch::Column& column) {
  std::size_t rows = 0;
  if (spec.type == ElementType::kBytes) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS || text.size() % spec.width != 0) {
      return ColumnFault{spec.width == 1 ? std::string("a string")
                                         : fmt::format("a string of a multiple of {} bytes", spec.width),
                         {}};
    }
    const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
    column.values.insert(column.values.end(), bytes.begin(), bytes.end());
    rows = text.size() / spec.width;
  } else {
    dom::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return ColumnFault{"a list", {}};
    if (auto fault = append_rows(array, spec, column.values)) return fault;
    rows = count_elements(array);
  }
  column.offsets.push_back(column.offsets.back() + rows);
  return std::nullopt;
}

}  // namespace

std::optional<ColumnFault> append_column(dom::element value, const ColumnSpec& spec, std::size_t n,
                                         SampleBatch::Column& column) {
  if (spec.ragged) return append_ragged(value, spec, column);
  if (spec.scope == Scope::kSequence) return append_row(value, spec, column.values);
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS)
    return ColumnFault{"a list with one entry a token", {}};
  const std::size_t found = count_elements(array);
  if (found != n) return ColumnFault{fmt::format("{} entries, one a token, but it has {}", n, found), {}};
  return append_rows(array, spec, column.values);
}

}  // namespace tokpack::input
