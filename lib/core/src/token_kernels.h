// The loops over token ids and labels that the writer's speed rests on: range check, conversion, comparison.
//
// Pure functions on plain arrays; this file is compiled with vectorisation on. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokpack/core/writer.h"

namespace tokpack::detail {

/// A part of a caller's ids.
struct TokenSlice {
  const void* data = nullptr;
  TokenInput::Type type = TokenInput::Type::kU16;

  TokenSlice from(std::size_t first) const noexcept;
  /// As an unsigned number: a negative id is far above every limit.
  std::uint64_t at(std::size_t i) const noexcept;
  /// The id as the caller wrote it, for messages.
  std::int64_t signed_at(std::size_t i) const noexcept;
};

/// The largest id, as an unsigned number: a negative one is far above every limit.
std::uint64_t largest_id(TokenSlice ids, std::size_t count) noexcept;

/// REQUIRES: every id fits the type it is converted to.
void copy_ids(TokenSlice ids, std::size_t count, std::uint16_t* out) noexcept;
void copy_ids(TokenSlice ids, std::size_t count, std::uint32_t* out) noexcept;

/// What a run of explicit labels is, compared with its tokens.
struct LabelScan {
  bool in_range = true;  ///< all are ignore_index or 0..limit
  bool is_mask = true;   ///< all are ignore_index or their token
};
LabelScan scan_labels(const std::int32_t* labels, TokenSlice ids, std::size_t count,
                      std::int32_t ignore_index, std::uint32_t limit) noexcept;

}  // namespace tokpack::detail
