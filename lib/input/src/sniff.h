// What kind of data an input starts with, from its first bytes. Threads: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tokpack/format/error.h"

namespace tokpack::input {

/// As many first bytes as the functions below look at.
inline constexpr std::size_t kSniffBytes = 16;

bool looks_like_zstd(std::string_view head) noexcept;

/// kInputEncoding when `head` begins something that is surely not UTF-8 text: says what it is and how to turn
/// it into JSON lines. `name` is quoted in the message as it is.
std::optional<Error> refuse_foreign(std::string_view head, const std::string& name);

}  // namespace tokpack::input
