// verify beside one XXH3 pass over the same mapped bytes, one thread.
//
//   bench_verify [--json OUT] [--packs N] [--threads T] [--rounds R] [--folder F]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "side_by_side.h"
#include "synthetic_file.h"
#include "tokpack/core/reader.h"
#include "tokpack/core/verify.h"
#include "tokpack/format/checksum.h"

using namespace tokpack;
using tokpack::bench::SideBySide;
using tokpack::bench::SyntheticFile;

namespace {
volatile std::uint64_t sink = 0;

void must_be_intact(const std::string& path, ReadMode mode, unsigned threads) {
  const auto summary = verify(path, {.mode = mode, .threads = threads}, [](const Finding& f) {
    std::fprintf(stderr, "%s %s\n", f.section.c_str(), f.detail.c_str());
  });
  if (!summary.ok() || !summary.value().ok()) std::abort();
}
}  // namespace

int main(int argc, char** argv) {
  std::string out, folder = "/dev/shm";
  std::uint64_t packs = 120'000;
  unsigned threads = 2;
  int rounds = 7;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--json") out = argv[i + 1];
    if (key == "--packs") packs = std::strtoull(argv[i + 1], nullptr, 10);
    if (key == "--threads") threads = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    if (key == "--rounds") rounds = std::atoi(argv[i + 1]);
    if (key == "--folder") folder = argv[i + 1];
  }
  const SyntheticFile file({.packs = packs, .folder = folder});
  std::printf("%.2f GB\n", static_cast<double>(file.size()) / 1e9);
  SideBySide run("verify", rounds);
  run.contender("XXH3 of the mapped bytes", [&] {
    // Opened and mapped afresh each time, as verify does: page faults count for both.
    const File opened = File::open(file.path()).value();
    const auto mapping = Mapping::map(opened).value();
    mapping->advise(AccessHint::kSequential, 0, file.size());
    sink = sink + format::xxh3_64(mapping->bytes());
  });
  run.contender("verify, 1 thread", [&] { must_be_intact(file.path(), ReadMode::kMmap, 1); });
  run.contender("verify, --threads", [&] { must_be_intact(file.path(), ReadMode::kMmap, threads); });
  run.contender("verify, pread, 1 thread", [&] { must_be_intact(file.path(), ReadMode::kPread, 1); });
  const auto result = run.measure();
  if (!out.empty()) std::ofstream(out) << result.dump(2) << '\n';
  return 0;
}
