#include "quote.h"

#include <fmt/format.h>

#include "utf8.h"

namespace tokpack::input {
namespace {

void append_escaped(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (byte < 0x20 || byte >= 0x7f) {
    out += fmt::format("\\x{:02x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string escaped(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) append_escaped(out, c);
  if (text.size() > limit) out += "...";
  return out;
}

std::string escaped_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = utf8_length(name.substr(i));
    // U+0080 to U+009F are control characters too: terminals act on them.
    const bool control = length == 2 && name[i] == '\xc2' && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (length < 2 || control) {
      append_escaped(out, name[i++]);
    } else {
      out += name.substr(i, length);
      i += length;
    }
  }
  return out;
}

}  // namespace tokpack::input
