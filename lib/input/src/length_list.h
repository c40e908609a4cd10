// Sample lengths from a file: text with one number a line, or .npy. Read through twice and never kept: once
// for their sum, once along with the tokens.
//
// Ownership: owns its descriptors. Threads: one at a time. Errors: kIo, kNotRegularFile, kInputArray naming
// line or position and the text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array_file.h"
#include "line_reader.h"

namespace tokpack::input {

class LengthList {
 public:
  static Result<LengthList> open(const std::string& path);
  /// The next length, or nothing at the end.
  Result<std::optional<std::uint32_t>> next();
  const std::string& name() const noexcept { return name_; }

 private:
  LengthList() = default;
  Result<void> refill();
  Result<void> refill_from_text();

  std::string name_;
  std::optional<ArrayFile> array_;
  std::unique_ptr<LineReader> lines_;
  std::vector<std::uint32_t> part_;
  std::size_t taken_ = 0;
  std::uint64_t read_ = 0;  // numbers of the array, or lines of the text
  bool ended_ = false;
};

}  // namespace tokpack::input
