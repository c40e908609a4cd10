// Whether the arrays of a batch fit each other, before a sample of it is looked at.
//
// Errors: kSampleShape, naming the source number of the batch's first sample; kTooLarge. Threads: a pure
// function.
#pragma once

#include <cstdint>

#include "tokpack/core/writer.h"

namespace tokpack::detail {

Result<void> check_batch(const Batch& batch, const WriterOptions& options, std::uint64_t first_source);

/// A position in a sample fits 31 bits: kTooLarge for a sample of 2^31 tokens or more.
Result<void> check_sample_length(std::uint64_t tokens, std::uint64_t source);

}  // namespace tokpack::detail
