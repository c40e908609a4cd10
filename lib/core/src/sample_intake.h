// Every sample's way: checked, cut by the policy, counted in the account, and stored in the window in turn.
//
// Groups are collected in a stage of their own until they end, since only a whole group can be placed; one
// that has become too large is only measured from there on, so the stage never holds more than a pack. After
// the first overlong sample under Overlong::kError nothing is stored any more: the rest is only measured.
//
// Errors: kSampleTokens, kSampleShape, kLabelsMissing, kTooLarge and those of writing. Throws std::bad_alloc.
// Threads: one calls.
#pragma once

#include <cstdint>
#include <optional>

#include "group_keys.h"
#include "sample_store.h"
#include "tokpack/core/writer.h"
#include "window_pipeline.h"

namespace tokpack::detail {

/// What an overlong report says.
struct OverlongTally {
  std::uint64_t count = 0, units = 0;  // samples, or groups
  std::uint64_t longest = 0, longest_source = 0, first_source = 0;
};
/// The group whose members are coming.
struct OpenGroup {
  std::optional<std::uint64_t> key;
  std::uint64_t first_source = 0, tokens = 0, members = 0;  // as they count against the capacity
  Account account;                                          // of its members
};

class SampleIntake {
 public:
  SampleIntake(const OutputFile& output, const WriterOptions& options, WindowPipeline& pipeline);

  Result<void> add_batch(const Batch& batch);
  Result<void> add_group(const Batch& batch);
  Result<void> pass_over_group(std::uint64_t key);
  void count_skipped(std::uint64_t samples, std::uint64_t tokens) noexcept;
  void count_held_out(std::uint64_t samples, std::uint64_t tokens) noexcept;
  /// Ends the last group; kGroupReturned, kOverlong.
  Result<void> finish();

  /// True once an overlong sample was met under Overlong::kError.
  bool stopped() const noexcept { return overlong_.count != 0; }
  const Account& account() const noexcept { return account_; }
  /// False when no sample brought labels although they were allowed to be missing: then all are trained.
  bool labels_seen() const noexcept { return labels_seen_; }

 private:
  Result<void> add_one(const SampleView& sample);
  Result<void> settle_label_kind(const SampleView& sample);
  void store(const SampleView& sample, const SampleFacts& facts, const SampleRun& run, Window& window,
             Account& account);
  void begin_group(std::optional<std::uint64_t> key);
  Result<void> end_group();
  bool is_over(const OpenGroup& group) const noexcept;
  void tally(std::uint64_t source, std::uint64_t tokens);
  void prepare(Window& window);
  void learn(const Window& window);
  std::uint64_t aligned(std::uint64_t length) const noexcept;

  const WriterOptions* options_;
  WindowPipeline* pipeline_;
  SampleRules rules_;
  LabelRules label_rules_;
  Account account_;
  std::optional<LabelKind> label_kind_;  // none until the first record
  bool labels_seen_ = false;
  bool wide_ = false;  // some stored id needs u32
  OverlongTally overlong_;
  std::optional<OpenGroup> group_;
  Window stage_;
  std::uint64_t groups_stored_ = 0;
  GroupKeys keys_;
};

}  // namespace tokpack::detail
