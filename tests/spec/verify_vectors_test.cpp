// verify() over every vector of spec/vectors: nothing in valid ones; in invalid ones at least what they name,
// the same for every mode and number of threads.
#include <doctest/doctest.h>

#include <set>

#include "temp_dir.h"
#include "tokpack/core/verify.h"
#include "vector_file.h"

using namespace tokpack;
using test::read_vectors;
using test::TempDir;
using test::VectorFile;

namespace {

const std::filesystem::path kVectors = std::filesystem::path(TOKPACK_SOURCE_DIR) / "spec" / "vectors";

/// The names of the findings, in order.
std::vector<std::string> found(const std::string& path, const VerifyOptions& options) {
  std::vector<std::string> names;
  const auto summary = verify(path, options, [&](const Finding& finding) {
    names.emplace_back(errc_name(finding.code));
    CHECK(finding.detail.size() > 10);
  });
  REQUIRE(summary.ok());
  CHECK(summary.value().findings == names.size());
  return names;
}

std::string written(const TempDir& folder, const VectorFile& vector) {
  const std::string path = folder.file("file.tpk");
  test::write_file(
      path, {static_cast<const char*>(static_cast<const void*>(vector.data.data())), vector.data.size()});
  return path;
}

}  // namespace

TEST_CASE("verify finds nothing in valid vectors") {
  const TempDir folder;
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    INFO(vector.name);
    const std::string path = written(folder, vector);
    CHECK(found(path, {}) == std::vector<std::string>{});
    CHECK(found(path, {.mode = ReadMode::kPread, .threads = 3}) == std::vector<std::string>{});
  }
}

TEST_CASE("verify finds in invalid vectors what they name") {
  const TempDir folder;
  for (const VectorFile& vector : read_vectors(kVectors / "invalid")) {
    INFO(vector.name);
    const std::string path = written(folder, vector);
    const auto names = found(path, {});
    const std::set<std::string> distinct(names.begin(), names.end());
    for (const std::string& expected : vector.verify) CHECK_MESSAGE(distinct.count(expected) == 1, expected);
    if (vector.open != "ok") CHECK(names == std::vector<std::string>{vector.open});
    CHECK(found(path, {.mode = ReadMode::kPread, .threads = 3}) == names);
  }
}
