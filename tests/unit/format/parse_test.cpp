// The parser on whole files: what a valid page 0 becomes, and that no prefix and no flipped bit passes.
#include "tokpack/format/parse.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "page_builder.h"
#include "parse_invariants.h"
#include "temp_dir.h"

namespace {

using namespace tokpack::test;
using tokpack::Errc;
using tokpack::Result;

Result<FileLayout> parse(std::string_view bytes) { return parse_page0(bytes_of(bytes), bytes.size()); }

TEST_CASE("a valid page 0 becomes its header, sections and places") {
  const std::string bytes = small_image().build();
  const auto layout = parse(bytes);
  REQUIRE(layout.ok());
  CHECK(layout->header.packs == 2);
  CHECK(layout->header.tokens == 9);
  CHECK(layout->header.file_size == bytes.size());
  REQUIRE(layout->sections.size() == 9);
  const SectionEntry* cu_seqlens = layout->find(SectionKind::kCuSeqlens);
  REQUIRE(cu_seqlens != nullptr);
  CHECK(cu_seqlens->name_view() == "cu_seqlens");
  CHECK(cu_seqlens->offset == 4 * 4096);
  CHECK(cu_seqlens->length == 20);
  CHECK(layout->find(SectionKind::kLabels) == nullptr);
  CHECK(layout->find(SectionKind::kColumn) == nullptr);
  CHECK(layout->columns.empty());
  CHECK(broken_invariant(*layout, bytes.size()) == "");
}

TEST_CASE("columns are listed in file order, ragged ones by their values") {
  Image image = small_image();
  using enum SectionKind;
  image.sections.push_back(
      section(kColumn, "weight", ElementType::kF32, Scope::kSequence, std::string(12, 0)));
  image.sections.push_back(
      section(kColumnOffsets, "notes", ElementType::kU64, Scope::kPack, std::string(24, 0)));
  image.sections.push_back(
      section(kColumnValues, "notes", ElementType::kF16, Scope::kPack, std::string(12, 0), 3));
  image.sections.push_back(section(99, "other", ElementType::kU8, Scope::kToken, "x"));
  image.sections.push_back(section(kColumn, "table", ElementType::kI64, Scope::kFile, std::string(16, 0), 2));
  const std::string bytes = image.build();
  const auto layout = parse(bytes);
  REQUIRE(layout.ok());
  REQUIRE(layout->columns.size() == 3);
  CHECK(layout->columns[0].section == 8);
  CHECK_FALSE(layout->columns[0].offsets.has_value());
  CHECK(layout->columns[1].section == 10);
  CHECK(layout->columns[1].offsets == 9);
  CHECK(layout->columns[2].section == 12);
  CHECK(layout->find_column("notes") == &layout->columns[1]);
  CHECK(layout->find_column("other") == nullptr);
  CHECK(layout->find_column("tokens") == nullptr);
  CHECK(broken_invariant(*layout, bytes.size()) == "");
}

TEST_CASE("a file without packs is valid") {
  const auto layout = parse(empty_image().build());
  REQUIRE(layout.ok());
  CHECK(layout->header.packs == 0);
  CHECK(layout->find(SectionKind::kTokens)->length == 0);
  CHECK(layout->find(SectionKind::kPackTokenOffsets)->length == 8);
}

TEST_CASE("more than 59 sections take a larger page 0") {
  for (const std::size_t extra : {50u, 51u, 500u}) {  // 9 sections besides
    Image image = small_image();
    for (std::size_t i = 0; i < extra; ++i) {
      image.sections.push_back(
          section(SectionKind::kColumn, "c" + std::to_string(i), ElementType::kU8, Scope::kSequence, "abc"));
    }
    const std::string bytes = image.build();
    const auto layout = parse(bytes);
    REQUIRE(layout.ok());
    CHECK(layout->columns.size() == extra);
    const std::size_t page0 = extra == 50 ? 4096 : extra == 51 ? 8192 : 36864;
    CHECK(layout->header.header_bytes == page0);
    CHECK(*page0_bytes(bytes_of(bytes).first(4096), bytes.size()) == page0);
    CHECK(parse_page0(bytes_of(bytes).first(page0), bytes.size()).ok());
    CHECK(parse_page0(bytes_of(bytes).first(page0 - 1), bytes.size()).ok() == false);
  }
}

TEST_CASE("a large file needs nothing but its page 0") {
  // 2^40 tokens in 2^28 packs of 4096, one sequence each; the sections are never touched.
  Image image = small_image();
  Header& h = image.header;
  h.packs = h.sequences = h.samples = std::uint64_t{1} << 28;
  h.tokens = std::uint64_t{1} << 40;
  h.capacity = 4096;
  h.label_kind = 0;
  h.longest_sequence = 4096;
  h.most_sequences_in_pack = 1;
  h.targets = 0;
  image.sections.erase(image.sections.begin() + 4);
  std::string bytes = image.build();
  const std::uint64_t lengths[] = {
      h.tokens * 2, (h.packs + 1) * 8, (h.packs + 1) * 8, h.packs * 8, h.packs * 4, h.packs * 4, 2};
  std::uint64_t end = 4096;
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i <= std::size(lengths); ++i) {
    const std::uint64_t length = i < std::size(lengths) ? lengths[i] : 8 * blocks;
    patch(bytes, entry_field(i, 8), (end + 4095) / 4096 * 4096);
    patch(bytes, entry_field(i, 16), length);
    end = (end + 4095) / 4096 * 4096 + length;
    blocks += (length + (1 << 20) - 1) >> 20;
  }
  patch(bytes, 32, end);
  reseal(bytes);
  const auto layout = parse_page0(bytes_of(bytes).first(4096), end);
  if (!layout) FAIL(layout.error().detail);
  CHECK(broken_invariant(*layout, end) == "");
}

