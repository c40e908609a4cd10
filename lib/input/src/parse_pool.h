// Parses chunks on threads, or on the caller's when there is one thread only.
//
// Ownership: jobs are the caller's and stay until wait() returned for them or the pool is gone. Threads: one
// thread calls; results do not depend on how many work. Errors: stand in the job's ParsedChunk.
//
//   pool.submit(job); ...; pool.wait(job); use(job.parsed);
#pragma once

#include <condition_variable>
#include <deque>
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
  bool done = false;  // guarded by the pool's mutex
};

class ParsePool {
 public:
  ParsePool(unsigned threads, const JsonlOptions& options, const FieldTable& table);
  ~ParsePool();
  ParsePool(const ParsePool&) = delete;
  ParsePool& operator=(const ParsePool&) = delete;

  void submit(ParseJob& job);
  void wait(ParseJob& job);
  /// Threads that parse besides the caller's.
  std::size_t workers() const noexcept { return workers_.size(); }
  /// The calling thread's parser.
  RecordParser& own_parser() noexcept { return own_parser_; }

 private:
  void work();
  static void run(RecordParser& parser, ParseJob& job);

  const JsonlOptions& options_;
  const FieldTable& table_;
  RecordParser own_parser_;
  std::mutex mutex_;
  std::condition_variable submitted_, finished_;
  std::deque<ParseJob*> queue_;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace tokpack::input
