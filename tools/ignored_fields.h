// Fields of JSON lines that nothing read: what `pack` says about them at the end, so that nothing is lost in
// silence.
//
// Threads: pure but for the warnings.
#pragma once

#include <string>

#include "json.h"
#include "tokpack/input/jsonl.h"

namespace tokpack::tools {

/// Lines for the report; empty when every field was read. At most kShownIgnored names, then "and N more".
std::string ignored_text(const input::IgnoredFields& ignored);

/// Adds `ignored_fields` (at most kShownIgnored objects of `name` and `samples`) and `ignored_fields_more`.
void add_ignored_json(const input::IgnoredFields& ignored, Json& json);

/// On standard error: fields that look like labels or masks, but those that were `asked` for, and what to do.
void warn_of_ignored(const input::IgnoredFields& ignored, const std::vector<std::string>& asked);

inline constexpr std::size_t kShownIgnored = 20;

}  // namespace tokpack::tools
