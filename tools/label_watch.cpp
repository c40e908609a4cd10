#include "label_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace tokpack::tools {

void LabelWatch::look(const input::SampleBatch& batch) {
  if (done_ || batch.label_form != input::SampleBatch::Labels::kLabels) return;
  std::size_t first = 0;
  for (std::size_t s = 0; s < batch.samples() && samples_ < kSamples; ++s) {
    const std::size_t length = batch.lengths[s];
    // The last label of a shifted sample is a token that is not here: it says nothing.
    for (std::size_t i = first; i + 1 < first + std::min(length, kTokensOfOne); ++i) {
      const std::int32_t label = batch.labels[i];
      if (label == ignore_index_) continue;
      const bool aligned = static_cast<std::uint32_t>(label) == batch.tokens[i];
      const bool shifted = static_cast<std::uint32_t>(label) == batch.tokens[i + 1];
      only_aligned_ += aligned && !shifted ? 1u : 0u;
      only_shifted_ += shifted && !aligned ? 1u : 0u;
      neither_ += !aligned && !shifted ? 1u : 0u;
    }
    first += length;
    ++samples_;
  }
}

std::optional<std::string> LabelWatch::verdict(bool at_end) {
  if (done_ || (!at_end && samples_ < kSamples)) return std::nullopt;
  done_ = true;
  if (neither_ > 0) return std::nullopt;
  if (said_ == LabelAlignment::kAligned && only_aligned_ == 0 && only_shifted_ >= kFewest) {
    return fmt::format(
        "the labels look shifted: in the first {} every label is the id of the next token ({} labels). As "
        "aligned "
        "ones "
        "(--labels aligned, the default) they train a model to skip a token; for labels that are shifted "
        "already pack again with --labels shifted",
        samples_ == 1 ? "sample" : fmt::format("{} samples", samples_), only_shifted_);
  }
  if (said_ == LabelAlignment::kShifted && only_shifted_ == 0 && only_aligned_ >= kFewest) {
    return fmt::format(
        "the labels look aligned: in the first {} every label is the id of its own token ({} labels). As "
        "shifted ones "
        "(--labels "
        "shifted) they train a model to repeat a token; for labels that are not shifted pack again with "
        "--labels aligned, the default",
        samples_ == 1 ? "sample" : fmt::format("{} samples", samples_), only_aligned_);
  }
  return std::nullopt;
}

}  // namespace tokpack::tools
