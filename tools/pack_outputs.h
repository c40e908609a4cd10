// The one or two files that `pack` writes, complete both or neither.
//
// The holdout file is finished first, then the main one. When the main one fails, the holdout is taken back:
// removed if its name was free, or exchanged for the file that it replaced under --force (kept until then
// under a second name beside it; where the file system has no hard links the new holdout stays, and the error
// says so). When overlong samples are an error, both files are looked at before pack stops: each has a line
// of its own with its count.
//
// Threads: one. Errors: Failure. Destruction without finish() leaves nothing behind.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "options.h"
#include "pack_inputs.h"
#include "tokpack/core/writer.h"
#include "tokpack/input/source.h"

namespace tokpack::tools {

class PackOutputs {
 public:
  /// Turns a writer's error into a message; it knows where samples come from.
  using Explain = std::function<std::string(const Error&)>;

  PackOutputs(const PackArguments& arguments, const WriterOptions& options, Explain explain);

  void begin_input(const std::string& name);
  /// The batch's samples to where they belong. Both files number samples alike: what is not in a file is
  /// counted in it as held out or skipped. `fates` empty: all are packed.
  void add(const input::SampleBatch& batch, std::span<const Fate> fates,
           std::span<const std::uint64_t> groups);
  void set_roles(const std::vector<std::string>& names);

  struct Summaries {
    WriteSummary main;
    std::optional<WriteSummary> holdout;
  };
  Summaries finish();

 private:
  void add_run(const input::SampleBatch& batch, Fate fate, std::size_t first, std::size_t last,
               std::size_t first_token, std::size_t last_token, std::span<const std::uint64_t> groups);
  [[noreturn]] void stop(const Error& error, const std::string& path) const;
  /// After the holdout was refused for overlong samples: says what the main file has of them. Leaves no file.
  void report_main_overlong();

  std::string path_, holdout_path_;
  bool force_;
  std::vector<ColumnSpec> columns_;
  Explain explain_;
  std::optional<Writer> main_, holdout_;
  // Reused between calls.
  std::optional<std::uint64_t> last_group_;  ///< of the record before, over batches
  std::vector<ColumnInput> column_storage_;
  std::vector<std::vector<std::uint64_t>> offset_storage_;
};

}  // namespace tokpack::tools
