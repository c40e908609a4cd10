// Parses chunks on threads, or on the caller's when there is one thread only.
//
// Ownership: jobs are the caller's and stay until wait() returned for them or the pool is gone. Threads: one
// thread calls; results do not depend on how many work. Errors: stand in the job's ParsedChunk.
//
//   pool.submit(job); ...; pool.wait(job); use(job.parsed);
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "line_reader.h"
#include "record_parser.h"

namespace tokpack::input {

struct ParseJob {
  Chunk chunk;
  ParsedChunk parsed;
  std::shared_ptr<const Schema> schema;
  // The pool's, guarded by its mutex.
  bool done = false;
  ParseJob* next = nullptr;
};

class ParsePool {
 public:
  ParsePool(unsigned threads, const JsonlOptions& options, const FieldTable& table);
  ~ParsePool();
  ParsePool(const ParsePool&) = delete;
  ParsePool& operator=(const ParsePool&) = delete;

  /// Allocates nothing: a job in the pool's hands can always be waited for.
  void submit(ParseJob& job) noexcept;
  void wait(ParseJob& job);
  /// Threads that parse besides the caller's.
  std::size_t workers() const noexcept { return workers_.size(); }
  /// The calling thread's parser.
  RecordParser& own_parser() noexcept { return own_parser_; }

 private:
  void work(RecordParser& parser);
  static void run(RecordParser& parser, ParseJob& job) noexcept;

  RecordParser own_parser_;
  std::mutex mutex_;
  std::condition_variable submitted_, finished_;
  ParseJob *first_ = nullptr, *last_ = nullptr;  // the queue, linked through ParseJob::next
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace tokpack::input
