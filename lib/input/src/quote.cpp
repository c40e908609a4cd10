#include "quote.h"

#include <fmt/format.h>

namespace tokpack::input {
namespace {

void append_escaped(std::string& out, char c, bool keep_high) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !keep_high)) {
    out += fmt::format("\\x{:02x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string escaped(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) append_escaped(out, c, false);
  if (text.size() > limit) out += "...";
  return out;
}

std::string escaped_name(std::string_view name) {
  std::string out;
  for (const char c : name) append_escaped(out, c, true);
  return out;
}

}  // namespace tokpack::input
