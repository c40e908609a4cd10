// A strict scanner of one JSON document that stops at the first thing wrong. Slow and small; it serves
// messages, never data.
//
// Ownership: borrows the text. Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokpack::input {

class JsonScanner {
 public:
  /// Deeper nesting is refused, as simdjson does.
  static constexpr std::size_t kMostDepth = 1024;

  explicit JsonScanner(std::string_view text) noexcept : text_(text) {}

  std::size_t position() const noexcept { return at_; }
  bool at_end() const noexcept { return at_ == text_.size(); }
  char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }
  void skip_space() noexcept;
  bool take(char c) noexcept;

  /// Over one value of any kind. False at the first thing wrong, where position() then stands; problem() says
  /// what was expected.
  bool skip_value();
  /// Over a string, quotes included.
  bool skip_string();
  const std::string& problem() const noexcept { return problem_; }
  /// The text of the value that starts at position(), which it skips.
  std::string_view value_text();

  /// Asked about each number that neither a 64-bit integer nor a double holds, with its position: true goes
  /// on.
  void on_out_of_range(std::function<bool(std::size_t, std::string_view)> ask) { ask_ = std::move(ask); }

  /// Over a number that neither a 64-bit integer nor a double holds: problem() is empty, this is its text.
  std::string_view number_out_of_range() const noexcept { return out_of_range_; }
  /// The key of the outermost object's member in work, as written.
  std::string_view outer_key() const noexcept { return outer_key_; }

 private:
  bool skip_surrogates(std::uint32_t unit);
  bool skip_scalar();
  bool skip_number();
  bool expected(std::string what);
  /// After a key's opening: the key, the colon.
  bool skip_key(std::size_t depth);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
  std::function<bool(std::size_t, std::string_view)> ask_;
  std::string_view out_of_range_, outer_key_;
};

}  // namespace tokpack::input
