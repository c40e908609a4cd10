// What the user asked for: one plain structure per verb, filled by cli.cpp and cli_pack.cpp and read by the
// verbs.
//
// Only these two include the argument parser (cli_options.h), which costs many seconds to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tokpack/core/writer.h"
#include "tokpack/input/raw.h"

namespace tokpack::tools {

struct PackArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::uint32_t capacity = 0;
  std::uint32_t vocab_size = 0;
  std::optional<ElementType> token_type;
  Strategy strategy = Strategy::kBestFit;
  std::optional<Overlong> overlong;
  LabelAlignment labels = LabelAlignment::kAligned;
  MissingLabels missing_labels = MissingLabels::kError;
  Tail tail = Tail::kNone;
  bool drop_untrainable = false;
  std::uint32_t max_sequences = 0;
  std::uint32_t alignment = 1;
  std::uint64_t window = 0;  ///< 0 = the default
  unsigned threads = 0;      ///< 0 = one per CPU
  std::vector<ColumnSpec> columns;
  std::optional<std::string> group_field;
  std::vector<std::string> mask_fields, ignore_fields;
  std::string tokenizer, tokenizer_file;
  std::uint32_t pad_id = 0;
  std::optional<std::int64_t> bos_id, eos_id;
  std::int32_t ignore_index = kDefaultIgnoreIndex;
  std::vector<std::pair<std::string, std::string>> meta;
  std::optional<double> holdout_percent;
  std::string holdout_output;
  // Raw arrays: one lengths or mask file per raw input, in order.
  std::vector<std::string> lengths, loss_mask_files;
  std::optional<std::uint32_t> document_end;
  std::optional<input::ArrayType> array_type;
  std::uint64_t header_bytes = 0;
  bool force = false;
  bool json = false;
};

struct DumpArguments {
  std::string file;
  std::optional<std::uint64_t> pack, sequence;
  bool tokens = false, sections = false, json = false;
};

struct VerifyArguments {
  std::vector<std::string> files;
  unsigned threads = 0;
  bool json = false;
};

struct StatsArguments {
  std::string file;
  bool json = false;
};

struct ExportArguments {
  std::string file, output = "-";
  bool sources = false, force = false;
};

/// The verb and its arguments, or, when there is nothing left to do, the exit code.
using Parsed =
    std::variant<int, PackArguments, DumpArguments, VerifyArguments, StatsArguments, ExportArguments>;

/// Reads the command line. Help and version go to standard output, a usage error to standard error.
Parsed parse_command_line(int argc, char** argv);

int run(const PackArguments& arguments);
int run(const DumpArguments& arguments);
int run(const VerifyArguments& arguments);
int run(const StatsArguments& arguments);
int run(const ExportArguments& arguments);

}  // namespace tokpack::tools
