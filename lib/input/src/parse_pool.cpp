#include "parse_pool.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace tokpack::input {
namespace {

constexpr unsigned kMostThreads = 4096;

}  // namespace

ParsePool::ParsePool(unsigned threads, const JsonlOptions& options, const FieldTable& table)
    : own_parser_(options, table) {
  if (threads < 2) return;
  threads = std::min(threads, kMostThreads);
  workers_.reserve(threads);  // what is thrown once a thread runs would end the process
  for (unsigned i = 0; i < threads; ++i) {
    try {
      workers_.emplace_back(
          [this, parser = std::make_unique<RecordParser>(options, table)] { work(*parser); });
    } catch (const std::system_error&) {
      return;  // fewer threads than wished for, or none: slower, not wrong
    } catch (const std::bad_alloc&) {
      return;
    }
  }
}

ParsePool::~ParsePool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  submitted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ParsePool::submit(ParseJob& job) noexcept {
  job.done = false;
  if (workers_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    job.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &job;
    last_ = &job;
  }
  submitted_.notify_one();
}

void ParsePool::wait(ParseJob& job) {
  if (workers_.empty()) {
    run(own_parser_, job);
    return;
  }
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&job] { return job.done; });
}

void ParsePool::run(RecordParser& parser, ParseJob& job) noexcept {
  try {
    parser.parse(job.chunk.text, *job.schema, job.parsed);
  } catch (const std::bad_alloc&) {
    job.parsed = ParsedChunk();
    job.parsed.failure = Failure{Errc::kOutOfMemory, 0, 0, {}};  // words may need memory that is not there
  }
}

void ParsePool::work(RecordParser& parser) {
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [this] { return stop_ || first_ != nullptr; });
    if (stop_) return;
    ParseJob* const job = first_;
    first_ = job->next;
    lock.unlock();
    run(parser, *job);
    lock.lock();
    job->done = true;
    finished_.notify_all();
  }
}

}  // namespace tokpack::input
