// Checksums: known values (printed by xxhsum 0.8.1 -H3 and -H2), pieces against one-shot, every instruction
// set.
#include "tokpack/format/checksum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokpack::format;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Bytes 0, 1, .. 250, 0, 1, ..: a period that is no power of two.
std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(static_cast<unsigned char>(i % 251));
  return text;
}

struct Known {
  std::size_t size;
  std::uint64_t xxh3_64;
  const char* xxh3_128;
};
// python3 -c 'import sys; sys.stdout.buffer.write(bytes(i % 251 for i in range(SIZE)))' > p; xxhsum -H3 p
constexpr Known kKnown[] = {
    {0, 0x2d06800538d394c2, "99aa06d3014798d86001c324468d497f"},
    {1, 0xc44bdff4074eecdb, "a6cd5e9392000f6ac44bdff4074eecdb"},
    {3, 0x5f4299fc161c9cbb, "e3b55f57945a17cf5f4299fc161c9cbb"},
    {4, 0x60dab036a58211f2, "eb70bf5fc779e9e6a6111d53e80a3db5"},
    {8, 0x3a1c2d7c85af88f8, "e1e4432a62217fe4cfd50c61c8bb98c1"},
    {9, 0xe9612598145bb9dc, "16c769d83e4aebce907931979dca3746"},
    {17, 0x9ef341a99de37328, "685bc458b37d057fc06e233df7729217"},
    {129, 0xec7642b431ba3e5a, "dd5e74ac6b45f54ebc30b63382b09a3b"},
    {241, 0x02e8cd95421c6d02, "1da1cb61bcb8a2a102e8cd95421c6d02"},
    {1024, 0xe5d78bafa45b2aa5, "d0ac1f7b93bf57b9e5d78bafa45b2aa5"},
    {1025, 0xe95c42288f28186e, "2882ebca04ec915ce95c42288f28186e"},
    {1048575, 0x895179b331362d01, "10fb43d7606e20e4895179b331362d01"},
    {1048576, 0x6e0d7ac36b8c10ff, "53738d98098cabba6e0d7ac36b8c10ff"},
    {1048577, 0x47a84c196fd973df, "3db0e7620b0d635947a84c196fd973df"},
};

TEST_CASE("known values of XXH3-64 and XXH3-128") {
  for (const Known& known : kKnown) {
    CAPTURE(known.size);
    const std::string text = pattern(known.size);
    CHECK(xxh3_64(bytes_of(text)) == known.xxh3_64);
    CHECK(to_hex(xxh3_128(bytes_of(text))) == known.xxh3_128);
  }
}

TEST_CASE("every instruction set gives the known values, at any alignment") {
  const auto variants = hash_variants();
  REQUIRE(!variants.empty());
  CHECK(std::string(variants.front().name) == "baseline");
  for (const HashVariant& variant : variants) {
    MESSAGE("instruction set: ", std::string(variant.name));
    for (const Known& known : kKnown) {
      for (const std::size_t shift : {0u, 1u, 7u}) {
        CAPTURE(known.size);
        const std::string text = std::string(shift, 'x') + pattern(known.size);
        Hash128 hash;
        variant.hash128(text.data() + shift, known.size, &hash.low, &hash.high);
        CHECK(variant.hash64(text.data() + shift, known.size) == known.xxh3_64);
        CHECK(to_hex(hash) == known.xxh3_128);
      }
    }
  }
}

TEST_CASE("hex has the high half first and keeps leading zeros") {
  CHECK(to_hex({.low = 0x123, .high = 0xfedcba9876543210}) == "fedcba98765432100000000000000123");
  CHECK(to_hex({}) == "00000000000000000000000000000000");
}

TEST_CASE("blocks are 1 MiB from the start of the section, the last one shorter") {
  const std::string text = pattern(3000000);
  const auto blocks = block_checksums(bytes_of(text));
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[0] == 0x6e0d7ac36b8c10ff);  // the known value of 1048576 bytes
  CHECK(blocks[1] == xxh3_64(bytes_of(text.substr(1048576, 1048576))));
  CHECK(blocks[2] == xxh3_64(bytes_of(text.substr(2097152))));
  CHECK(block_checksums({}).empty());
  CHECK(block_checksums(bytes_of(text).first(1048576)).size() == 1);
  CHECK(block_checksums(bytes_of(text).first(1048577)).size() == 2);
}

TEST_CASE("a section's hash is the hash of its block checksums as the file has them") {
  CHECK(to_hex(section_hash({})) == "99aa06d3014798d86001c324468d497f");
  const std::vector<std::uint64_t> blocks = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x10};
  std::string text = pattern(17);
  text.resize(24, '\0');
  CHECK(section_hash(blocks) == xxh3_128(bytes_of(text)));
}

