// Samples from raw token arrays: `.bin` (no header) and `.npy` (with a header, or without one as OLMo writes
// them), cut by a lengths file or an end-of-document id.
//
// Errors and ownership: source.h; kInputArray when type, header, lengths and size do not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tokpack/input/source.h"

namespace tokpack::input {

enum class ArrayType : std::uint8_t { kU16, kU32, kI32, kI64 };

struct RawOptions {
  std::optional<ArrayType> type{};              ///< required without a .npy header; checked against one
  std::uint64_t header_bytes = 0;               ///< bytes to skip in a .bin with a fixed header
  std::string lengths_path{};                   ///< text (one a line) or .npy of integers; or
  std::optional<std::uint32_t> document_end{};  ///< the id that ends a document (it stays in the document)
  std::string loss_mask_path{};                 ///< optional: one byte (or npy bool/u8) per token
  std::uint32_t vocab_size = 0;
  std::uint64_t batch_tokens = 4 << 20;
};

Result<std::unique_ptr<Source>> open_raw(const std::string& path, const RawOptions& options);

}  // namespace tokpack::input
