// The inputs of `pack` as passes: which file, how often, which share of it; and which samples of a batch are
// packed, held out or skipped.
//
// Threads: one. Errors: Failure with kUsage or kUnusable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options.h"
#include "tokpack/input/source.h"

namespace tokpack::tools {

/// One reading of one input. PATH@2.5 is two passes that keep all and one that keeps half.
struct InputPass {
  std::string path;
  bool raw = false;
  bool first_of_input = true;  ///< else a further pass over the same input, by its factor
  std::size_t raw_index = 0;   ///< place among the raw inputs, for --lengths and --loss-mask-file
  double keep = 1;             ///< share of samples
  std::uint64_t number = 0;    ///< place among all passes
  std::optional<std::uint64_t> file_size{};  ///< unknown for a pipe, by name or not
};

/// Splits factors off and checks what can be known before reading: existence, repeats of a pipe, options that
/// go with raw arrays only, and that no output is an input.
std::vector<InputPass> expand_inputs(const PackArguments& arguments);

/// The first raw array among them, or null.
const InputPass* first_raw(std::span<const InputPass> passes);

enum class Fate : std::uint8_t { kPack, kHoldOut, kSkip };

/// Decides what becomes of each sample. A group shares the fate of its first sample; a decision depends on
/// the sample alone (its place in its input for a factor, its tokens for the holdout), never on what
/// surrounds it.
class Selector {
 public:
  /// `holdout` is a fraction; 0 = none.
  explicit Selector(double holdout);
  void begin_pass(const InputPass& pass);
  /// Of each sample of the batch; lives until the next call. Empty when all are packed.
  std::span<const Fate> decide(const input::SampleBatch& batch);
  /// The batch's group keys for the writer: made distinct for every pass: a pair read twice is two groups,
  /// and equal values in two inputs have nothing to do with each other. Lives until the next call.
  std::span<const std::uint64_t> groups(const input::SampleBatch& batch);

 private:
  std::uint64_t holdout_threshold_ = 0, keep_threshold_ = 0;
  bool keep_all_ = true;
  std::uint64_t pass_ = 0, next_index_ = 0;
  bool group_decided_ = false, in_group_ = false;
  std::uint64_t last_group_ = 0;
  Fate last_fate_ = Fate::kPack;
  std::vector<Fate> fates_;
  std::vector<std::uint64_t> groups_;
};

}  // namespace tokpack::tools
