#include "parse_pool.h"

#include <new>
#include <system_error>

namespace tokpack::input {

ParsePool::ParsePool(unsigned threads, const JsonlOptions& options, const FieldTable& table)
    : options_(options), table_(table), own_parser_(options, table) {
  if (threads < 2) return;
  for (unsigned i = 0; i < threads; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return;  // fewer threads than wished for, or none: slower, not wrong
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

void ParsePool::submit(ParseJob& job) {
  job.done = false;
  if (workers_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(&job);
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

void ParsePool::run(RecordParser& parser, ParseJob& job) {
  try {
    parser.parse(job.chunk.text, *job.schema, job.parsed);
  } catch (const std::bad_alloc&) {
    job.parsed.batch = {};
    job.parsed.lines.clear();
    job.parsed.failure = Failure{Errc::kOutOfMemory, 0, 0, "no memory to parse this part of the input"};
  }
}

void ParsePool::work() {
  RecordParser parser(options_, table_);
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    ParseJob* const job = queue_.front();
    queue_.pop_front();
    lock.unlock();
    run(parser, *job);
    lock.lock();
    job->done = true;
    finished_.notify_all();
  }
}

}  // namespace tokpack::input
