// One fault in the section table of a valid page 0, one refusal: errors 17 to 36, each with its number.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "parse_codes.h"

namespace {

using namespace tokpack::test;
using tokpack::Errc;
using tokpack::Error;
using enum SectionKind;

TEST_CASE("17 section_kind, 18 unknown_required") {
  Image image = small_image();
  add(image, section(16, "new_thing", ElementType::kU8, Scope::kFile, "abc"));
  CHECK(code_of(image.build()) == 0);
  CHECK(code_of(broken_entry(image, "new_thing", 0, U16{0})) == 17);
  CHECK(code_of(broken_entry(image, "new_thing", 4, U16{1})) == 18);
  CHECK(code_of(broken_entry(image, "new_thing", 4, U16{0xff01})) == 18);
  CHECK(code_of(broken_entry(image, "new_thing", 4, U16{0xff00})) == 0);
  CHECK(code_of(broken_entry(image, "new_thing", 0, U16{0xffff})) == 0);
  CHECK(refusal(broken_entry(image, "new_thing", 4, U16{1})).detail.find("new_thing") != std::string::npos);
}

TEST_CASE("19 element_type, 20 scope: unknown, or not the kind's") {
  Image image = small_image();
  add(image, section(16, "new_thing", ElementType::kU8, Scope::kFile, std::string(24, 'x')));
  for (const U8 value : {U8{0}, U8{11}, U8{255}})
    CHECK(code_of(broken_entry(image, "new_thing", 2, value)) == 19);
  for (const U8 value : {U8{0}, U8{5}, U8{255}})
    CHECK(code_of(broken_entry(image, "new_thing", 3, value)) == 20);
  for (std::size_t i = 0; i < small_image().sections.size(); ++i) {
    CAPTURE(i);
    CHECK(code_of(broken(entry_field(i, 2), static_cast<U8>(ElementType::kF32))) == 19);
    const U8 scope = small_image().sections[i].entry.scope;
    CHECK(code_of(broken(entry_field(i, 3), static_cast<U8>(scope == 1 ? 2 : 1))) == 20);
  }
}

TEST_CASE("20 scope: a ragged column has rows of packs, sequences or tokens") {
  Image image = small_image();
  add(image, section(kColumnOffsets, "r", ElementType::kU64, Scope::kFile, std::string(8, '\0')));
  add(image, section(kColumnValues, "r", ElementType::kU32, Scope::kFile, ""));
  CHECK(code_of(image.build()) == 20);
}

TEST_CASE("19 element_type: tokens follow token_type, sources the number of samples") {
  CHECK(code_of(broken(88, U8{3})) == 19);
  CHECK(code_of(broken(64, (U64{1} << 32) - 1)) == 0);
  CHECK(code_of(broken(64, U64{1} << 32)) == 19);
  Image wide = small_image();
  *wide.find("sources") =
      section(kSources, "sources", ElementType::kU64, Scope::kSequence, std::string(24, '\0'));
  CHECK(code_of(wide.build()) == 19);
  wide.header.samples = U64{1} << 32;
  CHECK(code_of(wide.build()) == 0);
}

TEST_CASE("21 section_flags: bits 1 to 7; 22 section_width") {
  const Image image = small_image();
  for (unsigned bit = 0; bit < 16; ++bit) {
    const int expected = bit >= 1 && bit <= 7 ? 21 : 0;
    CHECK(code_of(broken_entry(image, "targets", 4, static_cast<U16>(1u << bit))) == expected);
  }
  for (const U16 width : {U16{0}, U16{2}, U16{0xffff}}) {
    for (std::size_t i = 0; i < image.sections.size(); ++i)
      CHECK(code_of(broken(entry_field(i, 6), width)) == 22);
  }
  Image with_column = small_image();
  add(with_column, column("score"));
  CHECK(code_of(broken_entry(with_column, "score", 6, U16{0})) == 22);
}

TEST_CASE("23 section_name: characters, padding, names of built-in kinds") {
  const Image image = small_image();
  const auto named = [&](std::string_view name) {
    std::array<char, 24> field{};
    std::copy(name.begin(), name.end(), field.begin());
    return code_of(broken_entry(image, "metadata", 40, field));
  };
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {""sv, "Metadata"sv, "meta data"sv, "metadata\0x"sv, "\0metadata"sv, "meta-data"sv, "meta\x1b[31m"sv,
        "tokens"sv, "metadat"sv, "metadata2"sv}) {
    CHECK(named(name) == 23);
  }
  CHECK(named("metadata") == 0);

