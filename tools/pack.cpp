// tokpack pack: samples in, a .tpk file (and perhaps a holdout file) out.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <regex>
#include <thread>

#include "command.h"
#include "ignored_fields.h"
#include "interrupt.h"
#include "json.h"
#include "label_watch.h"
#include "option_words.h"
#include "options.h"
#include "pack_inputs.h"
#include "pack_outputs.h"
#include "pack_report.h"
#include "progress.h"
#include "sha256.h"
#include "tokpack/core/window_defaults.h"
#include "tokpack/format/checksum.h"
#include "tokpack/format/names.h"
#include "tokpack/input/jsonl.h"
#include "tokpack/input/raw.h"

namespace tokpack::tools {

namespace {

unsigned thread_count(unsigned asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

WriterOptions writer_options(const PackArguments& a) {
  WriterOptions options;
  options.plan = {.capacity = a.capacity,
                  .alignment = a.alignment,
                  .max_sequences = a.max_sequences,
                  .strategy = a.strategy};
  const bool concat = a.strategy == Strategy::kConcat;
  if (concat && a.overlong && *a.overlong != Overlong::kSplit)
    fail(kUsage, "--strategy concat cuts every sample at the capacity; --overlong can only be split with it");
  options.overlong = concat ? Overlong::kSplit : a.overlong.value_or(Overlong::kError);
  if (a.window != 0 && a.window < least_window(a.capacity)) {
    fail(kUsage,
         fmt::format("--window {} is too small to pack well: expected at least {} x capacity = {}, or all",
                     a.window, kLeastPacksPerWindow, least_window(a.capacity)));
  }
  options.window_tokens = a.window;
  options.token_type = a.token_type;
  options.vocab_size = a.vocab_size;
  options.label_alignment = a.labels;
  options.missing_labels = a.missing_labels;
  options.tail = a.tail;
  options.drop_untrainable = a.drop_untrainable;
  options.threads = thread_count(a.threads);
  options.ignore_index = a.ignore_index;
  options.pad_id = a.pad_id;
  options.force = a.force;
  options.bos_id = a.bos_id;
  options.eos_id = a.eos_id;
  options.tokenizer_name = a.tokenizer;
  if (!a.tokenizer_file.empty()) options.tokenizer_sha256 = sha256_of_file(a.tokenizer_file);
  for (const auto& [key, value] : a.meta) options.user[key] = value;
  if (auto checked = check_plan_options(options.plan); !checked) fail(kUsage, checked.error().detail);
  return options;
}

input::JsonlOptions jsonl_options(const PackArguments& a) {
  input::JsonlOptions options;
  options.vocab_size = a.vocab_size;
  options.u16_only = a.token_type == ElementType::kU16;
  options.ignore_index = a.ignore_index;
  options.missing_labels = a.missing_labels;
  if (a.group_field) options.group_field = *a.group_field;
  options.mask_fields = a.mask_fields;
  options.ignore_fields = a.ignore_fields;
  options.columns = a.columns;
  options.threads = thread_count(a.threads);
  options.stop_descriptor = interrupt_descriptor();
  return options;
}

input::RawOptions raw_options(const PackArguments& a, const InputPass& pass) {
  input::RawOptions options;
  options.type = a.array_type;
  options.header_bytes = a.header_bytes;
  if (!a.lengths.empty()) options.lengths_path = a.lengths[pass.raw_index];
  options.document_end = a.document_end;
  if (!a.loss_mask_files.empty()) options.loss_mask_path = a.loss_mask_files[pass.raw_index];
  options.vocab_size = a.vocab_size;
  return options;
}

/// Refuses JSON lines with groups or columns beside a raw array, whose samples have none.
void check_goes_with_raw(const input::Source& source, const std::string& path, const InputPass& raw) {
  std::string field = source.has_groups() ? "groups" : "";
  std::string remedy = source.has_groups() ? "read no groups (--group-field '') or " : "";
  if (!source.columns().empty()) {
    const std::string name = source.columns().front().name;
    field = fmt::format("the field '{}'", name);
    remedy = fmt::format("do not read it (--ignore-field {}) or ", name);
  }
  if (field.empty()) return;
  fail(kUsage, fmt::format("{} brings {}, and {} is a raw input, which brings none; {}pack them on their own",
                           path, field, raw.path, remedy));
}

/// The same before anything is read at length: of each file's first record. What is wrong with it is said
/// when it is read in its turn.
void check_first_records(const PackArguments& a, std::span<const InputPass> passes) {
  const InputPass* raw = first_raw(passes);
  if (raw == nullptr) return;
  for (const InputPass& pass : passes) {
    if (pass.raw || !pass.file_size || !pass.first_of_input) continue;
    input::JsonlOptions options = jsonl_options(a);
    options.threads = 1;
    options.batch_bytes = 1 << 16;
    auto source = input::open_jsonl(pass.path, input::make_jsonl_session(std::move(options)));
    if (source && (*source)->next()) check_goes_with_raw(**source, pass.path, *raw);
  }
}

/// The passes read so far, to say where a sample came from. Keeps the last few sources alive.
class Origins {
 public:
  void begin(std::string path, std::uint64_t first_sample, std::unique_ptr<input::Source> source) {
    passes_.push_back({std::move(path), first_sample, std::move(source)});
    if (passes_.size() > kKept) passes_[passes_.size() - 1 - kKept].source.reset();
  }
  input::Source& current() { return *passes_.back().source; }

  std::string where(std::uint64_t sample) const {
    for (auto pass = passes_.rbegin(); pass != passes_.rend(); ++pass) {
      if (pass->first_sample > sample) continue;
      const std::uint64_t index = sample - pass->first_sample;
      return pass->source ? pass->source->where(index) : fmt::format("{}, record {}", pass->path, index);
    }
    return {};
  }

  /// The error's text, with its place after every sample number that it names.
  std::string explain(const Error& error) const {
    static const std::regex kSample("\\bsample (\\d{1,18})\\b");
    // Keys of groups are hashes of what the input says: no number to show to anyone.
    static const std::regex kGroupKey("\\bgroup \\d+ was\\b");
    const std::string text = std::regex_replace(describe(error, ""), kGroupKey, "its group was");
    std::string out;
    std::string::const_iterator at = text.begin();
    for (std::sregex_iterator match(text.begin(), text.end(), kSample), end; match != end; ++match) {
      const auto stop = text.begin() + match->position() + match->length();
      out.append(at, stop);
      at = stop;
      if (const std::string place = where(std::stoull((*match)[1].str())); !place.empty())
        out += " [" + place + "]";
    }
    return out.append(at, text.end());
  }

 private:
  static constexpr std::size_t kKept = 8;
  struct Pass {
    std::string path;
    std::uint64_t first_sample;
    std::unique_ptr<input::Source> source;
  };
  std::deque<Pass> passes_;
};

std::string shown_name(const InputPass& pass) { return pass.path == "-" ? "standard input" : pass.path; }

Json summary_json(const std::string& path, const WriteSummary& summary) {
  Json json = Json::object();
  for (const AccountField& field : kAccountFields)
    json[std::string(field.name)] = summary.account.*field.member;
  json["output"] = as_utf8(path);
  json["digest"] = format::to_hex(summary.digest);
  json["packs"] = summary.packs;
  json["targets"] = summary.targets;
  json["file_size"] = summary.file_size;
  json["lower_bound_packs"] = summary.lower_bound_packs;
  const std::optional<FileKinds> kinds = kinds_of(path, summary);
  json["label_kind"] = kinds ? Json(format::label_kind_name(kinds->labels)) : Json();
  json["token_type"] = kinds ? Json(format::element_type_name(kinds->tokens)) : Json();
  return json;
}

/// Reads all passes into the outputs.
class PackRun {
 public:
  explicit PackRun(const PackArguments& arguments)
      : arguments_(arguments),
        options_(writer_options(arguments)),
        passes_(expand_inputs(arguments)),
        session_(input::make_jsonl_session(jsonl_options(arguments))),
        selector_(arguments.holdout_percent.value_or(0) / 100),
        label_watch_(arguments.labels, arguments.ignore_index) {
    check_first_records(arguments, passes_);
    // A pipe says nothing of how much will come.
    const auto known = [](const InputPass& pass) { return pass.file_size.has_value(); };
    if (!std::all_of(passes_.begin(), passes_.end(), known)) return;
    for (const InputPass& pass : passes_) bytes_total_ += *pass.file_size;
  }

  PackOutputs::Summaries run() {
    for (const InputPass& pass : passes_) read(pass);
    say(label_watch_.verdict(true));
    progress_.say("planning and writing");
    if (!outputs_) create_outputs(false);
    outputs_->set_roles(roles_);
    PackOutputs::Summaries summaries = outputs_->finish();
    progress_.clear();
    return summaries;
  }

  /// Of all inputs. REQUIRES: run() returned.
  const input::IgnoredFields& ignored() const { return input::ignored_fields(*session_); }

 private:
  void read(const InputPass& pass) {
    auto opened = pass.raw ? input::open_raw(pass.path, raw_options(arguments_, pass))
                           : input::open_jsonl(pass.path, session_);
    stop_if_interrupted();
    if (!opened && pass.raw && opened.error().code == Errc::kOptions) {
      // The library does not know how its options are spelt here.
      fail(kUsage,
           fmt::format("{} ({})", describe(opened.error(), pass.path),
                       arguments_.header_bytes == 0 ? "--array-type" : "--array-type, --header-bytes"));
    }
    origins_.begin(pass.path, samples_, take(std::move(opened), shown_name(pass)));
    input::Source& source = origins_.current();
    selector_.begin_pass(pass);
    if (pass.first_of_input) waiting_.push_back(pass.path);
    if (outputs_) name_inputs();
    const std::uint64_t samples_before = samples_;
    std::size_t notes_said = 0;
    while (true) {
      stop_if_interrupted();
      auto next = source.next();
      if (!next) stop(next.error(), pass);
      if (pass.first_of_input) say_notes(source, notes_said);
      const input::SampleBatch* batch = *next;
      if (batch == nullptr) break;
      if (const InputPass* raw = pass.raw ? nullptr : first_raw(passes_))
        check_goes_with_raw(source, shown_name(pass), *raw);
      label_watch_.look(*batch);
      say(label_watch_.verdict());
      if (!outputs_) create_outputs(true);
      outputs_->add(*batch, selector_.decide(*batch), selector_.groups(*batch));
      samples_ += batch->samples();
      tokens_ += batch->tokens.size();
      progress_.update(bytes_before_ + source.progress().bytes_read, bytes_total_, tokens_);
    }
    if (pass.first_of_input && samples_ == samples_before)
      say(fmt::format("{}: the input has no samples", shown_name(pass)));
    bytes_before_ += source.progress().bytes_read;
    if (!source.roles().empty()) roles_ = source.roles();
  }

  [[noreturn]] void stop(const Error& error, const InputPass& pass) {
    stop_if_interrupted();
    fail(error, shown_name(pass));
  }

  /// A warning while the progress bar may stand there.
  void say(const std::optional<std::string>& warning) {
    if (!warning) return;
    progress_.clear();
    warn(*warning);
  }

  void say_notes(const input::Source& source, std::size_t& said) {
    const std::vector<input::Note> notes = source.notes();
    for (; said < notes.size(); ++said) say(with_option_names(notes[said].text) + remedy(notes[said].kind));
  }

  /// Columns and groups are known once the first batch has been read.
  void create_outputs(bool read_any) {
    const input::Source& source = origins_.current();
    options_.groups = source.has_groups();
    options_.columns = source.columns();
    if (arguments_.group_field && !arguments_.group_field->empty() && !options_.groups && read_any) {
      fail(kUnusable,
           fmt::format("--group-field {}: the first record has no such field", *arguments_.group_field));
    }
    outputs_.emplace(arguments_, options_, [this](const Error& error) { return origins_.explain(error); });
    name_inputs();
  }

  void name_inputs() {
    for (const std::string& name : waiting_) outputs_->begin_input(name);
    waiting_.clear();
  }

  const PackArguments& arguments_;
  WriterOptions options_;
  std::vector<InputPass> passes_;
  std::shared_ptr<input::JsonlSession> session_;
  Selector selector_;
  LabelWatch label_watch_;
  Origins origins_;
  std::optional<PackOutputs> outputs_;
  std::vector<std::string> waiting_;  ///< inputs begun before the outputs could be created
  std::vector<std::string> roles_;
  std::uint64_t samples_ = 0, tokens_ = 0, bytes_before_ = 0, bytes_total_ = 0;
  ProgressBar progress_;
};

}  // namespace

int run(const PackArguments& arguments) {
  defer_interrupts();
  PackRun run(arguments);
  const PackOutputs::Summaries summaries = run.run();
  Output out;
  if (arguments.json) {
    Json json = summary_json(arguments.output, summaries.main);
    if (summaries.holdout) json["holdout"] = summary_json(arguments.holdout_output, *summaries.holdout);
    add_ignored_json(run.ignored(), json);
    print_json(out, json);
  } else {
    print_summary(out, arguments.output, arguments, summaries.main);
    if (summaries.holdout) {
      out << "\n";
      print_summary(out, arguments.holdout_output, arguments, *summaries.holdout);
    }
    out << ignored_text(run.ignored());
    out.flush();
  }
  warn_of_ignored(run.ignored(), arguments.ignore_fields);
  advise(arguments.output, arguments, summaries.main);
  return kDone;
}

}  // namespace tokpack::tools
