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
  /// Treated as absent: of a meaning of its own, or none. Naming a declared column, a named mask or group:
  /// kOptions.
  std::vector<std::string> ignore_fields{};
  std::vector<ColumnSpec> columns{};  ///< declared: every record must have the field
  unsigned threads = 1;
  std::uint64_t batch_bytes = 8 << 20;  ///< text per batch, about
  /// A descriptor that ends the waiting for a pipe when it becomes readable (a self-pipe of the caller's
  /// signal handler, say): next() then gives kIo "interrupted". -1 = none. Not closed.
  int stop_descriptor = -1;
};

/// State that is shared by the inputs of one run, so that the first record of the first input decides for all
/// (labels or not, groups, reserved columns) and role numbers continue. One thread. Null when there is no
/// memory for it, of which open_jsonl then tells.
struct JsonlSession;
std::shared_ptr<JsonlSession> make_jsonl_session(JsonlOptions options);

/// A top-level field of records that means nothing to the parser, so that its values are not kept.
struct IgnoredField {
  std::string name;           ///< at most kMaxIgnoredNameBytes of it, as it stands in the input
  std::uint64_t samples = 0;  ///< in which it stands, and is not null
  bool list = false;          ///< the first of its values is a list, as of something per token
};
struct IgnoredFields {
  std::vector<IgnoredField> fields;  ///< in order of first appearance, at most kMaxIgnoredFields
  bool more = false;                 ///< there were others
};
inline constexpr std::size_t kMaxIgnoredFields = 256, kMaxIgnoredNameBytes = 128;

/// Of all samples that were delivered from the session's inputs so far. REQUIRES: session is not null.
const IgnoredFields& ignored_fields(const JsonlSession& session) noexcept;

Result<std::unique_ptr<Source>> open_jsonl(const std::string& path, std::shared_ptr<JsonlSession> session);

/// The same from memory (tests, fuzzing, benchmarks). `text` must outlive the source; `name` is for messages.
Result<std::unique_ptr<Source>> open_jsonl_text(std::string_view text, const std::string& name,
                                                std::shared_ptr<JsonlSession> session);

}  // namespace tokpack::input
