// Words for error messages: quoted untrusted text, and what the system says about an errno.
#pragma once

#include <string>
#include <string_view>

#include "tokpack/format/result.h"

namespace tokpack::detail {

/// `text` in single quotes. Control characters, invalid UTF-8 and quotes come out as \xNN, and a text of more
/// than 200 bytes is cut, so that no name from a file or a shell reaches a terminal as it stands.
std::string quoted(std::string_view text);

bool is_utf8(std::string_view text) noexcept;

/// kIo: "cannot WHAT 'path': system words (call)".
Error system_error(std::string_view what, std::string_view path, std::string_view call, int error_number);

/// An error with these words; without them where there is no memory for any. So it can be made in a handler
/// of std::bad_alloc, as can the two below.
Error plain_error(Errc code, std::string_view detail) noexcept;
/// kOutOfMemory: "not enough memory WHAT".
Error out_of_memory(std::string_view what) noexcept;
/// A copy; without the words where there is no memory for them.
Error copied(const Error& error) noexcept;

}  // namespace tokpack::detail
