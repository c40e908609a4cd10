// The slow way, taken only for a line that was refused: finds the place and the text of what is wrong, which
// simdjson's DOM does not keep. A small scanner of its own over the raw line.
//
// Threads: pure. Works on any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tokpack/format/error.h"

namespace tokpack::input {

inline constexpr std::size_t kNoIndex = ~std::size_t{0};

/// Where in a field's value: element of the list, element of that element.
struct ValuePath {
  std::size_t element = kNoIndex;
  std::size_t inner = kNoIndex;
};

/// `field "input_ids", position 3: expected an integer from 0 to 50256, found 1.0`. `place` counts the
/// members of the line's object; positions are 0-based. REQUIRES: the line is valid JSON.
std::string describe_value(std::string_view line, std::size_t place, ValuePath path,
                           std::string_view expected);

/// What a number that no 64 bits hold means where it stands.
enum class LargeNumber : std::uint8_t {
  kRefused,
  kUnread,  ///< in a field without a meaning: any number will do
  kFloat,   ///< in a field of floats, which hold it, if not exactly
};

/// The line with such numbers made readable to simdjson, which refuses a document for one of them; nothing
/// where one is refused, or the line is not JSON for another reason. `meaning` is asked with the outermost
/// key.
std::optional<std::string> with_readable_numbers(std::string_view line,
                                                 const std::function<LargeNumber(std::string_view)>& meaning);

struct SyntaxProblem {
  Errc code = Errc::kJsonSyntax;
  std::string text;
};

/// Why `line` is not one JSON document: invalid UTF-8 (kInputEncoding), a number that no 64 bits hold
/// (kJsonField, with its field), or what stands where something else was expected. `fallback` is the parser's
/// own word, used when nothing else is found.
SyntaxProblem explain_syntax(std::string_view line, std::string_view fallback);

}  // namespace tokpack::input