TEST_CASE("every prefix of a file is refused, each with the right reason") {
  const std::string bytes = small_image().build();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto layout = parse(std::string_view(bytes).substr(0, n));
    REQUIRE_FALSE(layout.ok());
    const Errc expected = n < 8 ? Errc::kNotTokpack : n < 4096 ? Errc::kTooShort : Errc::kFileSize;
    REQUIRE(layout.error().code == expected);
    REQUIRE_FALSE(layout.error().detail.empty());
  }
}

TEST_CASE("a prefix that ends in a larger page 0 is refused for it") {
  Image image = small_image();
  for (int i = 0; i < 60; ++i) {
    image.sections.push_back(
        section(SectionKind::kColumn, "c" + std::to_string(i), ElementType::kU8, Scope::kSequence, "abc"));
  }
  const std::string bytes = image.build();
  for (const std::size_t n : {4096u, 5000u, 8191u}) {
    CHECK(parse(std::string_view(bytes).substr(0, n)).error().code == Errc::kHeaderBytes);
  }
  CHECK(parse(std::string_view(bytes).substr(0, 8192)).error().code == Errc::kFileSize);
}

TEST_CASE("every flipped bit of page 0 is refused") {
  std::string bytes = small_image().build();
  for (std::size_t bit = 0; bit < 4096 * 8; ++bit) {
    const auto mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    const auto layout = parse(bytes);
    REQUIRE_FALSE(layout.ok());
    const Errc code = layout.error().code;
    if (bit < 64) {
      REQUIRE((code == Errc::kNotTokpack || code == Errc::kTextModeDamage));
    } else if (bit < 96) {
      REQUIRE(code == Errc::kUnsupportedVersion);
    } else if (bit < 128) {
      REQUIRE((code == Errc::kHeaderBytes || code == Errc::kHeaderChecksum));
    } else {
      REQUIRE(code == Errc::kHeaderChecksum);
    }
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
  CHECK(parse(bytes).ok());
}

TEST_CASE("every flipped bit of a sealed page 0 is refused or leaves a sound layout") {
  const std::string good = small_image().build();
  std::size_t accepted = 0;
  for (std::size_t bit = 128; bit < (4096 - 8) * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    reseal(bytes);
    const auto layout = parse(bytes);
    if (!layout) continue;
    ++accepted;
    REQUIRE(broken_invariant(*layout, bytes.size()) == "");
  }
  // Ignorable bits, hashes, samples, ids: what page 0 alone cannot contradict. Most bits are refused.
  CHECK(accepted > 100);
  CHECK(accepted < 2500);
}

TEST_CASE("random damage to a sealed page 0 never gives an unsound layout") {
  Image image = small_image();
  using enum SectionKind;
  image.sections.push_back(
      section(kColumnOffsets, "r", ElementType::kU64, Scope::kSequence, std::string(32, 0)));
  image.sections.push_back(
      section(kColumnValues, "r", ElementType::kU32, Scope::kSequence, std::string(8, 0), 2));
  const std::string good = image.build();
  const std::size_t table_end = entry_field(image.sections.size() + 1, 0);
  std::mt19937_64 random(11);
  const std::uint64_t values[] = {0,
                                  1,
                                  2,
                                  8,
                                  4096,
                                  std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 61,
                                  std::uint64_t{1} << 62,
                                  std::uint64_t{1} << 63,
                                  ~std::uint64_t{0}};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (std::uint64_t n = random() % 3 + 1; n > 0; --n) {
      const std::size_t field = 16 + random() % (table_end - 24) / 8 * 8;
      const std::uint64_t value = values[random() % std::size(values)] + random() % 3 - 1;
      patch(bytes, field, value);
    }
    reseal(bytes);
    const auto size = load<std::uint64_t>(bytes_of(bytes), 32);  // whatever it claims: only page 0 is read
    if (size < 4096) continue;
    const auto layout = parse_page0(bytes_of(bytes).first(4096), size);
    if (layout) REQUIRE(broken_invariant(*layout, size) == "");
  }
}

