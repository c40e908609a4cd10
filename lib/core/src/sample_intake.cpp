#include "sample_intake.h"

#include <algorithm>
#include <limits>
#include <string>

#include "batch_check.h"
#include "writer_options.h"

namespace tokpack::detail {

SampleIntake::SampleIntake(const OutputFile& output, const WriterOptions& options, WindowPipeline& pipeline)
    : options_(&options), pipeline_(&pipeline), stage_(options.columns), keys_(output) {
  // Groups are measured as a whole, and concat cuts when it plans.
  const bool cuts_here = !options.groups && options.plan.strategy != Strategy::kConcat;
  rules_ = {cuts_here ? options.plan.capacity : std::numeric_limits<std::uint32_t>::max(), options.overlong,
            options.tail};
  label_rules_.alignment = options.label_alignment;
  label_rules_.ignore_index = options.ignore_index;
  label_rules_.vocab_size = options.vocab_size;
  if (options.vocab_size != 0) label_rules_.largest_id = options.vocab_size - 1;
  label_rules_.largest_token = label_rules_.largest_id;
  if (options.token_type == ElementType::kU16) {
    label_rules_.largest_token = std::min(label_rules_.largest_token, std::uint32_t{0xffff});
  }
  wide_ = starts_wide(options);
  // Until a sample brings labels nobody knows whether any will: bits are kept, and left out at the end.
  if (options.missing_labels == MissingLabels::kTrain) label_kind_ = LabelKind::kLossMask;
}

std::uint64_t SampleIntake::aligned(std::uint64_t length) const noexcept {
  const std::uint64_t a = options_->plan.alignment;
  return (length + a - 1) / a * a;
}

void SampleIntake::tally(std::uint64_t source, std::uint64_t tokens) {
  if (overlong_.count++ == 0) overlong_.first_source = source;
  if (tokens > overlong_.longest) {
    overlong_.longest = tokens;
    overlong_.longest_source = source;
  }
}

Result<void> SampleIntake::settle_label_kind(const SampleView& sample) {
  const bool has = sample.has_labels();
  labels_seen_ |= has;
  if (!label_kind_) {
    label_kind_ = has ? LabelKind::kLossMask : LabelKind::kAll;
    return {};
  }
  if (options_->missing_labels == MissingLabels::kTrain || has == (*label_kind_ != LabelKind::kAll))
    return {};
  return Error{Errc::kLabelsMissing, Error::kNoOffset,
               "sample " + std::to_string(sample.source) +
                   (has ? " has labels, but the ones before it have none"
                        : " has no labels, but the ones before it have some") +
                   ". Give labels to all samples, or let missing ones be trained in full"};
}

// A window that was filled before, or never, learns what is known by now.
void SampleIntake::prepare(Window& window) {
  if (window.label_kind < *label_kind_) window.set_label_kind(*label_kind_, label_rules_.ignore_index);
  if (wide_ && !window.wide) window.widen();
}

// What a stored sample needed is needed for good.
void SampleIntake::learn(const Window& window) {
  wide_ = wide_ || window.wide;
  label_kind_ = std::max(*label_kind_, window.label_kind);
}

void SampleIntake::store(const SampleView& sample, const SampleFacts& facts, const SampleRun& run,
                         Window& window, Account& account) {
  prepare(window);
  for (std::uint32_t k = 0; k < run.pieces; ++k) {
    store_piece(window, sample, facts, run.piece(k), label_rules_);
  }
  const bool has_target = has_stored_target(sample, run, label_rules_);
  account.samples_packed += 1;
  account.tokens_stored += run.stored;
  const std::uint64_t target_only = options_->tail == Tail::kInputTarget ? 1 : 0;
  account.tokens_target_only += target_only;
  account.tokens_dropped += sample.length - run.stored - target_only;
  account.samples_split += run.pieces > 1 ? 1 : 0;
  account.samples_truncated += run.truncated ? 1 : 0;
  account.samples_without_targets += has_target ? 0 : 1;
  // Given targets less stored ones. Of a sample that is not cut only these two can be lost: what would follow
  // the last token where that token is itself only a target, and a target without an id.
  if (run.truncated) {
    account.labels_lost += given_targets(sample, label_rules_) - stored_targets(sample, run, label_rules_);
  } else {
    if (target_only != 0 && sample.given_tail != label_rules_.ignore_index) account.labels_lost += 1;
    if (has_nameless_target(sample, label_rules_)) account.labels_lost += 1;
  }
}

Result<void> SampleIntake::add_one(const SampleView& sample) {
  Account& account = group_ ? group_->account : account_;
  if (sample.length == 0) {
    account.samples_empty += 1;
    return {};
  }
  const SampleRun run = run_of(sample.length, rules_);
  if (group_) {
    group_->tokens += aligned(run.stored);
    group_->members += run.stored != 0 ? 1 : 0;
  } else {
    ++overlong_.units;
    if (run.outcome == Outcome::kOverlong) tally(sample.source, run.stored);
  }
  if (stopped()) return {};

  if (auto ok = settle_label_kind(sample); !ok) return ok;
  const auto facts = check_sample(sample, label_rules_);
  if (!facts) return facts.error();
  const bool untrainable = options_->drop_untrainable && run.outcome == Outcome::kStored &&
                           !has_stored_target(sample, run, label_rules_);
  if (run.outcome != Outcome::kStored || untrainable) {
    account.samples_dropped += 1;
    account.tokens_dropped += sample.length;
    if (group_ && run.stored != 0) {  // what is not stored does not count against the capacity
      group_->tokens -= aligned(run.stored);
      group_->members -= 1;
    }
    return {};
  }
  if (group_) {
    if (is_over(*group_)) {
      stage_.clear();
      account.samples_dropped += 1;
      account.tokens_dropped += sample.length;
    } else {
      store(sample, *facts, run, stage_, account);
    }
    return {};
  }
  auto window = pipeline_->window_for(run.stored, run.pieces);
  if (!window) return window.error();
  store(sample, *facts, run, **window, account);
  learn(**window);
  return {};
}

void SampleIntake::begin_group(std::optional<std::uint64_t> key) {
  group_ = OpenGroup();  // clang 14 refuses emplace() of a nested aggregate here
  group_->key = key;
  group_->first_source = account_.samples_in;
}

bool SampleIntake::is_over(const OpenGroup& group) const noexcept {
  const std::uint32_t limit = options_->plan.max_sequences;
  return group.tokens > options_->plan.capacity || (limit != 0 && group.members > limit);
}

Result<void> SampleIntake::end_group() {
  if (!group_) return {};
  const OpenGroup group = *group_;
  group_.reset();
  Account part = group.account;
  const bool over = is_over(group);
  overlong_.units += group.members != 0 ? 1 : 0;
  if (over && options_->overlong == Overlong::kError) tally(group.first_source, group.tokens);
  if (over || stopped()) {
    part.samples_dropped += part.samples_packed;
    part.tokens_dropped += part.tokens_stored + part.tokens_target_only;
    part.samples_packed = part.tokens_stored = part.tokens_target_only = 0;
    part.samples_without_targets = part.labels_lost = 0;
  } else if (!stage_.empty()) {
    if (groups_stored_ > 0xffffffffu) {
      return Error{Errc::kTooLarge, Error::kNoOffset, "more than 4294967296 groups; write several files"};
    }
    auto found = pipeline_->window_for(stage_.tokens, stage_.sequences());
    if (!found) return found.error();
    Window& window = **found;
    prepare(window);
    window.match(stage_, label_rules_.ignore_index);
    stage_.match(window, label_rules_.ignore_index);
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < stage_.sequences(); ++i) {
      const std::uint32_t length = stage_.lengths[i];
      window.append_part(stage_, i, start, {0, length, 0}, label_rules_.ignore_index);
      window.groups.push_back(static_cast<std::uint32_t>(groups_stored_));
      start += length;
    }
    ++groups_stored_;
    learn(window);
  }
  stage_.clear();
  for (const AccountField& field : kAccountFields) account_.*field.member += part.*field.member;
  return {};
}

