// Damaged and hostile files, exhaustively for small ones: every prefix, every bit. known-faults.md, "Files".
#include "patched_file.h"
#include "reader_fixtures.h"

using namespace tokpack;
using test::build;
using test::BuiltFile;
using test::check_bytes;
using test::PatchedFile;

namespace {

/// One pack of one sequence: the smallest files, so that every bit of them can be tried.
test::FileSpec tiny_spec() {
  return {.packs = {{{.tokens = {1, 2, 3}, .source = 0, .labels = {-100, 2, 3}}}},
          .label_kind = 1,
          .vocab_size = 8};
}

/// Everything that can be asked of a file, in both modes. What it answers does not matter; that it answers
/// does.
void use_everything(const std::string& path) {
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    auto reader = Reader::open(path, {.mode = mode});
    if (!reader) return;
    std::uint64_t sum = 0;
    for (std::uint64_t p = 0; p < reader->packs(); ++p) {
      auto pack = reader->pack(p);
      if (!pack) continue;
      for (std::size_t i = 0; i < pack->tokens().size(); ++i) {
        sum += pack->tokens()[i] + static_cast<std::uint64_t>(pack->stored_label(i));
      }
      for (std::size_t s = 0; s < pack->sequences(); ++s) {
        const auto sequence = pack->sequence(s);
        sum += sequence.source() + sequence.first_token_position() +
               static_cast<std::uint64_t>(sequence.tail_label());
      }
      for (std::size_t c = 0; c < reader->columns(); ++c) {
        auto column = pack->column(c);
        if (!column) continue;
        for (const std::byte b : column->values) sum += static_cast<std::uint64_t>(b);
      }
    }
    for (std::uint64_t j = 0; j <= reader->sequences(); ++j) sum += reader->locate(j).ok() ? 1U : 0U;
    sum += reader->metadata_json().ok() ? 1U : 0U;
    CHECK(sum != 1);  // keeps the loops alive
  }
}

}  // namespace

TEST_CASE("every prefix of a file is refused at open, and verify says so in one finding") {
  const std::string whole = build(tiny_spec()).bytes;
  PatchedFile file(whole);
  for (std::size_t length = whole.size() - 1; length < whole.size(); --length) {  // ends by wrapping below 0
    file.resize(length);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      const auto reader = Reader::open(file.path(), {.mode = mode});
      const bool refused = !reader.ok() && (reader.error().code == Errc::kTooShort ||
                                            reader.error().code == Errc::kNotTokpack ||
                                            reader.error().code == Errc::kFileSize);
      if (!refused) FAIL("a prefix of " << length << " bytes was not refused for its size");
    }
    std::size_t findings = 0;
    const auto summary = verify(file.path(), {}, [&](const Finding&) { ++findings; });
    if (!summary.ok() || findings != 1) FAIL(findings << " findings for a prefix of " << length << " bytes");
  }
}

TEST_CASE("one byte appended is refused") {
  for (const char extra : {'\0', 'x'}) {
    const PatchedFile file(build(test::rich_spec()).bytes + extra);
    CHECK(Reader::open(file.path()).error().code == Errc::kFileSize);
    CHECK(Reader::open(file.path(), {.mode = ReadMode::kPread}).error().code == Errc::kFileSize);
    CHECK(test::check_file(file.path()).names() == std::vector<std::string>{"file_size"});
  }
}

TEST_CASE("every flipped bit of page 0 is refused at open") {
  const std::string bytes = build(test::rich_spec()).bytes;
  PatchedFile file(bytes);
  for (std::size_t bit = 0; bit < 4096 * 8; ++bit) {
    file.put(bit / 8, static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8));
    if (Reader::open(file.path()).ok()) FAIL("bit " << bit << " was not noticed");
    if (bit % 8 == 7) file.put(bit / 8, bytes[bit / 8]);
  }
}

TEST_CASE("every flipped bit of a file, gaps included, is found by verify") {
  const std::string bytes = build(tiny_spec()).bytes;
  REQUIRE(check_bytes(bytes).findings.empty());
  PatchedFile file(bytes);
  for (std::size_t bit = 4096 * 8; bit < bytes.size() * 8; ++bit) {  // page 0: the test above
    file.put(bit / 8, static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8));
    std::size_t findings = 0;
    const auto summary = verify(file.path(), {}, [&](const Finding&) { ++findings; });
    if (!summary.ok() || findings == 0) FAIL("bit " << bit << " was not found");
    if (bit % 8 == 7) file.put(bit / 8, bytes[bit / 8]);
  }
}

