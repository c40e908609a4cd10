#include "json.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tokpack::tools {

namespace {

void append_string(std::string& out, const std::string& text, bool escape_controls) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\b':
        out += "\\b";
        break;
      default:
        if (c < 0x20 || (escape_controls && c == 0x7f)) {
          out += fmt::format("\\u{:04x}", unsigned{c});
        } else if (escape_controls && c == 0xc2 && next >= 0x80 && next <= 0x9f) {
          out += fmt::format("\\u{:04x}", next);
          ++i;
        } else {
          out += text[i];
        }
    }
  }
  out += '"';
}

void append(std::string& out, const Json& value, std::size_t depth, bool escape_controls) {
  const auto new_line = [&](std::size_t level) {
    out += '\n';
    out.append(level * 2, ' ');
  };
  switch (value.type()) {
    case Json::value_t::object: {
      if (value.empty()) {
        out += "{}";
        return;
      }
      out += '{';
      bool first = true;
      for (auto it = value.begin(); it != value.end(); ++it) {
        if (!first) out += ',';
        first = false;
        new_line(depth + 1);
        append_string(out, it.key(), escape_controls);
        out += ": ";
        append(out, it.value(), depth + 1, escape_controls);
      }
      new_line(depth);
      out += '}';
      return;
    }
    case Json::value_t::array: {
      if (value.empty()) {
        out += "[]";
        return;
      }
      out += '[';
      bool first = true;
      for (const Json& element : value) {
        if (!first) out += ',';
        first = false;
        new_line(depth + 1);
        append(out, element, depth + 1, escape_controls);
      }
      new_line(depth);
      out += ']';
      return;
    }
    case Json::value_t::string:
      append_string(out, value.get_ref<const std::string&>(), escape_controls);
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      out += std::to_string(value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      out += std::to_string(value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      if (std::isfinite(number)) {
        out += python_number(number);
      } else {
        out += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
      }
      return;
    }
    default:
      out += "null";
  }
}

}  // namespace

std::string python_number(double value) {
  // Shortest digits in scientific form, then placed as repr() places them.
  std::array<char, 40> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  const std::string_view scientific(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  const std::size_t e = scientific.find('e');
  std::string digits;
  std::string sign;
  for (const char c : scientific.substr(0, e)) {
    if (c == '-') {
      sign = "-";
    } else if (c != '.') {
      digits += c;
    }
  }
  int exponent = 0;
  const std::string_view power = scientific.substr(e + 1);
  std::from_chars(power.data() + (power[0] == '+' ? 1 : 0), power.data() + power.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (digits.size() > 1) mantissa += "." + digits.substr(1);
    return fmt::format("{}{}e{}{:02}", sign, mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) {
    return fmt::format("{}0.{}{}", sign, std::string(static_cast<std::size_t>(-exponent - 1), '0'), digits);
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole)
    return fmt::format("{}{}{}.0", sign, digits, std::string(whole - digits.size(), '0'));
  return fmt::format("{}{}.{}", sign, digits.substr(0, whole), digits.substr(whole));
}

std::string to_python_json(const Json& value, bool escape_controls) {
  std::string out;
  append(out, value, 0, escape_controls);
  return out;
}

void print_json(Output& out, const Json& value) {
  out << to_python_json(value, ::isatty(1) == 1) << "\n";
  out.flush();
}

JsonObjectPrinter::JsonObjectPrinter(Output& out, std::size_t depth)
    : out_(out), depth_(depth), terminal_(::isatty(1) == 1) {
  out_.buffer() += '{';
}

JsonObjectPrinter JsonObjectPrinter::object(std::string_view name) {
  key(name);
  return JsonObjectPrinter(out_, depth_ + 1);
}

void JsonObjectPrinter::end() {
  if (!first_) new_line(depth_ - 1);
  out_.buffer() += '}';
}

void JsonObjectPrinter::key(std::string_view name) {
  if (!first_) out_.buffer() += ',';
  first_ = false;
  new_line(depth_);
  out_ << "\"" << name << "\": ";
}

void JsonObjectPrinter::new_line(std::size_t depth) {
  out_.buffer() += '\n';
  out_.buffer().append(depth * 2, ' ');
}

void JsonObjectPrinter::append(const Json& value, std::size_t depth) {
  tools::append(out_.buffer(), value, depth, terminal_);
}

std::string as_utf8(std::string_view text) {
  const Json value = std::string(text);
  return Json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

}  // namespace tokpack::tools
