// What pack() hands out, in both modes, for every kind of content.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "file_builder.h"
#include "temp_dir.h"
#include "tokpack/core/reader.h"

using namespace tokpack;
using test::FileSpec;

namespace {

template <typename T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}
template <typename N, typename W>
std::vector<std::uint64_t> list(const WidthSpan<N, W>& values) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back(values[i]);
  return out;
}
using Ids = std::vector<std::uint64_t>;
using Ints = std::vector<std::int32_t>;

/// Opens the spec's file in each mode in turn.
template <typename Check>
void in_both_modes(const FileSpec& spec, Check check) {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), test::build(spec).bytes);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    CAPTURE(static_cast<int>(mode));
    auto reader = Reader::open(folder.file("a.tpk"), {.mode = mode});
    REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
    CHECK(reader->mode() == mode);
    check(reader.value());
  }
}

FileSpec three_packs() {
  return {.packs = {{{.tokens = {10, 11, 12}, .source = 4}, {.tokens = {20, 21}, .source = 0}},
                    {{.tokens = {30}, .source = 1}},
                    {{.tokens = {40, 41, 42, 43, 44, 45, 46, 65535}, .source = 3}}}};
}

}  // namespace

TEST_CASE("a pack's tokens, boundaries and sources are the stored ones") {
  in_both_modes(three_packs(), [](const Reader& reader) {
    CHECK(reader.packs() == 3);
    CHECK(reader.sequences() == 4);
    CHECK(reader.tokens() == 14);
    auto pack = reader.pack(0);
    REQUIRE(pack.ok());
    CHECK(list(pack->tokens()) == Ids{10, 11, 12, 20, 21});
    CHECK_FALSE(pack->tokens().is_wide());
    CHECK(list(pack->cu_seqlens()) == Ints{0, 3, 5});
    CHECK(list(pack->sources()) == Ids{4, 0});
    CHECK(pack->targets() == 3);
    CHECK(pack->pack() == 0);
    CHECK(pack->first_sequence() == 0);
    CHECK(pack->loss_bits().empty());
    CHECK(pack->labels().empty());
    CHECK(pack->tail_labels().empty());
    CHECK(pack->first_token_positions().empty());
    CHECK(pack->stored_label(3) == 20);
    auto last = reader.pack(2);
    REQUIRE(last.ok());
    CHECK(list(last->tokens()) == Ids{40, 41, 42, 43, 44, 45, 46, 65535});
    CHECK(list(last->cu_seqlens()) == Ints{0, 8});
    CHECK(list(last->sources()) == Ids{3});
    CHECK(last->first_sequence() == 3);
    CHECK(last->first_token() == 6);
    CHECK(last->targets() == 7);
  });
}

