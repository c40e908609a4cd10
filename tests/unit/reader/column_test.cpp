// Columns of every scope, fixed and ragged, in both modes; sections as bytes; the loops of verify.
#include <cstring>
#include <random>

#include "reader_fixtures.h"
#include "verify_scan.h"

using namespace tokpack;
using test::build;

namespace {

std::string text(format::Bytes bytes) {
  std::string out;
  for (const std::byte b : bytes) out.push_back(static_cast<char>(b));
  return out;
}

template <typename Check>
void in_both_modes(Check check) {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    auto reader = Reader::open(folder.file("a.tpk"), {.mode = mode});
    REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
    check(reader.value());
  }
}

}  // namespace

TEST_CASE("a pack's rows of fixed columns follow their scope") {
  in_both_modes([](const Reader& reader) {
    REQUIRE(reader.columns() == 5);
    auto pack = reader.pack(1);
    REQUIRE(pack.ok());
    auto group = pack->column(0);
    REQUIRE(group.ok());
    CHECK(group->name == "group");
    CHECK(group->type == ElementType::kU32);
    CHECK(group->scope == Scope::kSequence);
    CHECK(group->rows == 3);
    CHECK(text(group->values) == test::u32_bytes({2, 3, 3}));
    auto note = pack->column(1);
    REQUIRE(note.ok());
    CHECK(note->scope == Scope::kPack);
    CHECK(note->width == 2);
    CHECK(note->rows == 1);
    CHECK(text(note->values) == "bb");
    auto kind = pack->column(2);
    REQUIRE(kind.ok());
    CHECK(kind->scope == Scope::kToken);
    CHECK(kind->rows == 6);
    CHECK(kind->values.size() == 6);
    auto whole = pack->column(3);
    REQUIRE(whole.ok());
    CHECK(text(whole->values) == "all of it");
    CHECK_FALSE(whole->ragged);
  });
}

TEST_CASE("a ragged column gives absolute offsets and the values of the pack alone") {
  in_both_modes([](const Reader& reader) {  // 0 1 1 3 3 3 4 over packs of 2, 3 and 1 sequences
    CHECK(reader.is_ragged(4));
    CHECK_FALSE(reader.is_ragged(0));
    CHECK_FALSE(reader.is_ragged(5));
    auto first = reader.pack(0), second = reader.pack(1), third = reader.pack(2);
    auto a = first->column(4), b = second->column(4), c = third->column(4);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    REQUIRE(c.ok());
    CHECK(std::vector<std::uint64_t>(b->offsets.begin(), b->offsets.end()) ==
          std::vector<std::uint64_t>{1, 3, 3, 3});
    CHECK(text(a->values) == std::string("\1\0", 2));
    CHECK(text(b->values) == std::string("\2\0\3\0", 4));
    CHECK(text(c->values) == std::string("\4\0", 2));
    CHECK(b->rows == 3);
    CHECK(b->ragged);
  });
}

TEST_CASE("a column of scope file is read without a pack, and no other is") {
  in_both_modes([](const Reader& reader) {
    auto whole = reader.file_column(3);
    REQUIRE(whole.ok());
    CHECK(whole->rows == 9);
    CHECK(text(whole->values) == "all of it");
    CHECK(reader.file_column(0).error().code == Errc::kColumnRange);
    CHECK(reader.file_column(5).error().code == Errc::kColumnRange);
    CHECK(reader.pack(0).value().column(5).error().code == Errc::kColumnRange);
  });
}

TEST_CASE("a section's bytes come whole or in part, and nothing outside of it") {
  in_both_modes([](const Reader& reader) {
    std::size_t later = 0;
    while (reader.layout().sections[later].name_view() != "later") ++later;
    CHECK(text(reader.section(later).value().bytes) == "from the future");
    CHECK(text(reader.section_part(later, 5, 3).value().bytes) == "the");
    CHECK(reader.section_part(later, 15, 0).value().bytes.empty());
    CHECK(reader.section_part(later, 15, 1).error().code == Errc::kOptions);
    CHECK(reader.section_part(later, 1, ~std::uint64_t{0}).error().code == Errc::kOptions);
    CHECK(reader.section(1000).error().code == Errc::kOptions);
  });
}

TEST_CASE("every version of the scan loops agrees with a plain loop at any length and alignment") {
  std::mt19937_64 random(5);
  std::vector<std::uint16_t> narrow(300);
  std::vector<std::uint32_t> wide(300);
  std::vector<std::int32_t> labels(300);
  std::vector<std::uint8_t> bits(300);
  for (auto& v : bits) v = static_cast<std::uint8_t>(random());
  for (const auto& scan : detail::scan_variants()) {
    CAPTURE(scan.name);
    for (int round = 0; round < 4000; ++round) {
      const std::size_t begin = random() % 40, count = random() % 250;
      std::fill(narrow.begin(), narrow.end(), static_cast<std::uint16_t>(40000));
      std::fill(wide.begin(), wide.end(), 3000000000U);
      std::fill(labels.begin(), labels.end(), round % 3 == 0 ? -100 : 7);
      const std::size_t at = random() % 300;
      const bool inside = at >= begin && at < begin + count;
      narrow[at] = 40001;
      wide[at] = 3000000001U;
      labels[at] = round % 2 == 0 ? -101 : 8;
      REQUIRE(scan.any_above_u16(narrow.data() + begin, count, 40000) == inside);
      REQUIRE(scan.any_above_u32(wide.data() + begin, count, 3000000000U) == inside);
      REQUIRE_FALSE(scan.any_above_u32(wide.data() + begin, count, 3000000001U));
      REQUIRE(scan.any_bad_label(labels.data() + begin, count, -100, 7) == inside);
      const std::int32_t fill = round % 3 == 0 ? -100 : 7;
      REQUIRE(scan.count_other_than(labels.data() + begin, count, fill) == (inside ? 1U : 0U));
      REQUIRE(scan.count_other_than(labels.data() + begin, count, 9) == count);
      std::uint64_t ones = 0;
      for (std::size_t i = 0; i < count; ++i) ones += bits[begin + i / 8] >> (i % 8) & 1U;
      REQUIRE(scan.count_ones(bits.data() + begin, count) == ones);
    }
  }
}
