// Any bytes given to verify: no crash; the same findings from a mapping with one thread and from pread with
// three; a refusal at open is the one finding; a file without findings can be read to its last column.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../support/fuzz_file.h"
#include "../support/patched_file.h"
#include "tokpack/core/reader.h"
#include "tokpack/core/verify.h"

namespace {

using namespace tokpack;

std::vector<Finding> findings_of(const std::string& path, ReadMode mode, unsigned threads) {
  std::vector<Finding> out;
  const auto summary =
      verify(path, {.mode = mode, .threads = threads}, [&](const Finding& f) { out.push_back(f); });
  TOKPACK_FUZZ_CHECK(summary.ok() && summary.value().findings == out.size());
  return out;
}

void check_finding(const Finding& finding, std::size_t file_size) {
  TOKPACK_FUZZ_CHECK(errc_name(finding.code) != "unknown" && finding.code < Errc::kIo);
  TOKPACK_FUZZ_CHECK(!finding.section.empty() && !finding.detail.empty());
  TOKPACK_FUZZ_CHECK(finding.offset == Error::kNoOffset || finding.offset <= file_size);
  for (const char c : finding.section + finding.detail) {
    TOKPACK_FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

void check_file(const std::string& bytes) {
  const test::PatchedFile file(bytes);
  const auto mapped = findings_of(file.path(), ReadMode::kAuto, 1);
  const auto read = findings_of(file.path(), ReadMode::kPread, 3);
  TOKPACK_FUZZ_CHECK(mapped.size() == read.size());
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    check_finding(mapped[i], bytes.size());
    TOKPACK_FUZZ_CHECK(mapped[i].code == read[i].code && mapped[i].offset == read[i].offset);
    TOKPACK_FUZZ_CHECK(mapped[i].detail == read[i].detail && mapped[i].pack == read[i].pack);
  }
  auto reader = Reader::open(file.path());
  if (!reader) {
    TOKPACK_FUZZ_CHECK(mapped.size() == 1 && mapped[0].code == reader.error().code);
    return;
  }
  if (!mapped.empty()) return;
  for (std::uint64_t p = 0; p < reader->packs(); ++p) {
    const auto pack = reader->pack(p);
    TOKPACK_FUZZ_CHECK(pack.ok());
    for (std::size_t c = 0; c < reader->columns(); ++c) TOKPACK_FUZZ_CHECK(pack.value().column(c).ok());
  }
  for (std::uint64_t j = 0; j < reader->sequences(); ++j) TOKPACK_FUZZ_CHECK(reader->locate(j).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(size, '\0');
  if (size > 0) std::memcpy(bytes.data(), data, size);
  check_file(bytes);
  check_file(test::sealed(std::move(bytes)));
  return 0;
}
