#include "npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "quote.h"

namespace tokpack::input {
namespace {

constexpr std::array<unsigned char, 6> kNpyMagic = {0x93, 'N', 'U', 'M', 'P', 'Y'};

struct TypeCode {
  std::string_view code;
  NumberType type;
};
constexpr std::array kTypeCodes = {
    TypeCode{"|b1", NumberType::kBool}, TypeCode{"|u1", NumberType::kU8},  TypeCode{"<u2", NumberType::kU16},
    TypeCode{"<u4", NumberType::kU32},  TypeCode{"<u8", NumberType::kU64}, TypeCode{"<i4", NumberType::kI32},
    TypeCode{"<i8", NumberType::kI64},
};

Error bad(std::string detail) { return {Errc::kInputArray, Error::kNoOffset, std::move(detail)}; }

/// A reader of the one Python dict that the header is: {'descr': '<u2', 'fortran_order': False, 'shape':
/// (3,), }
class DictText {
 public:
  explicit DictText(std::string_view text) : rest_(text) {}

  bool take(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool word(std::string_view expected) {
    skip_space();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::uint64_t> number() {
    skip_space();
    std::uint64_t value = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (read.ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    return value;
  }
  std::string_view rest() const { return rest_; }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

 private:
  std::string_view rest_;
};

Result<NpyHeader> parse_dict(std::string_view text) {
  DictText dict(text);
  NpyHeader header;
  bool has_type = false, has_shape = false;
  const auto broken = [&dict] {
    return bad(fmt::format("a damaged .npy header near \"{}\"", escaped(dict.rest(), 40)));
  };
  if (!dict.take('{')) return broken();
  while (!dict.take('}')) {
    const auto key = dict.quoted();
    if (!key || !dict.take(':')) return broken();
    if (*key == "descr") {
      const auto code = dict.quoted();
      if (!code) return bad("expected an array of plain numbers, found records");
      const auto* found = std::ranges::find(kTypeCodes, *code, &TypeCode::code);
      if (found == kTypeCodes.end()) {
        return bad(
            fmt::format("expected a type of |b1 |u1 <u2 <u4 <u8 <i4 <i8, found {}", escaped(*code, 20)));
      }
      header.type = found->type;
      has_type = true;
    } else if (*key == "fortran_order") {
      // Both orders are the same for one dimension.
      if (!dict.word("False") && !dict.word("True")) return broken();
    } else if (*key == "shape") {
      dict.skip_space();
      const std::string_view shape = dict.rest();
      if (!dict.take('(')) return broken();
      const auto count = dict.number();
      if (!count || !dict.take(',') || !dict.take(')')) {
        return bad(fmt::format("expected one dimension, found shape {}){}",
                               escaped(shape.substr(0, shape.find(')')), 60),
                               count ? "; where it is one row a sample, ravel it and give the lengths" : ""));
      }
      header.count = *count;
      has_shape = true;
    } else {
      return broken();
    }
    if (!dict.take(',') && !dict.rest().starts_with('}')) return broken();
  }
  if (!has_type || !has_shape) return bad("the .npy header lacks descr or shape");
  return header;
}

}  // namespace

std::string_view number_type_name(NumberType type) noexcept {
  constexpr std::array<std::string_view, 7> kNames = {"bool", "u8", "u16", "u32", "u64", "i32", "i64"};
  return kNames[static_cast<std::size_t>(type)];
}

bool has_npy_magic(format::Bytes head) noexcept {
  return head.size() >= kNpyMagic.size() &&
         std::ranges::equal(head.first(kNpyMagic.size()), std::as_bytes(std::span(kNpyMagic)));
}

Result<NpyHeader> parse_npy_header(format::Bytes head) {
  if (head.size() < 12) return bad(fmt::format("a .npy header is cut after {} bytes", head.size()));
  const auto major = std::to_integer<unsigned>(head[6]);
  if (major < 1 || major > 3) return bad(fmt::format("expected .npy version 1, 2 or 3, found {}", major));
  const std::uint64_t start = major == 1 ? 10 : 12;
  const std::uint64_t length =
      major == 1 ? format::load<std::uint16_t>(head, 8) : format::load<std::uint32_t>(head, 8);
  if (!format::in_bounds(start, length, head.size())) {
    return bad(
        fmt::format("the .npy header says {} bytes, {} are there or allowed", length, head.size() - start));
  }
  std::string text;
  for (const std::byte byte :
       head.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(length))) {
    text += static_cast<char>(byte);
  }
  auto header = parse_dict(text);
  if (header) header->data_offset = start + length;
  return header;
}

}  // namespace tokpack::input
