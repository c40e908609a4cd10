// JSON lines as a Source: reads chunks ahead, has them parsed, and does in input order what depends on it.

#include <fmt/format.h>

#include <array>
#include <deque>
#include <new>
#include <unordered_map>
#include <utility>

#include "byte_stream.h"
#include "group_key.h"
#include "label_runs.h"
#include "no_memory.h"
#include "parse_pool.h"
#include "quote.h"
#include "sniff.h"
#include "tokpack/input/jsonl.h"

namespace tokpack::input {

struct JsonlSession {
  JsonlOptions options;
  Result<FieldTable> table;
  std::shared_ptr<const Schema> schema;  // null until the first record of the first input
  std::vector<std::string> roles;
  std::unordered_map<std::string, std::size_t> role_numbers;
  std::uint64_t fresh_groups = 0;  // keys made for samples that brought none
  IgnoredFields ignored;

  explicit JsonlSession(JsonlOptions o) : options(std::move(o)), table(make_field_table(options)) {}
};

namespace {

/// Line numbers of the samples of one chunk.
struct LineNumbers {
  std::uint64_t first_sample = 0, first_line = 0;
  std::vector<std::uint32_t> lines;
};

class JsonlSource final : public Source {
 public:
  JsonlSource(LineReader reader, std::string name, std::shared_ptr<JsonlSession> session)
      : reader_(std::move(reader)),
        name_(std::move(name)),
        session_(std::move(session)),
        table_(session_->table.value()),
        runs_(table_),
        pool_(session_->options.threads, session_->options, table_) {}

  Result<const SampleBatch*> next() override {
    try {
      return next_batch();
    } catch (const std::bad_alloc&) {
      drain();
      current_.reset();  // what is left of it must not come behind the error
      error_ = no_memory(name_, "to read on");
      return no_memory(name_, "to read on");
    }
  }

  Progress progress() const override { return reader_.progress(); }
  bool has_groups() const override { return session_->schema && session_->schema->shape.group; }
  std::vector<std::string> roles() const override { return session_->roles; }
  std::vector<Note> notes() const override { return notes_; }

  std::vector<ColumnSpec> columns() const override {
    if (!session_->schema) return session_->options.columns;
    std::vector<ColumnSpec> specs;
    for (const std::size_t which : session_->schema->columns) specs.push_back(table_.columns[which]);
    return specs;
  }

  std::string where(std::uint64_t index) const override {
    for (const LineNumbers& numbers : line_numbers_) {
      if (index < numbers.first_sample || index - numbers.first_sample >= numbers.lines.size()) continue;
      const std::uint64_t line =
          numbers.first_line + numbers.lines[static_cast<std::size_t>(index - numbers.first_sample)];
      return fmt::format("{}:{}", name_, line + 1);
    }
    return fmt::format("{}, sample {}", name_, index);
  }

 private:
  Result<const SampleBatch*> next_batch() {
    if (current_) {
      if (const SampleBatch* batch = runs_.next()) return batch;
      recycle(std::move(current_));
    }
    while (!error_) {
      read_ahead();
      if (in_flight_.empty()) {
        if (read_error_) return *(error_ = read_error_);
        return nullptr;
      }
      std::unique_ptr<ParseJob> job = std::move(in_flight_.front());
      in_flight_.pop_front();
      pool_.wait(*job);
      number_groups(job->parsed);
      number_roles(*job);
      if (job->parsed.masked_attention) note_attention(*job);
      note_lines(*job);
      add_ignored(job->parsed.ignored.all(), session_->ignored);
      if (job->parsed.failure) {
        error_ = locate(*job);
        drain();
      }
      if (job->parsed.batch.samples() > 0) {
        current_ = std::move(job);
        runs_.start(current_->parsed, *current_->schema);
        return runs_.next();
      }
      recycle(std::move(job));
    }
    return *error_;
  }

