// The parser over every vector of spec/vectors, and over damaged copies of the valid ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "tokpack/format/checksum.h"
#include "tokpack/format/parse.h"
#include "vector_file.h"

using namespace tokpack;
using test::read_vectors;
using test::VectorFile;

namespace {

const std::filesystem::path kVectors = std::filesystem::path(TOKPACK_SOURCE_DIR) / "spec" / "vectors";

std::string parsed(format::Bytes bytes) {
  const auto layout = format::parse_page0(bytes, bytes.size());
  return layout ? "ok" : std::string(errc_name(layout.error().code));
}

void store(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

constexpr std::uint64_t kExtremes[] = {
    0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 61, 0xfffffffffffff000};

/// Whether both describe the same contents: what the digest does not cover may differ.
bool same_data(const format::FileLayout& a, const format::FileLayout& b) {
  const auto counts = [](const format::Header& h) {
    return std::array<std::uint64_t, 5>{h.packs, h.sequences, h.tokens, h.capacity, h.alignment};
  };
  if (counts(a.header) != counts(b.header) || a.sections.size() != b.sections.size()) return false;
  for (std::size_t i = 0; i < a.sections.size(); ++i) {
    const auto place = [i](const format::FileLayout& layout) {
      const format::SectionEntry& e = layout.sections[i];
      return std::array<std::uint64_t, 6>{e.kind, e.element_type, e.scope, e.width, e.offset, e.length};
    };
    if (place(a) != place(b)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("valid vectors parse") {
  const auto vectors = read_vectors(kVectors / "valid");
  CHECK(vectors.size() >= 14);
  for (const VectorFile& vector : vectors) {
    const auto layout = format::parse_page0(vector.bytes(), vector.data.size());
    CHECK_MESSAGE(layout.ok(), vector.name, ": ", layout.ok() ? "" : layout.error().detail);
  }
}

TEST_CASE("a parser that is given page 0 alone says the same") {
  for (const char* folder : {"valid", "invalid"}) {
    for (const VectorFile& vector : read_vectors(kVectors / folder)) {
      const std::size_t first = std::min<std::size_t>(vector.data.size(), format::kPageBytes);
      const auto bytes = format::page0_bytes(vector.bytes().first(first), vector.data.size());
      if (!bytes) {
        CHECK_MESSAGE(errc_name(bytes.error().code) == vector.open, vector.name);
        continue;
      }
      const auto layout = format::parse_page0(vector.bytes().first(*bytes), vector.data.size());
      CHECK_MESSAGE((layout ? "ok" : errc_name(layout.error().code)) == vector.open, vector.name);
    }
  }
}

TEST_CASE("invalid vectors are refused with the error they name, and a reason") {
  for (const VectorFile& vector : read_vectors(kVectors / "invalid")) {
    const auto layout = format::parse_page0(vector.bytes(), vector.data.size());
    CHECK_MESSAGE(parsed(vector.bytes()) == vector.open, vector.name, ": ",
                  layout.ok() ? "" : layout.error().detail);
    if (!layout) CHECK_MESSAGE(layout.error().detail.size() > 20, vector.name);
  }
}

TEST_CASE("every error of page 0 has an invalid vector") {
  std::set<std::string> given;
  for (const VectorFile& vector : read_vectors(kVectors / "invalid")) given.insert(vector.open);
  for (std::uint16_t n = 1; n < 50; ++n) {
    const auto name = errc_name(static_cast<Errc>(n));
    if (name != "unknown") CHECK_MESSAGE(given.count(std::string(name)) == 1, name);
  }
}

TEST_CASE("every flipped bit of page 0 is refused") {
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    if (vector.name != "spec_example" && vector.name != "split") continue;
    std::vector<std::byte> bytes = vector.data;
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < format::kPageBytes; ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= static_cast<std::byte>(1 << bit);
        if (parsed(bytes) == "ok") ++accepted;
        bytes[i] ^= static_cast<std::byte>(1 << bit);
      }
    }
    CHECK_MESSAGE(accepted == 0, vector.name);
  }
}

TEST_CASE("every prefix of a file is refused") {
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    if (vector.data.size() > 100000) continue;
    std::size_t accepted = 0;
    for (std::size_t size = 0; size < vector.data.size(); ++size) {
      if (parsed(vector.bytes().first(size)) == "ok") ++accepted;
    }
    CHECK_MESSAGE(accepted == 0, vector.name);
  }
}

TEST_CASE("a sealed page 0 with any number set to an extreme is refused or means the same data") {
  for (const VectorFile& vector : read_vectors(kVectors / "valid")) {
    if (vector.name != "columns_ragged" && vector.name != "unknown_section") continue;
    const auto before = format::parse_page0(vector.bytes(), vector.data.size());
    REQUIRE(before.ok());
    std::vector<std::byte> bytes = vector.data;
    std::size_t refused = 0;
    std::size_t changed = 0;
    for (std::size_t at = 8; at + 8 <= 256 + 64 * before.value().sections.size(); at += 4) {
      for (const std::uint64_t extreme : kExtremes) {
        const auto saved = format::load<std::uint64_t>(bytes, at);
        store(bytes, at, extreme);
        store(bytes, format::kPageBytes - 8, format::xxh3_64(format::Bytes(bytes).first(4088)));
        const auto after = format::parse_page0(bytes, bytes.size());
        if (!after) {
          ++refused;
        } else if (!same_data(*before, *after)) {
          ++changed;
        }
        store(bytes, at, saved);
      }
    }
    CHECK_MESSAGE(changed == 0, vector.name);
    CHECK_MESSAGE(refused > 1000, vector.name);
  }
}
