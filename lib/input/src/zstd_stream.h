// Decompresses zstd: any number of frames, skippable ones included. A cut or damaged frame is
// kInputCompressed, after the bytes before it. Owns the stream below it. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "byte_stream.h"

namespace tokpack::input {

Result<std::unique_ptr<ByteStream>> open_zstd(std::unique_ptr<ByteStream> compressed, std::string name);

}  // namespace tokpack::input
