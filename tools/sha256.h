// SHA-256 (FIPS 180-4) of a file, to name a tokenizer in the metadata.
#pragma once

#include <string>

namespace tokpack::tools {

/// 64 lowercase hex digits, as sha256sum prints them. Throws Failure when the file cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace tokpack::tools
