// One fault in the header of a valid page 0, one refusal: errors 1 to 16, each with its number.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "parse_codes.h"

namespace {

using namespace tokpack::test;
using tokpack::Errc;
using tokpack::Error;
using enum SectionKind;

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

}  // namespace