TEST_CASE("a flipped bit in any section of a rich file is found by its block, and nothing crashes") {
  for (const auto& spec : {test::rich_spec(), test::explicit_spec()}) {
    const BuiltFile built = build(spec);
    PatchedFile file(built.bytes);
    for (const auto& section : built.sections) {
      CAPTURE(section.name);
      for (std::uint64_t bit = 0; bit < section.length * 8; ++bit) {
        CAPTURE(bit);
        const std::uint64_t at = section.offset + bit / 8;
        file.put(at, static_cast<char>(built.bytes[at] ^ 1 << bit % 8));
        use_everything(file.path());
        const auto found = test::check_file(file.path());
        file.put(at, built.bytes[at]);
        if (section.name == "checksums") {
          REQUIRE(found.has(Errc::kSectionHash));
          continue;
        }
        REQUIRE(found.has(Errc::kBlockChecksum));
        const Finding& block = found.first(Errc::kBlockChecksum);
        REQUIRE((block.section == section.name && block.block == 0 && block.offset == section.offset));
      }
    }
  }
}

TEST_CASE("a changed checksum is told apart from changed bytes") {
  auto file = build(test::rich_spec());
  file.put<std::uint64_t>(file.section("checksums").offset, 12345);
  const auto found = check_bytes(file.bytes);
  CHECK(found.names() == std::vector<std::string>{"block_checksum", "section_hash", "section_hash"});
  CHECK(found.first(Errc::kBlockChecksum).section == "tokens");
  CHECK(found.first(Errc::kBlockChecksum).detail.find("stored checksum") != std::string::npos);
}

TEST_CASE("a gap byte is found at its offset") {
  auto file = build(test::rich_spec());
  const std::uint64_t at = file.section("tokens").offset + file.section("tokens").length;
  file.put<std::uint8_t>(at + 17, 1);
  const auto found = check_bytes(file.bytes);
  REQUIRE(found.names() == std::vector<std::string>{"gap_not_zero"});
  CHECK(found.findings[0].section == "gap");
  CHECK(found.findings[0].offset == at + 17);
}

TEST_CASE("a wrong boundary is refused at access and found by verify, with checksums that fit") {
  struct Lie {
    const char* section;
    std::uint64_t row;
    std::uint64_t value;
    Errc code;
    std::uint64_t pack;  ///< refused
  };
  const std::uint64_t huge = ~std::uint64_t{0}, wraps = std::uint64_t{1} << 63;
  const std::vector<Lie> lies = {
      {"pack_token_offsets", 0, 1, Errc::kPackTokenOffsets, 0},   // not 0 first
      {"pack_token_offsets", 1, 0, Errc::kPackTokenOffsets, 0},   // an empty pack
      {"pack_token_offsets", 1, 14, Errc::kPackTokenOffsets, 0},  // past the capacity; then decreasing
      {"pack_token_offsets", 1, 9, Errc::kPackTokenOffsets, 0},   // past the capacity of 8
      {"pack_token_offsets", 2, 3, Errc::kPackTokenOffsets, 1},   // decreasing
      {"pack_token_offsets", 3, 20, Errc::kPackTokenOffsets, 2},  // does not end at the token count
      {"pack_token_offsets", 3, 22, Errc::kPackTokenOffsets, 2},  // past the token count
      {"pack_token_offsets", 2, huge, Errc::kPackTokenOffsets, 1},
      {"pack_token_offsets", 2, wraps, Errc::kPackTokenOffsets, 2},
      {"pack_sequence_offsets", 0, 1, Errc::kPackSequenceOffsets, 0},
      {"pack_sequence_offsets", 1, 0, Errc::kPackSequenceOffsets, 0},  // a pack with no sequence
      {"pack_sequence_offsets", 2, 1, Errc::kPackSequenceOffsets, 1},
      {"pack_sequence_offsets", 3, 5, Errc::kPackSequenceOffsets, 2},
      {"pack_sequence_offsets", 3, 7, Errc::kPackSequenceOffsets, 2},
      {"pack_sequence_offsets", 1, huge, Errc::kPackSequenceOffsets, 0},
      {"pack_sequence_offsets", 2, wraps, Errc::kPackSequenceOffsets, 2},
  };
  const std::vector<Lie> boundary_lies = {
      {"cu_seqlens", 0, 1, Errc::kCuSeqlens, 0},           // 0 5 7 | 0 3 4 6 | 0 8
      {"cu_seqlens", 1, 0, Errc::kCuSeqlens, 0},           // an empty sequence
      {"cu_seqlens", 1, 7, Errc::kCuSeqlens, 0},           // the last one empty
      {"cu_seqlens", 2, 8, Errc::kCuSeqlens, 0},           // past the pack
      {"cu_seqlens", 5, 2, Errc::kCuSeqlens, 1},           // decreasing
      {"cu_seqlens", 4, 0x80000000, Errc::kCuSeqlens, 1},  // negative
      {"cu_seqlens", 8, 0x7fffffff, Errc::kCuSeqlens, 2},
  };
  const test::TempDir folder;
  const std::string path = folder.file("lie.tpk");
  const auto try_lie = [&](const BuiltFile& file, const Lie& lie) {
    CAPTURE(lie.section);
    CAPTURE(lie.row);
    CAPTURE(lie.value);
    test::write_file(path, file.bytes);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      auto reader = Reader::open(path, {.mode = mode});
      REQUIRE(reader.ok());
      const auto pack = reader->pack(lie.pack);
      REQUIRE_FALSE(pack.ok());
      CHECK(pack.error().code == lie.code);
      CHECK(pack.error().offset != Error::kNoOffset);
      CHECK(pack.error().detail.find("lie.tpk") != std::string::npos);
      const auto found = test::check_file(path, mode);
      CHECK_FALSE(found.has(Errc::kBlockChecksum));
      REQUIRE(found.has(lie.code));
      CHECK(found.first(lie.code).section == lie.section);
    }
    use_everything(path);
  };
  for (const Lie& lie : lies) {
    auto file = build(test::rich_spec());
    file.put(file.section(lie.section).offset + lie.row * 8, lie.value);
    file.reseal();
    try_lie(file, lie);
  }
  for (const Lie& lie : boundary_lies) {
    auto file = build(test::rich_spec());
    file.put(file.section(lie.section).offset + lie.row * 4, static_cast<std::uint32_t>(lie.value));
    file.reseal();
    try_lie(file, lie);
  }
}

