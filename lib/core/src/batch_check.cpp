#include "batch_check.h"

#include <string>

#include "descriptor.h"

namespace tokpack::detail {
namespace {

class BatchCheck {
 public:
  BatchCheck(const Batch& batch, const WriterOptions& options, std::uint64_t first_source) noexcept
      : batch_(batch), options_(options), first_source_(first_source) {}

  Result<void> run() {
    const std::uint64_t samples = batch_.lengths.size(), tokens = batch_.tokens.size();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < batch_.lengths.size(); ++i) {
      if (auto ok = check_sample_length(batch_.lengths[i], first_source_ + i); !ok) return ok;
      sum += batch_.lengths[i];  // 2^32 lengths of 2^31 do not wrap
    }
    if (sum != tokens) return wrong("the lengths add up to " + std::to_string(sum), "tokens", tokens);
    if (batch_.loss_mask && batch_.labels) {
      return error("a loss mask and labels are both given; give one of them");
    }
    if (batch_.loss_mask && batch_.loss_mask->size() != tokens) {
      return wrong("the loss mask has " + std::to_string(batch_.loss_mask->size()), "tokens", tokens);
    }
    if (batch_.labels && batch_.labels->size() != tokens) {
      return wrong("the labels are " + std::to_string(batch_.labels->size()), "tokens", tokens);
    }
    if (!batch_.tail_labels.empty() && batch_.tail_labels.size() != samples) {
      return wrong("the tail labels are " + std::to_string(batch_.tail_labels.size()), "samples", samples);
    }
    if (!batch_.tail_labels.empty() && batch_.labels &&
        options_.label_alignment == LabelAlignment::kShifted) {
      return error("shifted labels bring each sample's tail label as their last; leave tail_labels out");
    }
    if (!batch_.groups.empty() && batch_.groups.size() != samples) {
      return wrong("the group keys are " + std::to_string(batch_.groups.size()), "samples", samples);
    }
    if (!batch_.groups.empty() && !options_.groups) {
      return error("group keys are given, but the writer was made without the `groups` option");
    }
    if (batch_.columns.size() != options_.columns.size()) {
      return wrong(std::to_string(batch_.columns.size()) + " columns are given", "declared",
                   options_.columns.size());
    }
    for (std::size_t c = 0; c < batch_.columns.size(); ++c) {
      if (auto ok = check_column(options_.columns[c], batch_.columns[c]); !ok) return ok;
    }
    return {};
  }

 private:
  Result<void> error(std::string what) const {
    return Error{Errc::kSampleShape, Error::kNoOffset,
                 "batch that starts with sample " + std::to_string(first_source_) + ": " + std::move(what)};
  }
  Result<void> wrong(const std::string& found, const char* of, std::uint64_t expected) const {
    return error(found + ", expected " + std::to_string(expected) + " (" + of + ")");
  }

  Result<void> check_column(const ColumnSpec& spec, const ColumnInput& column) const {
    const std::string name = "column " + quoted(spec.name);
    std::uint64_t rows = spec.scope == Scope::kToken ? batch_.tokens.size() : batch_.lengths.size();
    if (spec.ragged) {
      const auto offsets = column.offsets;
      if (offsets.size() != batch_.lengths.size() + 1 || offsets.front() != 0) {
        return wrong(name + " has " + std::to_string(offsets.size()) + " offsets", "samples + 1, the first 0",
                     batch_.lengths.size() + 1);
      }
      for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] < offsets[i - 1]) {
          return error(name + ": offset " + std::to_string(i) + " is below the one before");
        }
      }
      rows = offsets.back();
    }
    const std::uint64_t row_bytes = std::uint64_t{spec.width} * format::element_bytes(spec.type);
    if (column.values.size() % row_bytes != 0 || column.values.size() / row_bytes != rows) {
      return error(name + " has " + std::to_string(column.values.size()) + " bytes, expected " +
                   std::to_string(rows) + " rows of " + std::to_string(row_bytes) + " bytes");
    }
    return {};
  }

  const Batch& batch_;
  const WriterOptions& options_;
  std::uint64_t first_source_;
};

}  // namespace

Result<void> check_sample_length(std::uint64_t tokens, std::uint64_t source) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  if (tokens <= kMost) return {};
  return Error{Errc::kTooLarge, Error::kNoOffset,
               "sample " + std::to_string(source) + " has " + std::to_string(tokens) +
                   " tokens; at most 2147483647 are possible. Cut it into several samples"};
}

Result<void> check_batch(const Batch& batch, const WriterOptions& options, std::uint64_t first_source) {
  return BatchCheck(batch, options, first_source).run();
}

}  // namespace tokpack::detail