  Image with_column = small_image();
  add(with_column, column("abcdefghijklmnopqrstuvwx"));
  CHECK(code_of(with_column.build()) == 0);
  for (const char* name : {"", "Score", "a-b", "a b", "\xc3\xa4", "a\x1b"}) {
    with_column.sections.back() = column(name);
    CHECK(code_of(with_column.build()) == 23);
  }
  with_column.sections.back() = column("labels");
  CHECK(code_of(with_column.build()) == 23);
  with_column.sections.back() = section(99, "checksums", ElementType::kU8, Scope::kFile, "");
  CHECK(code_of(with_column.build()) == 23);
}

TEST_CASE("23 section_name: control characters of a name are escaped") {
  std::array<char, 24> field{};
  std::memcpy(field.data(), "a\x1b[2J\"\n\xff", 8);
  const std::string detail = refusal(broken_entry(small_image(), "metadata", 40, field)).detail;
  CHECK(detail.find("a\\x1b[2J\\\"\\x0a\\xff") != std::string::npos);
  CHECK(detail.find('\x1b') == std::string::npos);
}

TEST_CASE("24 section_unaligned, 25 section_overlap, 26 section_gap, 27 section_past_end") {
  const Image image = small_image();
  CHECK(code_of(broken_entry(image, "cu_seqlens", 8, U64{4096 * 4 + 8})) == 24);
  CHECK(code_of(broken_entry(image, "cu_seqlens", 8, U64{0})) == 25);
  CHECK(code_of(broken_entry(image, "tokens", 8, U64{0})) == 25);  // on the header
  CHECK(code_of(broken_entry(image, "cu_seqlens", 8, U64{4096 * 3})) == 25);
  CHECK(code_of(broken_entry(image, "cu_seqlens", 8, U64{4096 * 5})) == 26);
  CHECK(code_of(broken_entry(image, "tokens", 8, U64{1} << 40)) == 26);
  CHECK(code_of(broken_entry(image, "tokens", 8, kAllOnes - 4095)) == 26);
  for (const U64 length : {U64{1} << 40, U64{1} << 63, kAllOnes, kAllOnes - 4095, kAllOnes - 4096}) {
    CHECK(code_of(broken_entry(image, "tokens", 16, length)) == 27);  // some of them wrap with the offset
    CHECK(code_of(broken_entry(image, "metadata", 16, length)) == 27);
  }
}

TEST_CASE("24..28: an empty section has its place too") {
  const Image image = empty_image();
  const std::string bytes = image.build();
  const std::size_t i = image.index("cu_seqlens");
  REQUIRE(load<U64>(bytes_of(bytes), entry_field(i, 16)) == 0);
  const auto offset = load<U64>(bytes_of(bytes), entry_field(i, 8));
  CHECK(load<U64>(bytes_of(bytes), entry_field(i + 1, 8)) == offset);
  CHECK(code_of(broken(entry_field(i, 8), offset - 4096, image)) == 25);
  CHECK(code_of(broken(entry_field(i, 8), offset + 4096, image)) == 26);
  CHECK(code_of(broken(entry_field(i, 8), offset + 1, image)) == 24);
}

TEST_CASE("28 section_length: each kind one row short, one row long, a part of a row") {
  Image image = small_image();
  add(image, section(kFirstTokenPositions, "first_token_positions", ElementType::kU32, Scope::kSequence,
                     std::string(12, '\0')));
  add(image, section(kTailLabels, "tail_labels", ElementType::kI32, Scope::kSequence, std::string(12, '\0')));
  add(image, column("per_pack", std::string(16, 'x'), ElementType::kU64, Scope::kPack));
  add(image, column("per_token", std::string(18, 'x'), ElementType::kBF16, Scope::kToken));
  add(image, section(kColumnOffsets, "ragged", ElementType::kU64, Scope::kSequence, std::string(32, '\0')));
  add(image, section(kColumnValues, "ragged", ElementType::kU32, Scope::kSequence, std::string(40, '\0')));
  REQUIRE(code_of(image.build()) == 0);
  const std::size_t values = image.sections.size() - 1;
  for (std::size_t i = 0; i <= image.sections.size(); ++i) {
    CAPTURE(i);
    const std::string bytes = image.build();
    const auto entry = load<SectionEntry>(bytes_of(bytes), entry_field(i, 0));
    const std::size_t size = element_bytes(entry.element_type);
    const bool free = i == values || entry.kind == static_cast<U16>(kMetadata);  // of no prescribed length
    // The file grows with its last section, or the fault would be another one.
    const auto with_length = [&](U64 length) {
      std::string bad = bytes;
      if (i == image.sections.size()) bad.resize(bad.size() - entry.length + length);
      patch(bad, entry_field(i, 16), length);
      patch(bad, 32, U64{bad.size()});
      reseal(bad);
      return code_of(bad);
    };
    CHECK(with_length(entry.length) == 0);
    if (!free) CHECK(with_length(entry.length - size) == 28);
    if (!free) CHECK(with_length(entry.length + size) == 28);
    if (size > 1) CHECK(with_length(entry.length + 1) == 28);
  }
}