TEST_CASE("both offset arrays of one pack are reported, not the first alone") {
  auto file = build(test::rich_spec());
  file.put<std::uint64_t>(file.section("pack_token_offsets").offset + 24, 20);
  file.put<std::uint64_t>(file.section("pack_sequence_offsets").offset + 24, 5);
  file.reseal();
  const auto found = check_bytes(file.bytes);
  CHECK(found.names() == std::vector<std::string>{"pack_token_offsets", "pack_sequence_offsets"});
}

TEST_CASE("the only offset of a file without packs is 0") {
  auto file = build(test::FileSpec{});
  file.put<std::uint64_t>(file.section("pack_token_offsets").offset, 1);
  file.reseal();
  CHECK(check_bytes(file.bytes).names() == std::vector<std::string>{"pack_token_offsets"});
}

TEST_CASE("a search for a sequence over offsets that do not ascend ends in an error") {
  test::FileSpec spec;
  for (std::uint32_t p = 0; p < 64; ++p) spec.packs.push_back({{.tokens = {1}, .source = p}});
  auto file = build(spec);
  for (std::uint64_t row = 1; row < 64; ++row) {
    file.put<std::uint64_t>(file.section("pack_sequence_offsets").offset + row * 8, 64 - row);
  }
  file.reseal();
  auto reader = Reader::open(PatchedFile(file.bytes).path());
  REQUIRE(reader.ok());
  std::size_t refused = 0;
  for (std::uint64_t j = 0; j < 64; ++j) {
    const auto where = reader->locate(j);
    if (where.ok()) continue;
    CHECK(where.error().code == Errc::kPackSequenceOffsets);
    ++refused;
  }
  CHECK(refused > 32);
}

TEST_CASE("ragged offsets that lie are refused with the column of that pack alone") {
  auto file = build(test::rich_spec());  // spans: 0 1 | 1 3 3 | 3 4
  file.put<std::uint64_t>(file.section("spans").offset + 24, std::uint64_t{1} << 62);
  file.reseal();
  const PatchedFile patched(file.bytes);
  const std::string& path = patched.path();
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    auto reader = Reader::open(path, {.mode = mode});
    REQUIRE(reader.ok());
    const auto column = reader->pack(1).value().column(4);
    REQUIRE_FALSE(column.ok());
    CHECK(column.error().code == Errc::kRaggedOffsets);
    CHECK(reader->pack(0).value().column(4).ok());
    CHECK(reader->pack(2).value().column(4).ok());
  }
}

TEST_CASE("a damaged file still shows the rest") {
  auto file = build(test::rich_spec());
  file.put<std::int32_t>(file.section("cu_seqlens").offset, 77);
  auto reader = Reader::open(PatchedFile(file.bytes).path());
  REQUIRE(reader.ok());
  CHECK_FALSE(reader->pack(0).ok());
  CHECK(reader->pack(1).ok());
  CHECK(reader->pack(2).ok());
}

TEST_CASE("counts of page 0 that lie are refused without an allocation of their size") {
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    for (const std::uint64_t field : {40U, 48U, 56U}) {
      auto file = build(test::rich_spec());
      file.put(field, count);
      file.seal_page0();
      const auto found = check_bytes(file.bytes);
      CAPTURE(count);
      CAPTURE(field);
      CHECK(found.findings.size() == 1);
      CHECK(found.findings[0].section == "page 0");
    }
  }
}
