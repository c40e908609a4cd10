// The output transaction: a locked temporary beside the target that becomes the target in one step.
//
// Until commit() the target is what it was; without commit() the temporary is gone when this object is.
// A temporary is named ".<target>.tokpack-<16 hex>.tmp" and held by flock, so that a later writer of the same
// target can tell a dead writer's file (its lock can be taken) from one in use, and remove it. A name longer
// than the file system takes is shortened, with a hash of the whole name in its place.
//
// Ownership: owns its descriptors; the caller writes through descriptor() and never closes it. Threads: one
// at a time. Throws std::bad_alloc. Errors: kExists (the target is there and may not be replaced),
// kNotRegularFile (it is a folder or a device), kIo with the folder or file, the system's words and what to
// do.
//
//   auto output = OutputFile::create("train.jsonl", false);
//   if (!output) return output.error();
//   if (::write(output->descriptor(), bytes, count) != count) return failed;  // nothing is left behind
//   auto done = output->commit(true);
#pragma once

#include <string>

#include "tokpack/core/descriptor.h"
#include "tokpack/format/result.h"

namespace tokpack {

class OutputFile {
 public:
  /// Makes the temporary beside `path` and removes those of dead writers of it. `force`: commit() may replace
  /// a file of that name; without it one that is there now is kExists at once.
  static Result<OutputFile> create(const std::string& path, bool force);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// Open for reading and writing, at first empty.
  int descriptor() const noexcept { return file_.number(); }
  /// The target, as it was given.
  const std::string& path() const noexcept { return path_; }

  /// A new nameless file in the same folder, gone when closed.
  Result<Descriptor> open_spool() const;

  /// Gives the temporary its name: fsync (with `sync`), rename, fsync of the folder. Without force a target
  /// that has come into being meanwhile is kExists and stays as it is.
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

/// The stem of all temporaries of a target's name (without its folder); 16 hex digits and ".tmp" follow.
std::string temporary_stem(const std::string& target);

}  // namespace tokpack