TEST_CASE("28 section_length: columns of scope file and unknown kinds have any number of rows") {
  Image image = small_image();
  add(image, section(kColumn, "table", ElementType::kU32, Scope::kFile, std::string(24, 'x'), 3));
  add(image, section(77, "odd", ElementType::kU64, Scope::kPack, "abc"));
  CHECK(code_of(image.build()) == 0);
  image.find("table")->content += "abcd";
  CHECK(code_of(image.build()) == 28);
}

TEST_CASE("29 section_duplicate: built-in kinds, column names, unknown kinds of one name") {
  Image image = small_image();
  add(image, image.sections[6]);  // sources
  CHECK(code_of(image.build()) == 29);

  image.sections.back() = section(kMetadata, "metadata", ElementType::kBytes, Scope::kFile, "{}");
  CHECK(code_of(image.build()) == 29);

  image = small_image();
  add(image, column("score"));
  CHECK(code_of(image.build()) == 0);
  add(image, column("score", std::string(16, 'x'), ElementType::kU64, Scope::kPack));
  CHECK(code_of(image.build()) == 29);

  image.sections.back() =
      section(kColumnOffsets, "score", ElementType::kU64, Scope::kPack, std::string(24, '\0'));
  add(image, section(kColumnValues, "score", ElementType::kU32, Scope::kPack, ""));
  CHECK(code_of(image.build()) == 29);

  image = small_image();
  add(image, section(40, "x", ElementType::kU8, Scope::kFile, "a"));
  add(image, section(41, "x", ElementType::kU8, Scope::kFile, "a"));
  add(image, section(40, "y", ElementType::kU8, Scope::kFile, "a"));
  add(image, column("x"));
  CHECK(code_of(image.build()) == 0);
  add(image, section(40, "x", ElementType::kU8, Scope::kFile, "b"));
  CHECK(code_of(image.build()) == 29);
}

TEST_CASE("30 section_missing: each section that the header needs") {
  for (const char* name : {"tokens", "pack_token_offsets", "pack_sequence_offsets", "cu_seqlens", "loss_bits",
                           "targets", "sources"}) {
    Image image = small_image();
    image.sections.erase(image.sections.begin() + static_cast<std::ptrdiff_t>(image.index(name)));
    const Error error = refusal(image.build());
    CHECK(static_cast<int>(error.code) == 30);
    CHECK(error.detail.find(name) != std::string::npos);
  }
  Image image = small_image();
  image.sections.erase(image.sections.begin() + static_cast<std::ptrdiff_t>(image.index("metadata")));
  CHECK(code_of(image.build()) == 0);
  image.header.label_kind = 2;
  image.sections.erase(image.sections.begin() + static_cast<std::ptrdiff_t>(image.index("loss_bits")));
  CHECK(refusal(image.build()).detail.find("labels") != std::string::npos);
}

TEST_CASE("30 section_missing: checksums") {
  std::string bytes = small_image().build();
  const std::size_t last = small_image().sections.size();
  patch(bytes, 90, static_cast<U16>(last));
  for (std::size_t i = 0; i < 64; ++i) bytes[entry_field(last, i)] = '\0';
  const auto metadata = load<SectionEntry>(bytes_of(bytes), entry_field(last - 1, 0));
  bytes.resize(metadata.offset + metadata.length);
  patch(bytes, 32, U64{bytes.size()});
  reseal(bytes);
  CHECK(code_of(bytes) == 30);
}

TEST_CASE("31 section_unexpected: loss bits and labels that the label kind rules out") {
  CHECK(code_of(broken(89, U8{0})) == 31);
  Image image = small_image();
  add(image, section(kLabels, "labels", ElementType::kI32, Scope::kToken, std::string(36, '\0')));
  CHECK(code_of(image.build()) == 31);
  image.header.label_kind = 2;
  CHECK(code_of(image.build()) == 31);
  image.sections.erase(image.sections.begin() + static_cast<std::ptrdiff_t>(image.index("loss_bits")));
  CHECK(code_of(image.build()) == 0);
}

