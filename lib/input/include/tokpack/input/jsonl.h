// Samples from JSON lines: `input_ids` or `tokens`; optionally `labels`; `loss_mask`, `completion_mask`,
// `assistant_masks` (1 = trained; several are and-ed); `group`, `role`, `weight`, and declared columns.
//
// Plain or zstd, a path or "-" for standard input. Cut at newlines and parsed line by line, so a bad line is
// named and never swallows its neighbour. Blank lines are skipped; CRLF and a leading BOM are accepted.
// Errors and ownership: source.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tokpack/input/source.h"

namespace tokpack::input {

struct JsonlOptions {
  std::uint32_t vocab_size = 0;  ///< ids must be below it; 0 = up to 2^31-1
  bool u16_only = false;         ///< ids must be below 65,536
  std::int32_t ignore_index = kDefaultIgnoreIndex;
  MissingLabels missing_labels = MissingLabels::kError;
  std::string group_field = "group";       ///< empty: no groups
  std::vector<std::string> mask_fields{};  ///< besides the three known names
  std::vector<ColumnSpec> columns{};       ///< declared: every record must have the field
  unsigned threads = 1;
  std::uint64_t batch_bytes = 8 << 20;  ///< text per batch, about
};

/// State that is shared by the inputs of one run, so that the first record of the first input decides for all
/// (labels or not, groups, reserved columns) and role numbers continue. One thread. Null when there is no
/// memory for it, of which open_jsonl then tells.
struct JsonlSession;
std::shared_ptr<JsonlSession> make_jsonl_session(JsonlOptions options);

Result<std::unique_ptr<Source>> open_jsonl(const std::string& path, std::shared_ptr<JsonlSession> session);

/// The same from memory (tests, fuzzing, benchmarks). `text` must outlive the source; `name` is for messages.
Result<std::unique_ptr<Source>> open_jsonl_text(std::string_view text, const std::string& name,
                                                std::shared_ptr<JsonlSession> session);

}  // namespace tokpack::input
