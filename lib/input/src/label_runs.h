// A parsed chunk as batches that each have one label form, as SampleBatch promises.
//
// What has no labels is never filled with labels here: only the writer knows whether labels are shifted.
//
// Ownership: batches borrow from the chunk or from the object and live until the next call. Threads: one at a
// time. Throws std::bad_alloc.
//
//   runs.start(job.parsed, *job.schema); while (const SampleBatch* batch = runs.next()) use(*batch);
#pragma once

#include <cstddef>

#include "record_parser.h"

namespace tokpack::input {

class LabelRuns {
 public:
  explicit LabelRuns(const FieldTable& table) : table_(table) {}

  /// Both must live until the last batch was used.
  void start(ParsedChunk& chunk, const Schema& schema);
  /// Null after the last.
  const SampleBatch* next();

 private:
  void copy_run(const FormRun& run);
  void copy_column(std::size_t column, std::size_t samples, std::size_t tokens);

  const FieldTable& table_;
  ParsedChunk* chunk_ = nullptr;
  const Schema* schema_ = nullptr;
  SampleBatch slice_;
  std::size_t run_ = 0;
  // Where the next run begins in the chunk's arrays.
  std::size_t samples_ = 0, tokens_ = 0, masked_ = 0, labelled_ = 0;
};

}  // namespace tokpack::input
