// kOutOfMemory from a handler of std::bad_alloc, where building a message may fail as well.
//
// Threads: pure. Throws nothing.
//
//   } catch (const std::bad_alloc&) { return no_memory(path, "to open it"); }
#pragma once

#include <string_view>

#include "tokpack/format/error.h"

namespace tokpack::input {

/// "NAME: no memory WHAT", with words where there is memory for them. `name` may be a path as it came.
Error no_memory(std::string_view name, std::string_view what) noexcept;

}  // namespace tokpack::input