  /// Keeps enough chunks in work that no thread waits; one when there are no threads.
  void read_ahead() {
    const std::size_t depth = pool_.workers() == 0 ? 1 : pool_.workers() + 2;
    while (!reader_done_ && in_flight_.size() < depth) {
      std::unique_ptr<ParseJob> job = take_spare();
      auto more = reader_.next(job->chunk);
      if (!more) read_error_ = more.error();
      reader_done_ = !more || !*more;
      if (!reader_done_ && !session_->schema) read_error_ = decide_schema(job->chunk);
      if (read_error_) reader_done_ = true;
      if (reader_done_) {
        recycle(std::move(job));
        return;
      }
      if (!session_->schema) {  // blank lines only, so far
        lines_before_ += for_each_line(job->chunk.text, [](auto&&...) { return true; });
        recycle(std::move(job));
        continue;
      }
      job->schema = session_->schema;
      job->parsed.look_at_attention = std::exchange(first_chunk_, false);
      in_flight_.push_back(std::move(job));
      pool_.submit(*in_flight_.back());  // last: what a thread works on is ours until it was waited for
    }
  }

  /// The first record decides what all must have. A damaged one decides nothing: it fails when it is parsed.
  std::optional<Error> decide_schema(const Chunk& chunk) {
    std::optional<Error> error;
    for_each_line(chunk.text, [&](std::string_view line, std::uint64_t number, std::size_t) {
      auto schema = std::make_shared<Schema>();
      schema->first = fmt::format("{}:{}", name_, lines_before_ + number + 1);
      const std::optional<RecordShape> shape = pool_.own_parser().shape_of(line);
      if (shape) schema->shape = *shape;
      const std::string& group_field = session_->options.group_field;
      if (shape && !shape->group && !group_field.empty() && group_field != JsonlOptions{}.group_field) {
        error = Error{Errc::kJsonField, Error::kNoOffset,
                      fmt::format("{}: the first record lacks the group field \"{}\" that was named",
                                  schema->first, escaped(group_field))};
      }
      for (std::size_t i = 0; i < table_.columns.size(); ++i) {
        const bool brought =
            i == table_.role ? schema->shape.role : i == table_.weight && schema->shape.weight;
        if (i < table_.declared || brought) schema->columns.push_back(i);
      }
      session_->schema = std::move(schema);
      return false;
    });
    return error;
  }

  void number_groups(ParsedChunk& parsed) {
    for (const std::uint32_t sample : parsed.ungrouped) {
      parsed.batch.groups[sample] = fresh_group_key(session_->fresh_groups++);
    }
  }

  /// From the chunk's own numbers of role texts to those of the whole run.
  void number_roles(ParseJob& job) {
    ParsedChunk& parsed = job.parsed;
    std::array<std::byte, kMaxRoles> global{};
    bool same = true;
    for (std::size_t i = 0; i < parsed.roles.size(); ++i) {
      const auto [found, fresh] = session_->role_numbers.try_emplace(parsed.roles[i], session_->roles.size());
      if (fresh && found->second == kMaxRoles) {
        const std::uint32_t sample = parsed.role_first_sample[i];
        parsed.failure =
            Failure{Errc::kJsonField, parsed.lines[sample], Error::kNoOffset,
                    fmt::format("field \"role\": expected one of at most {} different roles, found \"{}\"",
                                kMaxRoles, escaped(parsed.roles[i]))};
        session_->role_numbers.erase(found);
        parsed.truncate(sample, *job.schema, table_);
        break;
      }
      if (fresh) session_->roles.push_back(parsed.roles[i]);
      global[i] = static_cast<std::byte>(found->second);
      same &= found->second == i;
    }
    if (same) return;
    for (std::size_t i = 0; i < job.schema->columns.size(); ++i) {
      if (job.schema->columns[i] != table_.role) continue;
      for (std::byte& role : parsed.batch.columns[i].values)
        role = global[std::to_integer<std::size_t>(role)];
    }
  }

  void note_attention(const ParseJob& job) {
    const std::uint32_t sample = *job.parsed.masked_attention;
    if (sample >= job.parsed.lines.size()) return;  // of a record that failed
    notes_.push_back(
        {Note::Kind::kMaskedAttention,
         fmt::format("{}:{}: \"attention_mask\" has zeros, as in padded samples. It is not read: padding "
                     "is packed like any token, and trained on unless labels or a mask leave it out",
                     name_, lines_before_ + job.parsed.lines[sample] + 1)});
  }

