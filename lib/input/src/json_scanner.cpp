#include "json_scanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tokpack::input {
namespace {

constexpr std::size_t kEscape = 6;  // \uNNNN

/// The number that the four hex digits say.
std::uint32_t hex_value(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}
bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True when the JSON number `text` fits a 64-bit integer (if it is written as one) or a double.
bool number_fits(std::string_view text) {
  if (text.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole;
    std::uint64_t natural;
    const char* end = text.data() + text.size();
    return std::from_chars(text.data(), end, whole).ec == std::errc{} ||
           std::from_chars(text.data(), end, natural).ec == std::errc{};
  }
  return std::isfinite(std::strtod(std::string(text).c_str(), nullptr));
}

}  // namespace

void JsonScanner::skip_space() noexcept {
  while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n')) ++at_;
}

bool JsonScanner::take(char c) noexcept {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonScanner::expected(std::string what) {
  problem_ = std::move(what);
  return false;
}

bool JsonScanner::skip_string() {
  if (!take('"')) return expected("a string");
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return expected("no control character within a string");
    if (c != '\\') {
      ++at_;
      continue;
    }
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kind == 'u') {
      for (std::size_t i = at_ + 2; i < at_ + 6; ++i) {
        const char digit = i < text_.size() ? text_[i] : '\0';
        const char lower = static_cast<char>(digit | 0x20);
        if (is_digit(digit) || (lower >= 'a' && lower <= 'f')) continue;
        if (i >= text_.size()) at_ = text_.size();
        return expected("four hex digits after \\u");
      }
      if (!skip_surrogates(hex_value(text_.substr(at_ + 2, 4)))) return false;
    } else if (std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos && kind != '\0') {
      at_ += 2;
    } else {
      if (at_ + 1 == text_.size()) ++at_;
      return expected("one of \" \\ / b f n r t u after a backslash");
    }
  }
  return expected("the closing quote of a string");
}

/// At the escape of `unit`: over it, and over the second one of a pair.
bool JsonScanner::skip_surrogates(std::uint32_t unit) {
  if (is_low_surrogate(unit))
    return expected("\\ud800 to \\udbff before a low surrogate, or the character itself,");
  if (is_high_surrogate(unit)) {
    const std::string_view next = text_.substr(at_ + kEscape, kEscape);
    if (next.size() < kEscape || !next.starts_with("\\u") || !is_low_surrogate(hex_value(next.substr(2))))
      return expected("\\udc00 to \\udfff behind a high surrogate, or the character itself,");
    at_ += kEscape;
  }
  at_ += kEscape;
  return true;
}

bool JsonScanner::skip_number() {
  const std::size_t begin = at_;
  const auto digits = [this] {
    const std::size_t first = at_;
    while (!at_end() && is_digit(peek())) ++at_;
    return at_ > first;
  };
  take('-');
  const bool zero = peek() == '0';
  const std::size_t first_digit = at_;
  if (!digits()) return expected("a digit");
  if (zero && at_ > first_digit + 1) {
    at_ = first_digit;
    return expected("a number without leading zeros");
  }
  if (take('.') && !digits()) return expected("a digit after the decimal point");
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (!take('+')) take('-');
    if (!digits()) return expected("a digit in the exponent");
  }
  const std::string_view number = text_.substr(begin, at_ - begin);
  if (number_fits(number) || (ask_ && ask_(begin, number))) return true;
  at_ = begin;
  out_of_range_ = number;
  return false;
}

bool JsonScanner::skip_scalar() {
  const char c = peek();
  if (c == '"') return skip_string();
  if (c == '-' || is_digit(c)) return skip_number();
  for (const std::string_view word : {"true", "false", "null"}) {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with(word)) {
      at_ += word.size();
      return true;
    }
    if (!rest.empty() && word.starts_with(rest)) at_ = text_.size();
  }
  return expected("a value");
}

bool JsonScanner::skip_key(std::size_t depth) {
  skip_space();
  const std::size_t begin = at_;
  if (!skip_string()) return problem_ == "a string" ? expected("a quoted key") : false;
  if (depth == 1) outer_key_ = text_.substr(begin + 1, at_ - begin - 2);
  skip_space();
  return take(':') || expected("a colon");
}

bool JsonScanner::skip_value() {
  std::vector<char> open;  // the closing bracket of each level
  while (true) {
    skip_space();
    // At the start of a value.
    if (peek() == '{' || peek() == '[') {
      const bool object = peek() == '{';
      if (open.size() == kMostDepth)
        return expected("at most " + std::to_string(kMostDepth) +
                        " levels of brackets (flatten the field or leave it out)");
      ++at_;
      skip_space();
      open.push_back(object ? '}' : ']');
      if (peek() != open.back()) {
        if (object && !skip_key(open.size())) return false;
        continue;
      }
    } else if (!skip_scalar()) {
      return false;
    }
    // Behind a value.
    while (true) {
      if (open.empty()) return true;
      skip_space();
      if (take(open.back())) {
        open.pop_back();
        continue;
      }
      if (!take(',')) return expected(open.back() == '}' ? "a comma or }" : "a comma or ]");
      if (open.back() == '}' && !skip_key(open.size())) return false;
      break;
    }
  }
}

std::string_view JsonScanner::value_text() {
  skip_space();
  const std::size_t begin = at_;
  skip_value();
  return text_.substr(begin, at_ - begin);
}

}  // namespace tokpack::input
