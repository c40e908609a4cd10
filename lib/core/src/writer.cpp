#include "tokpack/core/writer.h"

#include <algorithm>
#include <new>
#include <utility>

#include "batch_check.h"
#include "file_finish.h"
#include "pack_sink.h"
#include "reader_text.h"
#include "sample_intake.h"
#include "tokpack/core/metadata.h"
#include "tokpack/core/output_file.h"
#include "tokpack/core/window_defaults.h"
#include "window_pipeline.h"
#include "writer_options.h"

namespace tokpack {
namespace {

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Error out_of_memory() noexcept { return detail::out_of_memory("for the window; choose a smaller one"); }

}  // namespace

struct Writer::Impl {
  WriterOptions options;
  OutputFile output;
  detail::PackSink sink;
  detail::WindowPipeline pipeline;
  detail::SampleIntake intake;
  std::vector<MetadataInput> inputs;
  std::vector<std::string> roles;
  std::optional<Error> error;

  Impl(const WriterOptions& given, OutputFile file)
      : options(given),
        output(std::move(file)),
        sink(output, detail::planned_header_bytes(options), options),
        pipeline(sink, options),
        intake(output, options, pipeline) {}

  /// Nothing is left behind: no thread, no temporary.
  void abandon() noexcept {
    pipeline.stop();
    output.discard();
  }

  template <typename Work>
  Result<void> guarded(Work work) {
    if (error) return detail::copied(*error);
    Result<void> done;
    try {
      done = work();
    } catch (const std::bad_alloc&) {
      done = out_of_memory();
    }
    if (!done) {
      error = detail::copied(done.error());
      abandon();
    } else if (intake.stopped()) {
      abandon();
    }
    return done;
  }

  Result<WriteSummary> finish();
  Metadata metadata(const Account& account) const;
};

Metadata Writer::Impl::metadata(const Account& account) const {
  Metadata m;
  m.account = account;
  m.bos_id = options.bos_id;
  m.eos_id = options.eos_id;
  m.inputs = inputs;
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    const std::uint64_t end = i + 1 < m.inputs.size() ? m.inputs[i + 1].first_sample : account.samples_in;
    m.inputs[i].samples = end - m.inputs[i].first_sample;
  }
  const bool concat = options.plan.strategy == Strategy::kConcat;
  m.overlong = detail::overlong_name(concat ? Overlong::kSplit : options.overlong);
  m.strategy = detail::strategy_name(options.plan.strategy);
  m.tail = detail::tail_name(options.tail);
  m.tool = "tokpack " TOKPACK_VERSION;
  m.planner_version = kPlannerVersion;
  m.roles = roles;
  m.tokenizer_name = options.tokenizer_name;
  m.tokenizer_sha256 = options.tokenizer_sha256;
  if (options.plan.strategy == Strategy::kBestFit) {
    m.window = effective_window(options.window_tokens, options.plan.capacity);
  }
  m.user = options.user;
  return m;
}

Result<WriteSummary> Writer::Impl::finish() {
  if (auto ok = intake.finish(); !ok) return ok.error();
  if (auto ok = pipeline.finish(); !ok) return ok.error();
  const detail::SinkCounts& counts = sink.counts();
  WriteSummary summary;
  summary.account = intake.account();
  summary.account.sequences = counts.sequences;
  summary.account.extra_fragments = counts.sequences - summary.account.samples_packed;
  summary.account.samples_split += pipeline.samples_split();
  summary.packs = counts.packs;
  summary.sequences = counts.sequences;
  summary.tokens = counts.tokens;
  summary.targets = counts.targets;
  const std::uint64_t capacity = options.plan.capacity;
  summary.lower_bound_packs =
      counts.aligned_tokens / capacity + (counts.aligned_tokens % capacity != 0 ? 1 : 0);

  // Bits that were kept in case a sample would bring labels, and none did.
  const LabelKind kind =
      intake.labels_seen() ? std::max(sink.label_kind(), LabelKind::kLossMask) : LabelKind::kAll;
  auto file = detail::finish_file(output, sink, options, kind, summary.account.samples_in,
                                  to_json(metadata(summary.account)));
  if (!file) return file.error();
  summary.file_size = file->file_size;
  summary.digest = file->digest;
  if (auto ok = output.commit(options.sync); !ok) return ok.error();
  return summary;
}

Writer::Writer(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(const std::string& path, const WriterOptions& options) {
  try {
    if (auto ok = detail::check_writer_options(options); !ok) return ok.error();
    auto output = OutputFile::create(path, options.force);
    if (!output) return output.error();
    return Writer(std::make_unique<Impl>(options, std::move(*output)));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

namespace {

Error finished() noexcept {
  return detail::plain_error(Errc::kFinished, "this writer was finished or moved from; create another one");
}

}  // namespace

Result<void> Writer::add(const Sample& sample) {
  if (!impl_) return finished();
  return impl_->guarded([&]() -> Result<void> {
    if (auto ok = detail::check_sample_length(sample.tokens.size(), samples_in()); !ok) return ok;
    const auto length = static_cast<std::uint32_t>(sample.tokens.size());
    Batch batch;
    batch.tokens = sample.tokens;
    batch.lengths = std::span(&length, 1);
    batch.loss_mask = sample.loss_mask;
    batch.labels = sample.labels;
    if (sample.tail_label) batch.tail_labels = std::span(&*sample.tail_label, 1);
    batch.columns = sample.columns;
    return impl_->intake.add_batch(batch);
  });
}

Result<void> Writer::add_batch(const Batch& batch) {
  if (!impl_) return finished();
  return impl_->guarded([&] { return impl_->intake.add_batch(batch); });
}

Result<void> Writer::add_group(const Batch& batch) {
  if (!impl_) return finished();
  return impl_->guarded([&] { return impl_->intake.add_group(batch); });
}

void Writer::begin_input(const std::string& name) {
  if (!impl_) return;
  (void)impl_->guarded([&]() -> Result<void> {
    impl_->inputs.push_back({base_name(name), samples_in(), 0});
    return {};
  });
}

void Writer::count_skipped(std::uint64_t samples, std::uint64_t tokens) {
  if (impl_) impl_->intake.count_skipped(samples, tokens);
}

void Writer::count_held_out(std::uint64_t samples, std::uint64_t tokens) {
  if (impl_) impl_->intake.count_held_out(samples, tokens);
}

Result<void> Writer::pass_over_group(std::uint64_t key) {
  if (!impl_) return finished();
  return impl_->guarded([&] { return impl_->intake.pass_over_group(key); });
}

void Writer::set_roles(std::vector<std::string> names) {
  if (!impl_) return;
  (void)impl_->guarded([&]() -> Result<void> {
    for (const std::string& name : names) {
      if (auto ok = detail::check_text("the role", name); !ok) return ok;
    }
    impl_->roles = std::move(names);
    return {};
  });
}

std::uint64_t Writer::samples_in() const noexcept { return impl_ ? impl_->intake.account().samples_in : 0; }

Result<WriteSummary> Writer::finish() && {
  if (!impl_) return finished();
  const std::unique_ptr<Impl> impl = std::move(impl_);
  if (impl->error) return detail::copied(*impl->error);
  try {
    auto done = impl->finish();
    if (!done) impl->abandon();
    return done;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace tokpack