  void note_lines(ParseJob& job) {
    LineNumbers& slot = line_numbers_[chunks_++ % line_numbers_.size()];
    slot.first_sample = samples_;
    slot.first_line = lines_before_;
    slot.lines.swap(job.parsed.lines);
    samples_ += job.parsed.batch.samples();
    failed_line_ = lines_before_;
    lines_before_ += job.parsed.line_count;
  }

  Error locate(const ParseJob& job) const {
    const Failure& failure = *job.parsed.failure;
    if (failure.text.empty()) return no_memory(name_, "to parse it");
    std::string detail = fmt::format("{}:{}: {}", name_, failed_line_ + failure.line + 1, failure.text);
    const bool known = failure.offset != Error::kNoOffset;
    if (failure.code == Errc::kJsonSyntax && known &&
        job.chunk.text.find('\n', static_cast<std::size_t>(failure.offset)) == std::string_view::npos) {
      detail += "; the input ends within this line";
    }
    return {failure.code, known && reader_.is_plain() ? job.chunk.offset + failure.offset : Error::kNoOffset,
            std::move(detail)};
  }

  /// Lets the threads finish what they have begun: they write into our jobs.
  void drain() {
    for (auto& job : in_flight_) {
      if (pool_.workers() > 0) pool_.wait(*job);
    }
    in_flight_.clear();
  }
  std::unique_ptr<ParseJob> take_spare() {
    if (spare_.empty()) return std::make_unique<ParseJob>();
    std::unique_ptr<ParseJob> job = std::move(spare_.back());
    spare_.pop_back();
    return job;
  }
  void recycle(std::unique_ptr<ParseJob> job) {
    if (job) spare_.push_back(std::move(job));
  }

  LineReader reader_;
  std::string name_;
  std::shared_ptr<JsonlSession> session_;
  const FieldTable& table_;
  std::deque<std::unique_ptr<ParseJob>> in_flight_;
  std::vector<std::unique_ptr<ParseJob>> spare_;
  std::unique_ptr<ParseJob> current_;
  LabelRuns runs_;  // of the current job
  ParsePool pool_;  // ends before the jobs that its threads write into
  bool reader_done_ = false;
  std::optional<Error> read_error_;  // comes after what was read before it
  std::optional<Error> error_;       // final
  std::uint64_t lines_before_ = 0, failed_line_ = 0, samples_ = 0, chunks_ = 0;
  bool first_chunk_ = true;
  std::vector<Note> notes_;
  std::array<LineNumbers, 2> line_numbers_;  // of the current and the previous chunk
};

Result<std::unique_ptr<Source>> make_source(LineReader reader, std::string name,
                                            std::shared_ptr<JsonlSession> session) {
  return std::unique_ptr<Source>(
      std::make_unique<JsonlSource>(std::move(reader), std::move(name), std::move(session)));
}

}  // namespace

std::shared_ptr<JsonlSession> make_jsonl_session(JsonlOptions options) {
  try {
    return std::make_shared<JsonlSession>(std::move(options));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

const IgnoredFields& ignored_fields(const JsonlSession& session) noexcept { return session.ignored; }

Result<std::unique_ptr<Source>> open_jsonl(const std::string& path, std::shared_ptr<JsonlSession> session) {
  if (!session) return no_memory(path, "for its session");
  try {
    const std::string name = display_name(path);
    if (!session->table) return session->table.error();
    auto stream = open_stream(path, session->options.stop_descriptor);
    if (!stream) return stream.error();
    LineReader reader(std::move(*stream), name, session->options.batch_bytes);
    return make_source(std::move(reader), name, std::move(session));
  } catch (const std::bad_alloc&) {
    return no_memory(path, "to open it");
  }
}

Result<std::unique_ptr<Source>> open_jsonl_text(std::string_view text, const std::string& name,
                                                std::shared_ptr<JsonlSession> session) {
  if (!session) return no_memory(name, "for its session");
  try {
    if (!session->table) return session->table.error();
    const std::size_t chunk = session->options.batch_bytes;
    if (!looks_like_zstd(text)) return make_source(LineReader(text, name, chunk), name, std::move(session));
    auto stream = open_stream_text(text, name);
    if (!stream) return stream.error();
    return make_source(LineReader(std::move(*stream), name, chunk), name, std::move(session));
  } catch (const std::bad_alloc&) {
    return no_memory(name, "to open it");
  }
}

}  // namespace tokpack::input
