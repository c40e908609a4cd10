// A text file that is complete under its name or not there: written beside it, synced, renamed.
//
// Threads: one. Errors: Failure. Destruction without commit() removes what was written.
#pragma once

#include <memory>
#include <string>

#include "command.h"

namespace tokpack::tools {

class NewFile {
 public:
  /// `force`: may replace a regular file.
  NewFile(std::string path, bool force);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Output& out() noexcept { return *out_; }
  void commit();

 private:
  std::string path_, temporary_;
  bool force_;
  int descriptor_ = -1;
  std::unique_ptr<Output> out_;
};

}  // namespace tokpack::tools
