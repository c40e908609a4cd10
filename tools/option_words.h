// The library's messages name its options in its own words; this puts those of the command beside them.
//
// Threads: pure.
#pragma once

#include <string>

#include "tokpack/input/source.h"

namespace tokpack::tools {

/// The text of an error with the spelling of every option that it speaks of.
std::string with_option_names(std::string text);

/// What to do about a note, to stand behind its text.
std::string remedy(input::Note::Kind kind);

}  // namespace tokpack::tools
