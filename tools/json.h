// JSON on standard output, in the form that Python's json.dumps(sort_keys=True, indent=2,
// ensure_ascii=False) prints, so that independent readers can be compared byte for byte.
//
// On a terminal, DEL and C1 control characters are written as \u00NN as well: the same value, no effect.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "command.h"

namespace tokpack::tools {

using Json = nlohmann::json;

/// The text, without a final newline. Strings must be valid UTF-8.
std::string to_python_json(const Json& value, bool escape_controls = false);

/// The value and a newline on `out`.
void print_json(Output& out, const Json& value);

/// A number as Python's repr() has it: 0.5, 1e-05, 100000.0. `value` is finite.
std::string python_number(double value);

/// Valid UTF-8 made of `text`: bytes that are not UTF-8 become U+FFFD.
std::string as_utf8(std::string_view text);

}  // namespace tokpack::tools
