// Text from an input, made safe to print: control characters, quotes and bytes outside ASCII are escaped and
// long text is cut. Threads: pure.
#pragma once

#include <string>
#include <string_view>

namespace tokpack::input {

/// `text` with every byte that a terminal could act on as \n, \t or \xNN; more than `limit` bytes are cut and
/// followed by "...".
std::string escaped(std::string_view text, std::size_t limit = 60);

/// The same for a file name: whole, and with its printable UTF-8 left as it is.
std::string escaped_name(std::string_view name);

}  // namespace tokpack::input
