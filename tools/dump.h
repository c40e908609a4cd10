// The parts of `tokpack dump`: the whole file, one pack, one sequence; for people and as JSON.
#pragma once

#include <string>

#include "command.h"
#include "json.h"
#include "options.h"
#include "tokpack/core/reader.h"

namespace tokpack::tools {

/// Opens a file for the verbs that read, and says so when it could not be mapped.
Reader open_reader(const std::string& path);

void dump_file(Output& out, const Reader& reader, const DumpArguments& arguments);
void dump_pack(Output& out, const Reader& reader, const DumpArguments& arguments);
void dump_sequence(Output& out, const Reader& reader, const DumpArguments& arguments);

/// The table of sections, for people.
std::string section_table(const Reader& reader);

}  // namespace tokpack::tools