TEST_CASE("a pack past the last one is refused by number") {
  in_both_modes(three_packs(), [](const Reader& reader) {
    for (const std::uint64_t p : {std::uint64_t{3}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
      auto pack = reader.pack(p);
      REQUIRE_FALSE(pack.ok());
      CHECK(pack.error().code == Errc::kPackRange);
    }
  });
}

TEST_CASE("u32 tokens keep ids up to 2^31-1") {
  FileSpec spec{.packs = {{{.tokens = {65536, 0x7fffffff, 0}, .source = 0}}}, .wide_tokens = true};
  in_both_modes(spec, [](const Reader& reader) {
    auto pack = reader.pack(0);
    REQUIRE(pack.ok());
    CHECK(pack->tokens().is_wide());
    CHECK(list(pack->tokens()) == Ids{65536, 0x7fffffff, 0});
    CHECK(pack->stored_label(1) == 0x7fffffff);
  });
}

TEST_CASE("loss bits begin at a byte of their own in each pack") {
  FileSpec spec{.packs = {{{.tokens = {1, 2, 3}, .source = 0, .labels = {-100, 2, 3}}},
                          {{.tokens = {4, 5, 6, 7, 8, 9, 10, 11, 12},
                            .source = 1,
                            .labels = {4, -100, 6, -100, 8, 9, 10, 11, 12}},
                           {.tokens = {13, 14}, .source = 2, .labels = {-100, -100}}},
                          {{.tokens = {15}, .source = 3}}},
                .capacity = 16,
                .label_kind = 1};
  in_both_modes(spec, [](const Reader& reader) {
    auto first = reader.pack(0), second = reader.pack(1), third = reader.pack(2);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    REQUIRE(third.ok());
    CHECK(list(first->loss_bits()) == std::vector<std::uint8_t>{0b110});
    CHECK(list(second->loss_bits()) == std::vector<std::uint8_t>{0b11110101, 0b1});
    CHECK(list(third->loss_bits()) == std::vector<std::uint8_t>{1});
    CHECK(first->stored_label(0) == -100);
    CHECK(first->stored_label(2) == 3);
    CHECK(second->stored_label(8) == 12);
    CHECK(second->stored_label(9) == -100);
    CHECK(second->targets() == 6);
  });
}

TEST_CASE("explicit labels, tail labels and first positions stand beside their tokens") {
  FileSpec spec{.packs = {{{.tokens = {1, 2, 3}, .source = 0, .labels = {7, -100, 9}, .tail = 5}},
                          {{.tokens = {5, 6}, .source = 0, .labels = {5, 6}, .first_position = 3},
                           {.tokens = {8}, .source = 1, .labels = {-100}}}},
                .label_kind = 2,
                .first_positions = true,
                .tail_labels = true};
  in_both_modes(spec, [](const Reader& reader) {
    auto first = reader.pack(0), second = reader.pack(1);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(list(first->labels()) == Ints{7, -100, 9});
    CHECK(first->stored_label(0) == 7);
    CHECK(list(first->tail_labels()) == Ints{5});
    CHECK(first->targets() == 2);
    CHECK(list(second->labels()) == Ints{5, 6, -100});
    CHECK(list(second->tail_labels()) == Ints{-100, -100});
    CHECK(list(second->first_token_positions()) == std::vector<std::uint32_t>{3, 0});
  });
}

TEST_CASE("sources become u64 from 2^32 samples on") {
  FileSpec spec = three_packs();
  spec.packs[1][0].source = (std::uint64_t{1} << 40) + 7;
  in_both_modes(spec, [](const Reader& reader) {
    auto pack = reader.pack(1);
    REQUIRE(pack.ok());
    CHECK(pack->sources().is_wide());
    CHECK(list(pack->sources()) == Ids{(std::uint64_t{1} << 40) + 7});
  });
}

TEST_CASE("a file of no packs opens and has none") {
  in_both_modes(FileSpec{}, [](const Reader& reader) {
    CHECK(reader.packs() == 0);
    CHECK_FALSE(reader.pack(0).ok());
    CHECK_FALSE(reader.locate(0).ok());
  });
}

TEST_CASE("a sequence is found by its number in the file") {
  in_both_modes(three_packs(), [](const Reader& reader) {
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> places = {{0, 0}, {0, 1}, {1, 0}, {2, 0}};
    for (std::uint64_t j = 0; j < 4; ++j) {
      auto where = reader.locate(j);
      REQUIRE(where.ok());
      CHECK(where->pack == places[j].first);
      CHECK(where->index_in_pack == places[j].second);
    }
    auto second = reader.sequence(1);
    REQUIRE(second.ok());
    CHECK(list(second->tokens()) == Ids{20, 21});
    CHECK(second->source() == 0);
    CHECK(second->number() == 1);
    CHECK(second->stored_label(1) == 21);
    CHECK(second->tail_label() == -100);
    CHECK(second->first_token_position() == 0);
    CHECK(reader.locate(4).error().code == Errc::kSequenceRange);
  });
}

TEST_CASE("metadata comes as it stands, and an empty object where there is none") {
  in_both_modes(three_packs(), [](const Reader& reader) { CHECK(reader.metadata_json().value() == "{}"); });
  FileSpec spec = three_packs();
  spec.metadata = "{\"tool\":\"x\"}";
  in_both_modes(spec,
                [](const Reader& reader) { CHECK(reader.metadata_json().value() == "{\"tool\":\"x\"}"); });
}