TEST_CASE("page0_bytes needs only the first page") {
  const std::string bytes = small_image().build();
  CHECK(*page0_bytes(bytes_of(bytes).first(4096), bytes.size()) == 4096);
  CHECK(page0_bytes(bytes_of(bytes).first(100), 100).error().code == Errc::kTooShort);
  CHECK(page0_bytes({}, 0).error().code == Errc::kNotTokpack);
}

TEST_CASE("the size given counts, not the bytes behind it") {
  const std::string bytes = small_image().build();
  CHECK(parse_page0(bytes_of(bytes), 4095).error().code == Errc::kTooShort);
  CHECK(parse_page0(bytes_of(bytes), 7).error().code == Errc::kNotTokpack);
  CHECK(parse_page0(bytes_of(bytes), 0).error().code == Errc::kNotTokpack);
}

TEST_CASE("section names") {
  for (const char* name : {"a", "0", "_", "token_weight2", "abcdefghijklmnopqrstuvwx"})
    CHECK(valid_section_name(name));
  for (const char* name : {"", "A", "a-b", "a b", "\xc3\xa4", "abcdefghijklmnopqrstuvwxy", "a\n"}) {
    CHECK_FALSE(valid_section_name(name));
  }
}

// ---- other kinds of file ----

std::string refused_as(std::string_view start, std::size_t size = 5000) {
  std::string bytes(start);
  if (bytes.size() < size) bytes.resize(size, '\x01');
  const auto layout = parse(bytes);
  REQUIRE_FALSE(layout.ok());
  CHECK(layout.error().code == Errc::kNotTokpack);
  return layout.error().detail;
}
bool says(const std::string& detail, std::string_view word) { return detail.find(word) != std::string::npos; }

TEST_CASE("other kinds of file are named") {
  using namespace std::string_view_literals;
  CHECK(says(refused_as("MMIDIDX\0\0"sv), "Megatron"));
  CHECK(says(refused_as("\x93NUMPY\x01"sv), "NumPy"));
  CHECK(says(refused_as("GGUF\x03"sv), "GGUF"));
  CHECK(says(refused_as("\x28\xb5\x2f\xfd"sv), "zstd"));
  CHECK(says(refused_as("\x1f\x8b\x08"sv), "gzip"));
  CHECK(says(refused_as("PAR1"sv), "Parquet"));
  CHECK(says(refused_as("\x10\x02\0\0\0\0\0\0{\"a\":"sv), "safetensors"));
  CHECK(says(refused_as("PK\x03\x04"sv), "zip"));
  CHECK(says(refused_as("\xff\xff\xff\xff"sv), "Arrow"));
  CHECK(says(refused_as("\xc2\x89TPK\r\n\x1a\n"sv), "UTF-8"));
  CHECK(says(refused_as("\xef\xbf\xbdTPK\r\n\x1a\n"sv), "UTF-8"));
  CHECK(says(refused_as("\x01\x02\x03"sv), "01 02 03 01"));
  CHECK(says(refused_as("name.jsonl" + std::string(247, '\0') + "ustar"), "tar"));
  CHECK(says(refused_as("", 0), "empty"));
  CHECK(says(refused_as("{\"input_ids\": [1]}\n", 0), "JSON"));
  CHECK(says(refused_as(" \n[1]", 0), "JSON"));
  CHECK(says(refused_as("Call me Ishmael.\n", 0), "text"));
  CHECK(says(refused_as(std::string(9000, 'a'), 0), "text"));
  CHECK(says(refused_as("\x89TPK\r\n", 0), "cut short"));
}

TEST_CASE("files of other tools are named") {
  const std::filesystem::path peers = std::filesystem::path(TOKPACK_SOURCE_DIR) / "../shared/data/peers";
  if (!std::filesystem::exists(peers)) {
    MESSAGE("skipped: ../shared/data/peers is absent");
    return;
  }
  struct Peer {
    const char* file;
    const char* word;
  };
  const Peer all[] = {{"megatron/i32_text_document.idx", "Megatron"},
                      {"megatron/u16_text_document.idx", "Megatron"},
                      {"fairseq/i32.idx", "fairseq"},
                      {"hf_parquet/train.parquet", "Parquet"},
                      {"nemo_parquet/packed_list.parquet", "Parquet"},
                      {"hf_save_to_disk/data-00000-of-00001.arrow", "Arrow"},
                      {"hf_save_to_disk/state.json", "JSON"},
                      {"litdata_dict/index.json", "JSON"},
                      {"mds_zstd/shard.00000.mds.zstd", "zstd"},
                      {"raw/llmc_v1_u16.bin", "llm.c"},
                      {"raw/llmc_v7_u32.bin", "llm.c"},
                      {"datatrove_u16/00000_docs.ds.metadata", "text"},
                      {"megatron/u16_text_document.bin", "starts with 05 00 06 00"},
                      {"mds/shard.00000.mds", "starts with 03 00 00 00"}};
  for (const Peer& peer : all) {
    CAPTURE(std::string(peer.file));
    CHECK(says(refused_as(read_file((peers / peer.file).string()), 0), peer.word));
  }
}

}  // namespace
