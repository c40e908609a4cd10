#include "label_runs.h"

#include <numeric>

namespace tokpack::input {
namespace {

template <typename T>
void copy_part(const std::vector<T>& from, std::size_t first, std::size_t count, std::vector<T>& to) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void LabelRuns::start(ParsedChunk& chunk, const Schema& schema) {
  chunk_ = &chunk;
  schema_ = &schema;
  run_ = samples_ = tokens_ = masked_ = labelled_ = 0;
}

const SampleBatch* LabelRuns::next() {
  if (chunk_ == nullptr || run_ == chunk_->forms.size()) return nullptr;
  const FormRun& run = chunk_->forms[run_++];
  if (chunk_->forms.size() == 1) {  // as nearly always: nothing to cut
    chunk_->batch.label_form = run.form;
    return &chunk_->batch;
  }
  copy_run(run);
  return &slice_;
}

void LabelRuns::copy_run(const FormRun& run) {
  const SampleBatch& all = chunk_->batch;
  copy_part(all.lengths, samples_, run.samples, slice_.lengths);
  const auto tokens = std::accumulate(slice_.lengths.begin(), slice_.lengths.end(), std::size_t{0});
  const std::size_t masked = run.form == SampleBatch::Labels::kMask ? tokens : 0;
  const std::size_t labelled = run.form == SampleBatch::Labels::kLabels ? tokens : 0;
  slice_.label_form = run.form;
  copy_part(all.tokens, tokens_, tokens, slice_.tokens);
  copy_part(all.loss_mask, masked_, masked, slice_.loss_mask);
  copy_part(all.labels, labelled_, labelled, slice_.labels);
  if (all.groups.empty()) {
    slice_.groups.clear();
  } else {
    copy_part(all.groups, samples_, run.samples, slice_.groups);
  }
  slice_.columns.resize(all.columns.size());
  for (std::size_t i = 0; i < all.columns.size(); ++i) copy_column(i, run.samples, tokens);
  samples_ += run.samples;
  tokens_ += tokens;
  masked_ += masked;
  labelled_ += labelled;
}

void LabelRuns::copy_column(std::size_t column, std::size_t samples, std::size_t tokens) {
  const SampleBatch::Column& from = chunk_->batch.columns[column];
  SampleBatch::Column& to = slice_.columns[column];
  const ColumnSpec& spec = table_.columns[schema_->columns[column]];
  const std::size_t row_bytes = spec.width * format::element_bytes(spec.type);
  const bool per_token = spec.scope == Scope::kToken;
  std::size_t first = per_token ? tokens_ : samples_, rows = per_token ? tokens : samples;
  to.offsets.clear();
  if (spec.ragged) {
    copy_part(from.offsets, samples_, samples + 1, to.offsets);
    first = static_cast<std::size_t>(to.offsets.front());
    rows = static_cast<std::size_t>(to.offsets.back()) - first;
    for (std::uint64_t& offset : to.offsets) offset -= first;
  }
  copy_part(from.values, first * row_bytes, rows * row_bytes, to.values);
}

}  // namespace tokpack::input
