// Checks of the writer's options, and what follows from them.
//
// Threads: pure functions. Errors: kOptions, naming the option, what was given and what would do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tokpack/core/writer.h"

namespace tokpack::detail {

Result<void> check_writer_options(const WriterOptions& options);
/// Text for the metadata is UTF-8. `what` names it in the message.
Result<void> check_text(const std::string& what, std::string_view text);

/// True when the tokens are u32 whatever the ids: asked for, or the pad id needs it.
bool starts_wide(const WriterOptions& options) noexcept;

std::string_view strategy_name(Strategy strategy) noexcept;
std::string_view overlong_name(Overlong overlong) noexcept;
std::string_view tail_name(Tail tail) noexcept;

}  // namespace tokpack::detail
