// The output transaction: a locked temporary beside the target that becomes the target in one step.
//
// Until commit() the target is what it was; without commit() the temporary is gone when this object is.
// A temporary is named ".<target>.tokpack-<16 hex>.tmp" and held by flock, so that a later writer of the same
// target can tell a dead writer's file (its lock can be taken) from one in use, and remove it.
//
// Names longer than the file system takes are shortened, with a hash of the whole name in their place.
// Errors: kExists, kNotRegularFile, kIo. Throws std::bad_alloc. Threads: one at a time.
//
//   auto output = OutputFile::create("train.tpk", false);
//   auto ok = write_all(output->descriptor(), output->path(), 0, bytes);
//   if (ok) ok = output->commit(true);
#pragma once

#include <string>

#include "descriptor.h"

namespace tokpack::detail {

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path, bool force);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  int descriptor() const noexcept { return file_.number(); }
  const std::string& path() const noexcept { return path_; }

  /// A new nameless file in the same folder, gone when closed.
  Result<Descriptor> open_spool() const;

  /// Gives the temporary its name: fsync, rename, fsync of the folder. Without force a target that has come
  /// into being meanwhile is kExists and stays as it is.
  Result<void> commit(bool sync);
  /// Removes the temporary now.
  void discard() noexcept;

 private:
  OutputFile() = default;
  Result<void> open_temporary();
  void remove_dead_temporaries();
  Result<void> rename_without_replacing();

  Descriptor folder_, file_;
  std::string path_, target_, temporary_;
  bool force_ = false;
};

/// The stem of all temporaries of a target's name; 16 hex digits and ".tmp" follow.
std::string temporary_stem(const std::string& target);

}  // namespace tokpack::detail
