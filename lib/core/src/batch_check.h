// Whether the arrays of a batch fit each other, before a sample of it is looked at.
//
// Errors: kSampleShape, naming the source number of the batch's first sample. Threads: a pure function.
#pragma once

#include <cstdint>

#include "tokpack/core/writer.h"

namespace tokpack::detail {

Result<void> check_batch(const Batch& batch, const WriterOptions& options, std::uint64_t first_source);

}  // namespace tokpack::detail
