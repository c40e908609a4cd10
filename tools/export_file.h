// A text file that is complete under its name or not there: the output transaction of the library, under a
// buffer. What a killed export leaves, the next export to that name removes.
//
// Threads: one. Errors: Failure. Destruction without commit() removes what was written.
#pragma once

#include <string>

#include "command.h"
#include "tokpack/core/output_file.h"

namespace tokpack::tools {

class NewFile {
 public:
  /// `force`: may replace a regular file.
  NewFile(const std::string& path, bool force);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Output& out() noexcept { return out_; }
  void commit();

 private:
  OutputFile file_;
  Output out_;
};

}  // namespace tokpack::tools
