// The end of a file: which sections there are, their places, hashes, and page 0, written last.
//
// Threads: one at a time. Errors: kIo, kTooLarge.
#pragma once

#include <cstdint>
#include <string>

#include "pack_sink.h"
#include "tokpack/core/output_file.h"
#include "tokpack/core/writer.h"

namespace tokpack::detail {

/// The size of page 0: room for every section that these options and columns can produce, whatever the input
/// turns out to need, so that the tokens' place is known before the first sample.
std::uint64_t planned_header_bytes(const WriterOptions& options) noexcept;

struct FinishedFile {
  std::uint64_t file_size = 0;
  Hash128 digest;
};

/// Copies the spools in, writes checksums, then page 0. The output is complete but not yet named.
/// `label_kind` is kAll where the sink's bits are to be left out.
Result<FinishedFile> finish_file(const OutputFile& output, PackSink& sink, const WriterOptions& options,
                                 LabelKind label_kind, std::uint64_t samples, const std::string& metadata);

}  // namespace tokpack::detail
