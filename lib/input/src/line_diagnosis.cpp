#include "line_diagnosis.h"

#include <fmt/format.h>

#include "json_scanner.h"
#include "quote.h"
#include "utf8.h"

namespace tokpack::input {
namespace {

constexpr std::size_t kShown = 40;  // bytes of untrusted text in a message

/// Goes to element `index` of the list at the scanner. False when it is not there.
bool enter_element(JsonScanner& scanner, std::size_t index) {
  scanner.skip_space();
  if (!scanner.take('[')) return false;
  for (std::size_t i = 0; i < index; ++i) {
    if (!scanner.skip_value()) return false;
    scanner.skip_space();
    if (!scanner.take(',')) return false;
  }
  return true;
}

/// Bytes before the first one that is not UTF-8.
std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t valid = 0;
  while (const std::size_t length = utf8_length(text.substr(valid))) valid += length;
  return valid;
}

}  // namespace

std::string describe_value(std::string_view line, std::size_t place, ValuePath path,
                           std::string_view expected) {
  JsonScanner scanner(line);
  scanner.skip_space();
  bool found = scanner.take('{');
  std::string_view key;
  for (std::size_t member = 0; found && member <= place; ++member) {
    if (member > 0) {
      found = scanner.skip_value();
      scanner.skip_space();
      found = found && scanner.take(',');
    }
    key = scanner.value_text();
    scanner.skip_space();
    found = found && scanner.take(':');
  }
  if (key.size() >= 2) key = key.substr(1, key.size() - 2);
  std::string where = fmt::format("field \"{}\"", escaped(key, kShown));
  if (path.element != kNoIndex) {
    where += fmt::format(", position {}", path.element);
    found = found && enter_element(scanner, path.element);
  }
  if (path.inner != kNoIndex) {
    where += fmt::format(", inner position {}", path.inner);
    found = found && enter_element(scanner, path.inner);
  }
  if (!found) return fmt::format("{}: expected {}", where, expected);
  return fmt::format("{}: expected {}, found {}", where, expected, escaped(scanner.value_text(), kShown));
}

std::optional<std::string> with_readable_numbers(
    std::string_view line, const std::function<LargeNumber(std::string_view)>& meaning) {
  std::string out;
  std::size_t copied = 0;
  JsonScanner scanner(line);
  scanner.on_out_of_range([&](std::size_t at, std::string_view number) {
    const LargeNumber means = meaning(scanner.outer_key());
    const bool whole = number.find_first_of(".eE") == std::string_view::npos;
    if (means == LargeNumber::kRefused || (means == LargeNumber::kFloat && !whole)) return false;
    out.append(line.substr(copied, at - copied));
    out.append(means == LargeNumber::kUnread ? "0" : number);
    if (means == LargeNumber::kFloat) out.append(".0");
    copied = at + number.size();
    return true;
  });
  if (!scanner.skip_value() || copied == 0) return std::nullopt;
  scanner.skip_space();
  if (!scanner.at_end()) return std::nullopt;
  return out.append(line.substr(copied));
}

SyntaxProblem explain_syntax(std::string_view line, std::string_view fallback) {
  const std::size_t valid = valid_utf8_prefix(line);
  if (valid < line.size()) {
    return {Errc::kInputEncoding,
            fmt::format("byte {} of the line is not UTF-8: {}; JSON lines must be UTF-8", valid + 1,
                        escaped(line.substr(valid, 4)))};
  }
  JsonScanner scanner(line);
  const bool good = scanner.skip_value();
  if (!good && !scanner.number_out_of_range().empty()) {
    return {Errc::kJsonField, fmt::format("field \"{}\": the number {} does not fit 64 bits",
                                          escaped(scanner.outer_key(), kShown),
                                          escaped(scanner.number_out_of_range(), kShown))};
  }
  if (!good && scanner.at_end()) {
    return {Errc::kJsonSyntax,
            fmt::format("the record is cut: expected {}, found the end of the line after {} bytes",
                        scanner.problem(), line.size())};
  }
  if (!good) {
    return {Errc::kJsonSyntax,
            fmt::format("not JSON: expected {} at byte {} of the line, found {}", scanner.problem(),
                        scanner.position() + 1, escaped(line.substr(scanner.position()), kShown))};
  }
  scanner.skip_space();
  if (!scanner.at_end()) {
    return {Errc::kJsonSyntax,
            fmt::format("expected one JSON document a line, found more behind the first, at byte {}: {}",
                        scanner.position() + 1, escaped(line.substr(scanner.position()), kShown))};
  }
  return {Errc::kJsonSyntax, fmt::format("not usable as JSON: {}", fallback)};
}

}  // namespace tokpack::input
