// The reader over every vector of spec/vectors, mapped and with pread: packs, their columns and refusals,
// against the dumps that the vectors hold.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "temp_dir.h"
#include "tokpack/core/reader.h"
#include "vector_file.h"

using namespace tokpack;
using nlohmann::json;
using test::read_vectors;
using test::TempDir;
using test::VectorFile;

namespace {

const std::filesystem::path kVectors = std::filesystem::path(TOKPACK_SOURCE_DIR) / "spec" / "vectors";

std::string written(const TempDir& folder, const VectorFile& vector) {
  const std::string path = folder.file(vector.name + ".tpk");
  test::write_file(
      path, {static_cast<const char*>(static_cast<const void*>(vector.data.data())), vector.data.size()});
  return path;
}

/// "ok", or the error that asking for the pack and all its columns gives.
std::string asked(const Reader& reader, std::uint64_t p) {
  const auto pack = reader.pack(p);
  if (!pack) return std::string(errc_name(pack.error().code));
  for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
    const auto& section = reader.layout().sections[reader.layout().columns[c].section];
    if (static_cast<Scope>(section.scope) == Scope::kFile) continue;
    const auto column = pack.value().column(c);
    if (!column) return std::string(errc_name(column.error().code));
  }
  return "ok";
}

template <typename Span>
std::vector<std::int64_t> numbers(const Span& span) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < span.size(); ++i) out.push_back(static_cast<std::int64_t>(span[i]));
  return out;
}

void check_pack(const PackView& pack, const json& expected, std::int32_t ignore_index) {
  CHECK(numbers(pack.tokens()) == expected["tokens"].get<std::vector<std::int64_t>>());
  CHECK(numbers(pack.cu_seqlens()) == expected["cu_seqlens"].get<std::vector<std::int64_t>>());
  CHECK(numbers(pack.sources()) == expected["sources"].get<std::vector<std::int64_t>>());
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < pack.tokens().size(); ++i) labels.push_back(pack.stored_label(i));
  CHECK(labels == expected["stored_labels"].get<std::vector<std::int64_t>>());
  auto tails = numbers(pack.tail_labels());
  if (tails.empty()) tails.assign(pack.sequences(), ignore_index);
  CHECK(tails == expected["tail_labels"].get<std::vector<std::int64_t>>());
  auto positions = numbers(pack.first_token_positions());
  if (positions.empty()) positions.assign(pack.sequences(), 0);
  CHECK(positions == expected["first_token_positions"].get<std::vector<std::int64_t>>());
}

}  // namespace

TEST_CASE("packs of valid vectors hold what their dumps say, mapped and with pread") {
  const TempDir folder;
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    INFO(vector.name);
    const std::string path = written(folder, vector);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      const auto reader = Reader::open(path, {.mode = mode});
      REQUIRE(reader.ok());
      CHECK(reader.value().mode() == mode);
      for (const auto& [p, text] : vector.packs) {
        const auto pack = reader.value().pack(p);
        REQUIRE(pack.ok());
        check_pack(pack.value(), json::parse(text), reader.value().header().ignore_index);
        CHECK(asked(reader.value(), p) == "ok");
      }
    }
  }
}

TEST_CASE("packs with wrong boundaries are refused with the error that the vector names, and only those") {
  const TempDir folder;
  for (const VectorFile& vector : read_vectors(kVectors / "invalid")) {
    INFO(vector.name);
    const std::string path = written(folder, vector);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      const auto reader = Reader::open(path, {.mode = mode});
      CHECK((reader ? "ok" : errc_name(reader.error().code)) == vector.open);
      if (!reader) continue;
      for (std::uint64_t p = 0; p < reader.value().packs(); ++p) {
        const auto expected = vector.pack_errors.find(p);
        CHECK(asked(reader.value(), p) == (expected == vector.pack_errors.end() ? "ok" : expected->second));
      }
    }
  }
}

TEST_CASE("what is not there is refused") {
  const TempDir folder;
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    INFO(vector.name);
    const auto reader = Reader::open(written(folder, vector));
    REQUIRE(reader.ok());
    const Reader& file = reader.value();
    for (const std::uint64_t p : {file.packs(), file.packs() + 1, ~std::uint64_t{0}}) {
      CHECK(asked(file, p) == "pack_range");
    }
    for (const std::uint64_t s : {file.sequences(), ~std::uint64_t{0}}) {
      const auto place = file.locate(s);
      REQUIRE(!place.ok());
      CHECK(place.error().code == Errc::kSequenceRange);
    }
    if (file.packs() == 0) continue;
    const auto pack = file.pack(0);
    REQUIRE(pack.ok());
    const auto column = pack.value().column(file.layout().columns.size());
    REQUIRE(!column.ok());
    CHECK(column.error().code == Errc::kColumnRange);
  }
}
