// Checks that everything made from boundaries begins with, and the wording of their errors.
//
// Threads: pure functions.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "reader_text.h"
#include "tokpack/format/result.h"

namespace tokpack::detail {

/// An error that was formatted, or kOutOfMemory where even that failed.
template <typename... Arguments>
Error make_error(Errc code, fmt::format_string<Arguments...> text, Arguments&&... arguments) noexcept {
  try {
    return Error{code, Error::kNoOffset, fmt::format(text, std::forward<Arguments>(arguments)...)};
  } catch (const std::bad_alloc&) {
    return out_of_memory("for the text of an error");
  }
}

/// T, the tokens of a row of `positions`. kCuSeqlens unless the boundaries are 0 first, strictly ascending
/// and end at or before S; kOptions for S = 0; kTooLarge for S above kMaxRowPositions.
Result<std::int32_t> check_boundaries(std::span<const std::int32_t> cu_seqlens,
                                      std::size_t positions) noexcept;

}  // namespace tokpack::detail