std::vector<std::uint64_t> in_pieces(Bytes bytes, const std::vector<std::size_t>& sizes) {
  BlockHasher hasher;
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const std::size_t n = std::min(bytes.size(), sizes[i % sizes.size()]);
    hasher.update(bytes.first(n));
    bytes = bytes.subspan(n);
  }
  return std::move(hasher).finish();
}

TEST_CASE("pieces of any size give the block checksums of the whole") {
  const std::string text = pattern(3 * 1048576 + 12345);
  const Bytes bytes = bytes_of(text);
  const auto whole = block_checksums(bytes);
  REQUIRE(whole.size() == 4);
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{bytes.size()},
                                             {4096},
                                             {1000003},
                                             {1048575},
                                             {1048576},
                                             {1048577},
                                             {3, 1048576},
                                             {0, 2, 2097153},
                                             {255, 1, 256, 257, 0, 64, 100000},
                                             {1048576, 7}}) {
    CAPTURE(sizes[0]);
    CHECK(in_pieces(bytes, sizes) == whole);
  }
  CHECK(in_pieces(bytes.first(1100000), {1}) == block_checksums(bytes.first(1100000)));
}

TEST_CASE("random pieces give the block checksums of the whole, at every length near a block") {
  std::mt19937_64 random(7);
  const std::string text = pattern(2 * 1048576 + 4);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1048575}, std::size_t{1048576}, std::size_t{1048577},
        std::size_t{2097151}, std::size_t{2097152}, text.size()}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::size_t> sizes(16);
      for (std::size_t& s : sizes) s = random() % (std::size_t{1} << (1 + random() % 22)) + 1;
      CHECK(in_pieces(bytes_of(text).first(size), sizes) == block_checksums(bytes_of(text).first(size)));
    }
  }
}

TEST_CASE("a block hasher can be moved in the middle of a block") {
  const std::string text = pattern(1500000);
  BlockHasher first;
  first.update(bytes_of(text).first(700001));
  BlockHasher second = std::move(first);
  second.update(bytes_of(text).subspan(700001, 500000));
  BlockHasher third;
  third = std::move(second);
  third.update(bytes_of(text).subspan(1200001));
  CHECK(std::move(third).finish() == block_checksums(bytes_of(text)));
}

Header digest_header() {
  Header h{};
  h.version_minor = 1;
  h.packs = 3;
  h.sequences = 5;
  h.tokens = 70000;
  h.samples = 9;
  h.capacity = 4096;
  h.alignment = 8;
  h.token_type = 2;
  h.label_kind = 1;
  h.ignore_index = -100;
  return h;
}

std::vector<SectionEntry> digest_entries() {
  SectionEntry tokens{};
  tokens.kind = 1;
  tokens.element_type = 2;
  tokens.offset = 4096;
  tokens.length = 140000;
  tokens.hash = {1, 2};
  SectionEntry metadata = tokens;
  metadata.kind = 14;
  SectionEntry column = tokens;
  column.kind = 11;
  SectionEntry checksums = tokens;
  checksums.kind = 15;
  return {tokens, metadata, column, checksums};
}

TEST_CASE("the content digest is the hash of 42 header bytes and the entries without their offsets") {
  const Header h = digest_header();
  std::string text(42, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(text.data() + at, &value, sizeof(value)); };
  put(0, std::uint16_t{0});
  put(2, std::uint16_t{1});
  put(4, std::uint64_t{3});
  put(12, std::uint64_t{5});
  put(20, std::uint64_t{70000});
  put(28, std::uint32_t{4096});
  put(32, std::uint32_t{8});
  put(36, std::uint8_t{2});
  put(37, std::uint8_t{1});
  put(38, std::int32_t{-100});
  CHECK(content_digest(h, {}) == xxh3_128(bytes_of(text)));

  const auto entries = digest_entries();
  for (const std::size_t i : {0u, 2u}) {
    std::string entry(64, '\0');
    std::memcpy(entry.data(), &entries[i], 64);
    std::fill(entry.begin() + 8, entry.begin() + 16, '\0');
    text += entry;
  }
  CHECK(content_digest(h, entries) == xxh3_128(bytes_of(text)));
}

TEST_CASE("what is not content does not change the digest; what is does") {
  const Hash128 digest = content_digest(digest_header(), digest_entries());
  Header same = digest_header();
  same.samples = 1;
  same.pad_id = 7;
  same.vocab_size = 50000;
  same.file_size = 1;
  auto moved = digest_entries();
  moved[0].offset = 8192;
  moved[1].hash = {9, 9};
  moved[3].length = 8;
  CHECK(content_digest(same, moved) == digest);

  Header other = digest_header();
  other.ignore_index = -1;
  CHECK_FALSE(content_digest(other, digest_entries()) == digest);
  auto changed = digest_entries();
  changed[2].hash.high ^= 1;
  CHECK_FALSE(content_digest(digest_header(), changed) == digest);
}

}  // namespace
