// JSON on standard output, in the form that Python's json.dumps(sort_keys=True, indent=2,
// ensure_ascii=False) prints, so that independent readers can be compared byte for byte.
//
// On a terminal, DEL and C1 control characters are written as \u00NN as well: the same value, no effect.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "command.h"

namespace tokpack::tools {

using Json = nlohmann::json;

/// The text, without a final newline. Strings must be valid UTF-8.
std::string to_python_json(const Json& value, bool escape_controls = false);

/// The value and a newline on `out`.
void print_json(Output& out, const Json& value);

/// A top-level object printed member by member, in the form of print_json(), for lists that are too long to
/// be held as values. Members are given in the order of their names, which need no escapes.
class JsonObjectPrinter {
 public:
  explicit JsonObjectPrinter(Output& out, std::size_t depth = 1);

  void member(std::string_view name, const Json& value) {
    key(name);
    append(value, depth_);
  }
  /// The list of value(first), ..., value(last - 1).
  template <typename Value>
  void list(std::string_view name, std::size_t first, std::size_t last, Value value) {
    key(name);
    out_.buffer() += '[';
    for (std::size_t i = first; i < last; ++i) {
      if (i > first) out_.buffer() += ',';
      new_line(depth_ + 1);
      append(value(i), depth_ + 1);
      out_.flush_if_full();
    }
    if (first < last) new_line(depth_);
    out_.buffer() += ']';
  }
  /// An object inside; end() it before the next member.
  JsonObjectPrinter object(std::string_view name);
  void end();

 private:
  void key(std::string_view name);
  void new_line(std::size_t depth);
  void append(const Json& value, std::size_t depth);

  Output& out_;
  std::size_t depth_;
  bool first_ = true, terminal_;
};

/// A number as Python's repr() has it: 0.5, 1e-05, 100000.0. `value` is finite.
std::string python_number(double value);

/// Valid UTF-8 made of `text`: bytes that are not UTF-8 become U+FFFD.
std::string as_utf8(std::string_view text);

}  // namespace tokpack::tools