Result<void> SampleIntake::add_batch(const Batch& batch) {
  if (auto ok = check_batch(batch, *options_, account_.samples_in); !ok) return ok;
  SampleView sample;
  const TokenSlice all{batch.tokens.data(), batch.tokens.type()};
  const bool shifted = options_->label_alignment == LabelAlignment::kShifted;
  for (std::size_t i = 0; i < batch.lengths.size(); ++i) {
    const std::uint64_t first = sample.first_token + sample.length;
    sample.source = account_.samples_in;
    sample.index = i;
    sample.first_token = first;
    sample.length = batch.lengths[i];
    sample.tokens = all.from(first);
    sample.columns = batch.columns;
    if (batch.loss_mask) sample.mask = batch.loss_mask->data() + first;
    if (batch.labels) sample.labels = batch.labels->data() + first;
    sample.given_tail = batch.tail_labels.empty() ? label_rules_.ignore_index : batch.tail_labels[i];
    if (shifted && sample.labels != nullptr && sample.length > 0)
      sample.given_tail = sample.labels[sample.length - 1];
    if (options_->groups) {
      const bool keyed = !batch.groups.empty();
      if (!keyed || !group_ || group_->key != batch.groups[i]) {
        if (auto ok = end_group(); !ok) return ok;
        begin_group(keyed ? std::optional(batch.groups[i]) : std::nullopt);
        if (keyed) {
          if (auto ok = keys_.add(batch.groups[i], sample.source); !ok) return ok;
        }
      }
    }
    account_.samples_in += 1;
    account_.tokens_in += sample.length;
    if (auto ok = add_one(sample); !ok) return ok;
  }
  return {};
}