TEST_CASE("32 section_order: checksums last, ragged values after their offsets") {
  Image image = small_image();
  add(image, section(80, "after", ElementType::kU8, Scope::kFile, "a"));
  std::string bytes = image.build();
  const std::size_t i = image.index("after");
  auto after = load<SectionEntry>(bytes_of(bytes), entry_field(i, 0));
  auto checksums = load<SectionEntry>(bytes_of(bytes), entry_field(i + 1, 0));
  std::swap(after.offset, checksums.offset);
  patch(bytes, entry_field(i, 0), checksums);
  patch(bytes, entry_field(i + 1, 0), after);
  bytes.resize(after.offset + after.length);
  patch(bytes, 32, U64{bytes.size()});
  reseal(bytes);
  CHECK(code_of(bytes) == 32);

  const Section offsets =
      section(kColumnOffsets, "r", ElementType::kU64, Scope::kSequence, std::string(32, '\0'));
  const Section values = section(kColumnValues, "r", ElementType::kU32, Scope::kSequence, "");
  const auto with = [](std::initializer_list<Section> sections) {
    Image ragged = small_image();
    for (const Section& s : sections) add(ragged, s);
    return code_of(ragged.build());
  };
  Section other_name = values;
  other_name.entry.name[0] = 's';
  Section other_scope = values;
  other_scope.entry.scope = static_cast<U8>(Scope::kPack);
  CHECK(with({offsets, values}) == 0);
  CHECK(with({offsets}) == 32);
  CHECK(with({values}) == 32);
  CHECK(with({values, offsets}) == 32);
  CHECK(with({offsets, column("between"), values}) == 32);
  CHECK(with({offsets, other_name}) == 32);
  CHECK(with({offsets, other_scope}) == 32);
  CHECK(with({offsets, values, other_name}) == 32);
}

TEST_CASE("33 reserved_column: type, scope, width, ragged") {
  struct Reserved {
    const char* name;
    ElementType type;
    std::size_t bytes;
  };
  const Reserved all[] = {{"group", ElementType::kU32, 4},      {"role", ElementType::kU8, 1},
                          {"weight", ElementType::kF32, 4},     {"domain", ElementType::kU32, 4},
                          {"prefix_len", ElementType::kU32, 4}, {"doc_id", ElementType::kU64, 8},
                          {"truncated", ElementType::kU8, 1}};
  for (const Reserved& r : all) {
    CAPTURE(std::string(r.name));
    const auto with = [](Section s) {
      Image image = small_image();
      add(image, std::move(s));
      return code_of(image.build());
    };
    CHECK(with(section(kColumn, r.name, r.type, Scope::kSequence, std::string(3 * r.bytes, '\0'))) == 0);
    CHECK(with(section(kColumn, r.name, ElementType::kI64, Scope::kSequence, std::string(24, '\0'))) == 33);
    CHECK(with(section(kColumn, r.name, r.type, Scope::kPack, std::string(2 * r.bytes, '\0'))) == 33);
    CHECK(with(section(kColumn, r.name, r.type, Scope::kSequence, std::string(6 * r.bytes, '\0'), 2)) == 33);
    Image ragged = small_image();
    add(ragged, section(kColumnOffsets, r.name, ElementType::kU64, Scope::kSequence, std::string(32, '\0')));
    add(ragged, section(kColumnValues, r.name, r.type, Scope::kSequence, ""));
    CHECK(code_of(ragged.build()) == 33);
  }
}

TEST_CASE("reserved column names bind columns alone") {
  Image image = small_image();
  add(image, section(70, "group", ElementType::kI64, Scope::kToken, "abc", 2));
  CHECK(code_of(image.build()) == 0);
}

TEST_CASE("34 metadata_size: 16 MiB and no more") {
  Image image = small_image();
  image.find("metadata")->content.assign(16 << 20, ' ');
  CHECK(code_of(image.build()) == 0);
  image.find("metadata")->content += ' ';
  CHECK(code_of(image.build()) == 34);
}

TEST_CASE("35 file_end: the file goes on after the last section") {
  std::string bytes = small_image().build() + "x";
  patch(bytes, 32, U64{bytes.size()});
  reseal(bytes);
  CHECK(code_of(bytes) == 35);
}

TEST_CASE("36 digest: content fields and entries changed, digest left") {
  for (const std::size_t offset : {std::size_t{92}, std::size_t{112}, std::size_t{127}, entry_field(0, 24),
                                   entry_field(5, 39), entry_field(3, 5)}) {
    std::string bytes = small_image().build();
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x40);
    reseal_checksum(bytes);
    CHECK(code_of(bytes) == 36);
  }
  std::string bytes = small_image().build();
  patch(bytes, 64, U64{7});  // samples are not content
  reseal_checksum(bytes);
  CHECK(code_of(bytes) == 0);
}

}  // namespace
