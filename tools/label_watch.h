// Notices labels that are shifted although they were said to be aligned, and the other way round, from the
// first samples that have labels of their own.
//
// Threads: one.
//
//   watch.look(batch); if (auto text = watch.verdict()) warn(*text);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tokpack/input/source.h"

namespace tokpack::tools {

class LabelWatch {
 public:
  LabelWatch(LabelAlignment said, std::int32_t ignore_index) : said_(said), ignore_index_(ignore_index) {}

  void look(const input::SampleBatch& batch);
  /// What to say, once: as soon as kSamples were looked at, or, with `at_end`, whatever was.
  std::optional<std::string> verdict(bool at_end = false);

 private:
  static constexpr std::size_t kSamples = 256;
  static constexpr std::size_t kTokensOfOne = 4096;  // of a long sample the first ones tell
  static constexpr std::uint64_t kFewest = 2;  // labels that speak for one alignment and against the other

  LabelAlignment said_;
  std::int32_t ignore_index_;
  bool done_ = false;
  std::size_t samples_ = 0;
  std::uint64_t only_aligned_ = 0, only_shifted_ = 0, neither_ = 0;
};

}  // namespace tokpack::tools
