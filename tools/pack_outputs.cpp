#include "pack_outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "command.h"
#include "interrupt.h"
#include "tokpack/core/output_file.h"
#include "tokpack/format/layout.h"

namespace tokpack::tools {

namespace {

/// A name for a file that stands beside `path` for a while. It is one of a temporary of that path, so that
/// the next pack removes it should this one be killed.
std::string second_name(const std::string& path) {
  const std::size_t target = path.rfind('/') + 1;  // 0 where there is no folder
  std::random_device random;
  return fmt::format("{}{}{:08x}{:08x}.tmp", path.substr(0, target), temporary_stem(path.substr(target)),
                     random(), random());
}

/// A finished file that is taken back unless keep() is called.
class TakeBack {
 public:
  /// Before the file is replaced: gives the old one a second name.
  TakeBack(std::string path, bool force) : path_(std::move(path)) {
    std::error_code error;
    const auto status =
        std::filesystem::symlink_status(path_, error);  // a link that leads nowhere is there, too
    replaces_ = std::filesystem::exists(status);
    if (!replaces_ || !force) return;
    if (std::filesystem::is_symlink(status)) {
      old_link_ = std::filesystem::read_symlink(path_, error);
      return;
    }
    const std::string name = second_name(path_);
    if (::link(path_.c_str(), name.c_str()) != 0) return;
    old_ = name;
    // Locked, so that another pack to this path does not take it for a dead one's.
    lock_ = Descriptor(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (lock_.is_open()) ::flock(lock_.number(), LOCK_EX | LOCK_NB);
  }
  ~TakeBack() {
    if (written_) undo();
    if (!old_.empty()) ::unlink(old_.c_str());
  }
  TakeBack(const TakeBack&) = delete;
  TakeBack& operator=(const TakeBack&) = delete;

  void written() { written_ = true; }
  void keep() { written_ = false; }

 private:
  void undo() {
    if (!replaces_) {
      ::unlink(path_.c_str());
      return;
    }
    if (!old_link_.empty()) {
      const std::string name = second_name(path_);
      if (::symlink(old_link_.c_str(), name.c_str()) == 0) old_ = name;
    }
    if (old_.empty() || std::rename(old_.c_str(), path_.c_str()) != 0) {
      warn(fmt::format("{}: the old file could not be brought back; it holds the new samples", path_));
    } else {
      old_.clear();
    }
  }
  std::string path_;
  bool replaces_ = false;
  bool written_ = false;
  std::string old_;                 ///< second name of the file that stood here
  std::filesystem::path old_link_;  ///< what the link that stood here says
  Descriptor lock_;
};

}  // namespace

PackOutputs::PackOutputs(const PackArguments& a, const WriterOptions& options, Explain explain)
    : path_(a.output),
      holdout_path_(a.holdout_output),
      force_(a.force),
      columns_(options.columns),
      explain_(std::move(explain)) {
  const auto create = [&options](const std::string& path) {
    auto writer = Writer::create(path, options);
    if (!writer && writer.error().code == Errc::kExists)
      fail(kUnusable, fmt::format("{} exists; --force replaces it", path));
    return take(std::move(writer), path);
  };
  main_.emplace(create(path_));
  if (a.holdout_percent) holdout_.emplace(create(holdout_path_));
}

void PackOutputs::begin_input(const std::string& name) {
  main_->begin_input(name);
  if (holdout_) holdout_->begin_input(name);
}

void PackOutputs::set_roles(const std::vector<std::string>& names) {
  main_->set_roles(names);
  if (holdout_) holdout_->set_roles(names);
}

void PackOutputs::stop(const Error& error, const std::string& path) const {
  const int code = error.code == Errc::kOptions ? kUsage : kUnusable;
  fail(code, fmt::format("{}: {}", path, explain_(error)));
}

void PackOutputs::add(const input::SampleBatch& batch, std::span<const Fate> fates,
                      std::span<const std::uint64_t> groups) {
  if (fates.empty()) {
    add_run(batch, Fate::kPack, 0, batch.samples(), 0, batch.tokens.size(), groups);
    return;
  }
  std::size_t first_token = 0;
  for (std::size_t first = 0; first < fates.size();) {
    // A group that main does not get must still end the one before, and must not come back.
    const bool group_begins = !groups.empty() && last_group_ != groups[first];
    if (group_begins && fates[first] != Fate::kPack) {
      if (auto ok = main_->pass_over_group(groups[first]); !ok) stop(ok.error(), path_);
    }
    std::size_t last = first;
    std::size_t last_token = first_token;
    for (; last < fates.size() && fates[last] == fates[first]; ++last) {
      const bool other_group = !groups.empty() && last > first && groups[last] != groups[last - 1];
      if (other_group && fates[first] != Fate::kPack) break;
      last_token += batch.lengths[last];
    }
    if (!groups.empty()) last_group_ = groups[last - 1];
    add_run(batch, fates[first], first, last, first_token, last_token, groups);
    first = last;
    first_token = last_token;
  }
}

void PackOutputs::add_run(const input::SampleBatch& batch, Fate fate, std::size_t first, std::size_t last,
                          std::size_t first_token, std::size_t last_token,
                          std::span<const std::uint64_t> groups) {
  const std::uint64_t samples = last - first;
  const std::uint64_t tokens = last_token - first_token;
  if (samples == 0) return;
  if (fate == Fate::kSkip) {
    main_->count_skipped(samples, tokens);
    if (holdout_) holdout_->count_skipped(samples, tokens);
    return;
  }
  Writer& here = fate == Fate::kHoldOut ? *holdout_ : *main_;
  const std::string& path = fate == Fate::kHoldOut ? holdout_path_ : path_;

  Batch run;
  run.tokens = TokenInput(std::span(batch.tokens).subspan(first_token, tokens));
  run.lengths = std::span(batch.lengths).subspan(first, samples);
  if (batch.label_form == input::SampleBatch::Labels::kMask)
    run.loss_mask = std::span(batch.loss_mask).subspan(first_token, tokens);
  if (batch.label_form == input::SampleBatch::Labels::kLabels)
    run.labels = std::span(batch.labels).subspan(first_token, tokens);
  if (!groups.empty()) run.groups = groups.subspan(first, samples);

  column_storage_.clear();
  offset_storage_.resize(batch.columns.size());
  for (std::size_t c = 0; c < batch.columns.size(); ++c) {
    const input::SampleBatch::Column& column = batch.columns[c];
    const ColumnSpec& spec = columns_.at(c);
    const std::size_t row = std::size_t{format::element_bytes(spec.type)} * spec.width;
    const auto values = std::span<const std::byte>(column.values);
    if (spec.ragged) {
      const std::uint64_t base = column.offsets.at(first);
      offset_storage_[c].clear();
      for (std::size_t i = first; i <= last; ++i) offset_storage_[c].push_back(column.offsets.at(i) - base);
      column_storage_.push_back(
          {values.subspan(base * row, offset_storage_[c].back() * row), offset_storage_[c]});
    } else if (spec.scope == Scope::kToken) {
      column_storage_.push_back({values.subspan(first_token * row, tokens * row), {}});
    } else {
      column_storage_.push_back({values.subspan(first * row, samples * row), {}});
    }
  }
  run.columns = column_storage_;
  if (auto added = here.add_batch(run); !added) stop(added.error(), path);
  if (fate == Fate::kHoldOut) {
    main_->count_held_out(samples, tokens);
  } else if (holdout_) {
    holdout_->count_held_out(samples, tokens);
  }
}

void PackOutputs::report_main_overlong() {
  // A file without overlong samples comes into being here, and goes again.
  TakeBack main_file(path_, force_);
  const Result<WriteSummary> result = std::move(*main_).finish();
  main_.reset();
  if (result) {
    main_file.written();
  } else if (result.error().code == Errc::kOverlong) {
    print_error(fmt::format("{}: {}", path_, explain_(result.error())));
  }
}

PackOutputs::Summaries PackOutputs::finish() {
  Summaries summaries;
  std::optional<TakeBack> holdout_file;
  if (holdout_) {
    holdout_file.emplace(holdout_path_, force_);
    Result<WriteSummary> held_out = std::move(*holdout_).finish();
    holdout_.reset();
    if (!held_out) {
      if (held_out.error().code == Errc::kOverlong) report_main_overlong();
      stop(held_out.error(), holdout_path_);
    }
    summaries.holdout = std::move(held_out).value();
    holdout_file->written();
    stop_if_interrupted();
  }
  Result<WriteSummary> packed = std::move(*main_).finish();
  main_.reset();
  if (!packed) stop(packed.error(), path_);
  summaries.main = std::move(packed).value();
  if (holdout_file) holdout_file->keep();
  return summaries;
}

}  // namespace tokpack::tools
