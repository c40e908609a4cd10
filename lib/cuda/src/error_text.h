// Errors of several texts and numbers in a row. Threads: pure functions.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tokpack/format/error.h"

namespace tokpack::cuda {

/// A text, which outlives the part, or a number.
class ErrorPart {
 public:
  ErrorPart(std::string_view text) noexcept : text_(text) {}
  ErrorPart(const char* text) noexcept : text_(text) {}
  ErrorPart(std::int64_t number) noexcept {
    count_ =
        static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof(digits_), number).ptr - digits_);
  }

  std::string_view text() const noexcept { return count_ == 0 ? text_ : std::string_view(digits_, count_); }

 private:
  std::string_view text_;
  char digits_[20] = {};  // of a number: as many as the longest has, its sign included
  std::size_t count_ = 0;
};

/// kOutOfMemory where the parts cannot be put together.
Error error_of(Errc code, std::initializer_list<ErrorPart> parts) noexcept;

}  // namespace tokpack::cuda