Result<void> SampleIntake::add_group(const Batch& batch) {
  if (!options_->groups) {
    return Error{Errc::kOptions, Error::kNoOffset, "add_group needs a writer made with the `groups` option"};
  }
  if (auto ok = end_group(); !ok) return ok;
  Batch members = batch;
  const std::vector<std::uint64_t> one_key(batch.lengths.size(), 0);
  members.groups = one_key;
  begin_group(0);
  if (auto ok = add_batch(members); !ok) return ok;
  return end_group();
}

Result<void> SampleIntake::pass_over_group(std::uint64_t key) {
  if (!options_->groups) {
    return Error{Errc::kOptions, Error::kNoOffset,
                 "pass_over_group needs a writer made with the `groups` option"};
  }
  if (auto ok = end_group(); !ok) return ok;
  return keys_.add(key, account_.samples_in);
}

void SampleIntake::count_skipped(std::uint64_t samples, std::uint64_t tokens) noexcept {
  account_.samples_in += samples;
  account_.samples_skipped += samples;
  account_.tokens_in += tokens;
  account_.tokens_skipped += tokens;
}

void SampleIntake::count_held_out(std::uint64_t samples, std::uint64_t tokens) noexcept {
  account_.samples_in += samples;
  account_.samples_held_out += samples;
  account_.tokens_in += tokens;
  account_.tokens_held_out += tokens;
}

Result<void> SampleIntake::finish() {
  if (auto ok = end_group(); !ok) return ok;
  if (stopped()) {
    const std::string what = options_->groups ? "groups" : "samples";
    std::string limit = "the capacity of " + std::to_string(options_->plan.capacity) + " tokens";
    if (options_->groups && options_->plan.max_sequences != 0) {
      limit += " or " + std::to_string(options_->plan.max_sequences) + " sequences";
    }
    const std::string remedy = options_->groups
                                   ? "raise the capacity, or drop such groups"
                                   : "raise the capacity, or choose split, truncate, truncate-left or drop";
    return Error{Errc::kOverlong, Error::kNoOffset,
                 std::to_string(overlong_.count) + " of " + std::to_string(overlong_.units) + " " + what +
                     " exceed " + limit + ": the first starts at sample " +
                     std::to_string(overlong_.first_source) + ", the longest has " +
                     std::to_string(overlong_.longest) + " tokens (sample " +
                     std::to_string(overlong_.longest_source) + "). Nothing was written; " + remedy};
  }
  return keys_.check();
}

}  // namespace tokpack::detail
