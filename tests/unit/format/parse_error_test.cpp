// One fault in a valid page 0, one refusal: every Errc that the parser can give, with its number.
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "page_builder.h"
#include "tokpack/format/parse.h"

namespace {

using namespace tokpack::test;
using tokpack::Errc;
using tokpack::Error;
using tokpack::Result;

int code_of(std::string_view bytes, std::uint64_t file_size) {
  const Result<FileLayout> layout = parse_page0(bytes_of(bytes), file_size);
  return layout ? 0 : static_cast<int>(layout.error().code);
}
int code_of(std::string_view bytes) { return code_of(bytes, bytes.size()); }

Error refusal(std::string_view bytes) {
  Result<FileLayout> layout = parse_page0(bytes_of(bytes), bytes.size());
  REQUIRE_FALSE(layout.ok());
  return layout.error();
}

/// small_image() with one value put at one offset of page 0, sealed again.
template <typename T>
std::string broken(std::size_t offset, T value, const Image& image = small_image()) {
  std::string bytes = image.build();
  patch(bytes, offset, value);
  reseal(bytes);
  return bytes;
}
template <typename T>
std::string broken_entry(const Image& image, std::string_view name, std::size_t field, T value) {
  return broken(entry_field(image.index(name), field), value, image);
}

using enum SectionKind;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U64 k2to61 = U64{1} << 61;
constexpr U64 kAllOnes = ~U64{0};
constexpr U64 kCountValues[] = {k2to61, (U64{1} << 62) + 1, U64{1} << 63, kAllOnes};

void add(Image& image, Section s) { image.sections.push_back(std::move(s)); }
Section column(std::string_view name, std::string content = std::string(12, 'x'),
               ElementType type = ElementType::kU32, Scope scope = Scope::kSequence) {
  return section(kColumn, name, type, scope, std::move(content));
}

TEST_CASE("the images that the tests break are valid") {
  CHECK(code_of(small_image().build()) == 0);
  CHECK(code_of(empty_image().build()) == 0);
}

TEST_CASE("1 too_short: right magic, less than a page") {
  const std::string bytes = small_image().build();
  for (const std::size_t n : {8u, 9u, 256u, 4095u}) CHECK(code_of(bytes.substr(0, n)) == 1);
}

TEST_CASE("2 not_tokpack: no magic") {
  CHECK(code_of("") == 2);
  CHECK(code_of(std::string(5000, '\0')) == 2);
  CHECK(code_of(std::string("\x89TPK\r\n\x1a", 7)) == 2);
  CHECK(code_of(std::string(100, 'x')) == 2);
}

TEST_CASE("3 text_mode_damage: line endings converted or the eighth bit stripped") {
  const std::string rest = small_image().build().substr(8);
  const char* damaged[] = {"\x89TPK\n\x1a\n",   "\x89TPK\r\r\n\x1a\r\n", "\x89TPK\r\n\x1a\r\n",
                           "\x89TPK\n\n\x1a\n", "\x89TPK\r\r\x1a\r",     "\x09TPK\r\n\x1a\n"};
  for (const char* magic : damaged) {
    const Error error = refusal(magic + rest);
    CHECK(static_cast<int>(error.code) == 3);
    CHECK(error.detail.find("binary mode") != std::string::npos);
  }
  CHECK(refusal("\x09TPK\r\n\x1a\n" + rest).detail.find("eighth bit") != std::string::npos);
}

TEST_CASE("4 unsupported_version: other drafts and versions, swapped bytes said so") {
  const auto at = [](U16 major, U16 minor) {
    std::string bytes = small_image().build();
    patch(bytes, 8, major);
    patch(bytes, 10, minor);
    return refusal(bytes);  // not sealed: the version decides what the rest means
  };
  for (const auto& [major, minor] :
       {std::pair<U16, U16>{0, 0}, {0, 2}, {1, 0}, {255, 1}, {1, 1}, {0, 0x0100}}) {
    CHECK(static_cast<int>(at(major, minor).code) == 4);
  }
  CHECK(at(255, 7).detail.find("255.7") != std::string::npos);
  CHECK(at(255, 7).detail.find("0.1") != std::string::npos);
  CHECK(at(255, 7).detail.find("swapped") == std::string::npos);
  CHECK(at(0, 0x0100).detail.find("swapped") != std::string::npos);
  CHECK(at(0x0100, 0).detail.find("swapped") != std::string::npos);
}

TEST_CASE("5 header_bytes: no multiple of 4096 in 4096 to 1 MiB, or beyond the file") {
  const std::string bytes = small_image().build();
  for (const U32 value : {U32{0}, U32{1}, U32{4095}, U32{4097}, U32{(1 << 20) + 4096}, U32{0x80000000},
                          ~U32{0}, ~U32{4095}, U32{1 << 20}}) {
    std::string damaged = bytes;
    patch(damaged, 12, value);
    CHECK(code_of(damaged) == 5);
  }
  std::string bad = bytes;  // the cap holds for a file large enough, too
  patch(bad, 12, U32{(1 << 20) + 4096});
  CHECK(page0_bytes(bytes_of(bad), U64{1} << 40).error().code == Errc::kHeaderBytes);
  patch(bad, 12, U32{1 << 20});
  CHECK(*page0_bytes(bytes_of(bad), U64{1} << 40) == 1 << 20);
  CHECK(*page0_bytes(bytes_of(bad), U64{1} << 20) == 1 << 20);
  CHECK(page0_bytes(bytes_of(bad), (U64{1} << 20) - 1).error().code == Errc::kHeaderBytes);
  CHECK(code_of(bytes.substr(0, 4096), bytes.size()) == 0);  // page 0 is all that the parser reads
}

TEST_CASE("6 header_checksum: any other byte of page 0") {
  std::string bytes = small_image().build();
  patch(bytes, 4088, U64{0});
  const Error error = refusal(bytes);
  CHECK(static_cast<int>(error.code) == 6);
  CHECK(error.offset == 4088);
}

TEST_CASE("7 required_feature: the detail names the bits") {
  for (const U64 bits : {U64{1}, U64{1} << 63, kAllOnes}) CHECK(code_of(broken(16, bits)) == 7);
  CHECK(refusal(broken(16, U64{0x30})).detail.find("0x30") != std::string::npos);
}

TEST_CASE("8 reserved_not_zero: every byte that no field and no entry covers") {
  const std::string bytes = small_image().build();
  const std::size_t table_end = entry_field(small_image().sections.size() + 1, 0);
  for (std::size_t i = 128; i < 4088; i = i == 255 ? table_end : i + 1) {
    std::string bad = bytes;
    bad[i] = 1;
    reseal(bad);
    const Error error = refusal(bad);
    REQUIRE(static_cast<int>(error.code) == 8);
    REQUIRE(error.offset == i);
  }
}

TEST_CASE("9 file_size: one byte more or less, and beyond the cap") {
  const std::string bytes = small_image().build();
  CHECK(code_of(bytes + "x") == 9);
  CHECK(code_of(bytes.substr(0, bytes.size() - 1)) == 9);
  CHECK(code_of(bytes.substr(0, 4096)) == 9);
  CHECK(code_of(bytes, kAllOnes) == 9);
  for (const U64 size : {(U64{1} << 62) + 1, kAllOnes}) CHECK(code_of(broken(32, size), size) == 9);
  const Error error = refusal(bytes + "xy");
  CHECK(error.detail.find(std::to_string(bytes.size())) != std::string::npos);
  CHECK(error.detail.find(std::to_string(bytes.size() + 2)) != std::string::npos);
}

TEST_CASE("9 file_size comes before what the fields say") {
  std::string bytes = broken(88, U8{9});
  CHECK(code_of(bytes) == 10);
  CHECK(code_of(bytes + "x") == 9);
}

TEST_CASE("10 token_type, 11 label_kind: every other number") {
  for (int value = 0; value < 256; ++value) {
    if (value != 2 && value != 3) CHECK(code_of(broken(88, static_cast<U8>(value))) == 10);
    if (value > 2) CHECK(code_of(broken(89, static_cast<U8>(value))) == 11);
  }
}

TEST_CASE("12 capacity, 13 alignment") {
  const auto at = [](U32 capacity, U32 alignment) {
    std::string bytes = small_image().build();
    patch(bytes, 80, capacity);
    patch(bytes, 84, alignment);
    reseal(bytes);
    return code_of(bytes);
  };
  CHECK(at(0, 1) == 12);
  CHECK(at((1u << 24) + 1, 1) == 12);
  CHECK(at(~U32{0}, 1) == 12);
  CHECK(at(10, 3) == 12);
  CHECK(at(8, 0) == 13);
  CHECK(at(8, 9) == 13);
  CHECK(at(8, ~U32{0}) == 13);
  CHECK(at(8, 8) == 0);
  CHECK(at(1u << 24, 64) == 0);
}

TEST_CASE("14 id_range: pad id and vocabulary size") {
  CHECK(code_of(broken(96, U32{65535})) == 0);
  CHECK(code_of(broken(96, U32{65536})) == 14);
  CHECK(code_of(broken(96, ~U32{0})) == 14);
  CHECK(code_of(broken(100, U32{1} << 31)) == 0);
  CHECK(code_of(broken(100, (U32{1} << 31) + 1)) == 14);
  Image wide = small_image();
  wide.header.token_type = 3;
  wide.sections[0] = section(kTokens, "tokens", ElementType::kU32, Scope::kToken, std::string(36, '\0'));
  CHECK(code_of(broken(96, U32{0x7fffffff}, wide)) == 0);
  CHECK(code_of(broken(96, U32{0x80000000}, wide)) == 14);
}

TEST_CASE("15 counts: each count huge") {
  for (const std::size_t field : {40u, 48u, 56u, 72u}) {
    for (const U64 value : kCountValues) {
      CAPTURE(field);
      CHECK(code_of(broken(field, value)) == 15);
    }
  }
  for (const U64 value : {(U64{1} << 62) + 1, kAllOnes}) CHECK(code_of(broken(64, value)) == 15);
}

TEST_CASE("15 counts: contradictions") {
  struct Counts {
    U64 packs, sequences, tokens, targets;
    U32 longest, most;
  };
  const auto at = [](const Counts& c) {
    std::string bytes = small_image().build();
    patch(bytes, 40, c.packs);
    patch(bytes, 48, c.sequences);
    patch(bytes, 56, c.tokens);
    patch(bytes, 72, c.targets);
    patch(bytes, 104, c.longest);
    patch(bytes, 108, c.most);
    reseal(bytes);
    return code_of(bytes);
  };
  CHECK(at({2, 3, 9, 6, 4, 2}) == 0);
  CHECK(at({2, 3, 9, 12, 4, 2}) == 0);
  CHECK(at({2, 3, 9, 13, 4, 2}) == 15);  // targets above tokens + sequences
  CHECK(at({4, 3, 9, 6, 4, 2}) == 15);   // packs above sequences
  CHECK(at({2, 10, 9, 6, 4, 2}) == 15);  // sequences above tokens
  CHECK(at({1, 3, 9, 6, 4, 2}) == 15);   // nine tokens in one pack of eight
  CHECK(at({0, 3, 9, 6, 4, 0}) == 15);
  CHECK(at({0, 0, 9, 6, 4, 0}) == 15);
  CHECK(at({0, 0, 0, 6, 0, 0}) == 15);
  CHECK(at({2, 3, 9, 6, 0, 2}) == 15);
  CHECK(at({2, 3, 9, 6, 9, 2}) == 15);  // longest above the capacity
  CHECK(at({2, 3, 9, 6, 4, 0}) == 15);
  CHECK(at({2, 3, 9, 6, 4, 4}) == 15);
  CHECK(at({k2to61, k2to61, k2to61, 6, 4, 2}) == 28);  // possible counts, but not in these sections
  CHECK(code_of(broken(104, U32{1}, empty_image())) == 15);
  CHECK(code_of(broken(108, U32{1}, empty_image())) == 15);
}

TEST_CASE("16 section_count: none, or more than page 0 holds") {
  CHECK(code_of(broken(90, U16{0})) == 16);
  for (const U16 count : {U16{60}, U16{0xffff}}) {
    std::string bytes = small_image().build();
    patch(bytes, 90, count);
    reseal_checksum(bytes);
    CHECK(code_of(bytes) == 16);
  }
}

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
