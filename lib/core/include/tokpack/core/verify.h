// Checks every byte of a file and reports everything that is wrong with it, not the first thing only.
//
// Checks: page 0; every block checksum and section hash; every gap byte; all boundaries; token and label
// ranges; loss-bit padding; targets; header extremes; sources and positions; groups; metadata and account.
//
// A file that cannot be read at all (kIo, kNotRegularFile) is an error; whatever can be read gives a report,
// refusal at open included. Memory: a few MiB; about 100 MiB where metadata is as large as it may be; bitmaps
// of at most 4 bytes for each sequence; and, in rounds of 64 MiB or a sixteenth of the file, 24 bytes for
// each sequence of a sample that stands in several. All sequences of one sample take one round.
//
// Threads: pure but for reading; uses `threads` of its own. In mmap mode a file that shrinks meanwhile raises
// SIGBUS (see Mapping); in pread mode that is kFileChanged.
//
//   auto summary = verify("train.tpk", {.threads = 4}, [](const Finding& f) { use(f.section, f.detail); });
//   if (!summary) return summary.error();  // it could not be read
//   const bool sound = summary->ok();
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tokpack/core/reader.h"

namespace tokpack {

struct Finding {
  Errc code{};
  std::string section = {};                 ///< name, "page 0" or "gap"
  std::optional<std::uint64_t> block = {};  ///< 1 MiB block within the section
  std::optional<std::uint64_t> pack = {};
  std::uint64_t offset = Error::kNoOffset;  ///< byte offset in the file
  std::string detail = {};
};

struct VerifyOptions {
  ReadMode mode = ReadMode::kAuto;
  unsigned threads = 1;
};

struct VerifySummary {
  std::uint64_t findings = 0;
  std::uint64_t bytes = 0;
  bool ok() const noexcept { return findings == 0; }
};

/// Calls `report` once for each finding, from the calling thread, in an order that does not depend on
/// `threads`: gaps, then each section's checksums and value ranges, then packs, sources, columns and
/// metadata. Values out of range are told once for each pack and block.
Result<VerifySummary> verify(const std::string& path, const VerifyOptions& options,
                             const std::function<void(const Finding&)>& report);

}  // namespace tokpack
