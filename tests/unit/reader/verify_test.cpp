// verify: an honest file has no finding; each lie has its own, with section, pack and byte offset, and the
// lies that follow from it are the only others.
#include "reader_fixtures.h"

using namespace tokpack;
using test::build;
using test::BuiltFile;
using test::check_bytes;
using Names = std::vector<std::string>;

namespace {

/// The rich file with `value` written at row `index` of a section and every checksum made to fit.
template <typename T>
BuiltFile with_value(BuiltFile file, std::string_view section, std::uint64_t index, T value) {
  file.put(file.section(section).offset + index * sizeof(T), value);
  file.reseal();
  return file;
}

void check_only(const BuiltFile& file, Errc code, std::string_view section, std::optional<std::uint64_t> pack,
                std::uint64_t row, std::uint64_t row_bytes) {
  const auto found = check_bytes(file.bytes);
  CAPTURE(found.names());
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].code == code);
  CHECK(found.findings[0].section == section);
  CHECK(found.findings[0].pack == pack);
  CHECK(found.findings[0].offset == file.section(section).offset + row * row_bytes);
  CHECK_FALSE(found.findings[0].detail.empty());
}

}  // namespace

TEST_CASE("honest files have no finding, in both modes and with threads") {
  const test::TempDir folder;
  for (const auto& spec : {test::rich_spec(), test::explicit_spec(), test::FileSpec{}}) {
    test::write_file(folder.file("a.tpk"), build(spec).bytes);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      CHECK(test::check_file(folder.file("a.tpk"), mode).names() == Names{});
      CHECK(test::check_file(folder.file("a.tpk"), mode, 8).names() == Names{});
    }
  }
}

TEST_CASE("a token at or above the vocabulary size is named with its pack and place") {
  check_only(with_value<std::uint16_t>(build(test::rich_spec()), "tokens", 9, 50), Errc::kTokenRange,
             "tokens", 1, 9, 2);
  check_only(with_value<std::uint32_t>(build(test::explicit_spec()), "tokens", 20, 50), Errc::kTokenRange,
             "tokens", 2, 20, 4);
}

TEST_CASE("without a vocabulary a u32 token is at most 2^31-1") {
  auto spec = test::explicit_spec();
  spec.vocab_size = 0;
  CHECK(check_bytes(with_value<std::uint32_t>(build(spec), "tokens", 3, 0x7fffffff).bytes).names() ==
        Names{});
  check_only(with_value<std::uint32_t>(build(spec), "tokens", 3, 0x80000000), Errc::kTokenRange, "tokens", 0,
             3, 4);
}

TEST_CASE("bad tokens of several packs give one finding for each pack") {
  auto file = build(test::rich_spec());
  for (const std::uint64_t row : {0U, 1U, 6U, 7U, 20U})
    file.put<std::uint16_t>(file.section("tokens").offset + row * 2, 60);
  file.reseal();
  const auto found = check_bytes(file.bytes);
  REQUIRE(found.names() == Names{"token_range", "token_range", "token_range"});
  CHECK(found.findings[0].pack == 0);
  CHECK(found.findings[0].detail.find("2 more") != std::string::npos);
  CHECK(found.findings[1].pack == 1);
  CHECK(found.findings[2].pack == 2);
}

TEST_CASE("a label is the ignore index or an id") {
  const auto file = build(test::explicit_spec());
  check_only(with_value<std::int32_t>(file, "labels", 8, 50), Errc::kLabelRange, "labels", 1, 8, 4);
  check_only(with_value<std::int32_t>(file, "labels", 8, -1), Errc::kLabelRange, "labels", 1, 8, 4);
  check_only(with_value<std::int32_t>(file, "tail_labels", 0, 1000), Errc::kLabelRange, "tail_labels", 0, 0,
             4);
}

TEST_CASE("a bit past a pack's last token is found") {
  auto file = build(test::rich_spec());  // 7, 6 and 8 tokens: bytes 0, 1 and 3 (13 >> 3, plus 2), one each
  const std::uint64_t bits = file.section("loss_bits").offset;
  REQUIRE(file.section("loss_bits").length == 5);
  for (const auto& [byte, mask, pack] : {std::tuple{0, 0x80, 0}, {1, 0x40, 1}, {2, 0x01, 1}, {4, 0x80, 2}}) {
    auto lie = file;
    const std::uint64_t at = bits + static_cast<std::uint64_t>(byte);
    lie.put(at, static_cast<std::uint8_t>(lie.get<std::uint8_t>(at) | mask));
    lie.reseal();
    check_only(lie, Errc::kLossBitsPadding, "loss_bits", pack, static_cast<std::uint64_t>(byte), 1);
  }
}

TEST_CASE("targets are counted from bits, labels and tail labels") {
  const auto rich = build(test::rich_spec());
  CHECK(rich.get<std::uint32_t>(rich.section("targets").offset) == 5);  // 11 12 14, 21, tail 15
  check_only(with_value<std::uint32_t>(rich, "targets", 0, 4), Errc::kTargetsCount, "targets", 0, 0, 4);
  check_only(with_value<std::uint32_t>(build(test::explicit_spec()), "targets", 2, 8), Errc::kTargetsCount,
             "targets", 2, 2, 4);
  auto all = test::rich_spec();
  all.label_kind = 0;
  for (auto& pack : all.packs) {
    for (auto& s : pack) s.labels.clear();
  }
  CHECK(check_bytes(build(all).bytes).names() == Names{});
  check_only(with_value<std::uint32_t>(build(all), "targets", 1, 4), Errc::kTargetsCount, "targets", 1, 1, 4);
}

TEST_CASE("a trained token whose id is the ignore index is no target") {
  for (const int label_kind : {0, 1, 2}) {
    test::FileSpec spec{
        .packs = {{{.tokens = {3, 7, 7, 4}, .source = 0}}}, .label_kind = label_kind, .ignore_index = 7};
    auto file = build(spec);
    CHECK(file.get<std::uint32_t>(file.section("targets").offset) == 1);
    CHECK(check_bytes(file.bytes).names() == Names{});
  }
}

TEST_CASE("totals of the header are recounted") {
  for (const auto& [offset, code] :
       {std::pair{72, "targets_count"}, {104, "longest_sequence"}, {108, "longest_sequence"}}) {
    auto file = build(test::rich_spec());
    const auto at = static_cast<std::uint64_t>(offset);
    file.put(at, file.get<std::uint32_t>(at) - 1);
    file.seal_page0();
    const auto found = check_bytes(file.bytes);
    REQUIRE(found.names() == Names{code});
    CHECK(found.findings[0].section == "page 0");
    CHECK(found.findings[0].offset == at);
  }
}

TEST_CASE("a source at or above the sample count is found") {
  check_only(with_value<std::uint32_t>(build(test::rich_spec()), "sources", 5, 6), Errc::kSourceRange,
             "sources", 2, 5, 4);
  auto wide = test::rich_spec();
  wide.samples = std::uint64_t{1} << 33;
  check_only(with_value<std::uint64_t>(build(wide), "sources", 5, std::uint64_t{1} << 33), Errc::kSourceRange,
             "sources", 2, 5, 8);
}

TEST_CASE("fragments of one sample that overlap are found, wherever they stand") {
  check_only(with_value<std::uint32_t>(build(test::rich_spec()), "first_token_positions", 2, 4),
             Errc::kFirstTokenPosition, "first_token_positions", 1, 2, 4);
  // Touching is not overlapping: 0..4 and 5..7.
  CHECK(
      check_bytes(with_value<std::uint32_t>(build(test::rich_spec()), "first_token_positions", 2, 100).bytes)
          .names() == Names{});
  check_only(with_value<std::uint32_t>(build(test::rich_spec()), "first_token_positions", 5, 0x80000000),
             Errc::kFirstTokenPosition, "first_token_positions", 2, 5, 4);
  auto without = test::rich_spec();
  without.first_positions = false;
  check_only(build(without), Errc::kFirstTokenPosition, "sources", 1, 2, 4);
}

TEST_CASE("a long fragment that covers several others overlaps each of them") {
  test::FileSpec spec{.packs = {{{.tokens = {1, 2, 3, 4, 5, 6}, .source = 0},
                                 {.tokens = {1}, .source = 0, .first_position = 1}},
                                {{.tokens = {1}, .source = 0, .first_position = 3},
                                 {.tokens = {7}, .source = 0, .first_position = 6}}},
                      .first_positions = true};
  CHECK(check_bytes(build(spec).bytes).names() == Names{"first_token_position", "first_token_position"});
}

TEST_CASE("sequences rounded up to the alignment fit the capacity") {
  test::FileSpec spec{.packs = {{{.tokens = {1, 2, 3}, .source = 0}, {.tokens = {4, 5, 6, 7}, .source = 1}}},
                      .capacity = 8,
                      .alignment = 4};
  CHECK(check_bytes(build(spec).bytes).names() == Names{});
  spec.packs[0][1].tokens = {4, 5};
  spec.packs[0].push_back({.tokens = {6}, .source = 2});
  check_only(build(spec), Errc::kAlignedSum, "cu_seqlens", 0, 0, 4);
}

TEST_CASE("group numbers start at 0, skip none and stand in one pack") {
  const auto file = build(test::rich_spec());  // 0 1 | 2 3 3 | 4
  check_only(with_value<std::uint32_t>(file, "group", 5, 3), Errc::kGroupNumbers, "group", 2, 5, 4);
  check_only(with_value<std::uint32_t>(file, "group", 5, 5), Errc::kGroupNumbers, "group", std::nullopt, 0,
             4);
  check_only(with_value<std::uint32_t>(file, "group", 5, 4000000000), Errc::kGroupNumbers, "group", 2, 5, 4);
  // Members of a group need not be neighbours for a reader.
  auto apart = with_value<std::uint32_t>(file, "group", 2, 3);
  apart.put<std::uint32_t>(apart.section("group").offset + 12, 2);
  apart.reseal();
  CHECK(check_bytes(apart.bytes).names() == Names{});
}

TEST_CASE("offsets of a ragged column ascend from 0 to the count of values") {
  const auto file = build(test::rich_spec());  // 0 1 1 3 3 3 4
  const auto offsets_row = [&](std::uint64_t row, std::uint64_t value) {
    return with_value(file, "spans", row, value);
  };
  check_only(offsets_row(0, 1), Errc::kRaggedOffsets, "spans", 0, 0, 8);
  check_only(offsets_row(2, 0), Errc::kRaggedOffsets, "spans", 1, 2, 8);
  check_only(offsets_row(6, 3), Errc::kRaggedOffsets, "spans", std::nullopt, 6, 8);
  check_only(offsets_row(6, 5), Errc::kRaggedOffsets, "spans", std::nullopt, 6, 8);
  check_only(offsets_row(3, ~std::uint64_t{0}), Errc::kRaggedOffsets, "spans", 1, 3, 8);
}

TEST_CASE("metadata that is not canonical is found where it stops being so") {
  auto spec = test::rich_spec();
  for (const std::string text : {"", "{", "[]", "{\"a\": 1}", "{\"b\":1,\"a\":2}", "{\"a\":1,\"a\":1}",
                                 "{\"a\":1.5}", "{\"a\":\"\xff\"}", "{\"a\":\"\\u0041\"}", "{\"tool\":7}"}) {
    CAPTURE(text);
    spec.metadata = text;
    CHECK(check_bytes(build(spec).bytes).names() == Names{"metadata"});
  }
  spec.metadata = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  CHECK(check_bytes(build(spec).bytes).names() == Names{"metadata"});
}

TEST_CASE("an account that does not add up or contradicts the header is found") {
  auto spec = test::rich_spec();
  const auto account = [](const std::string& samples_in, const std::string& tokens_stored,
                          const std::string& sequences) {
    return "{\"account\":{\"extra_fragments\":1,\"labels_lost\":0,\"samples_dropped\":0,\"samples_empty\":1,"
           "\"samples_held_out\":0,\"samples_in\":" +
           samples_in +
           ",\"samples_packed\":5,\"samples_skipped\":0,\"samples_split\":1,\"samples_truncated\":0,"
           "\"samples_without_targets\":2,\"sequences\":" +
           sequences +
           ",\"tokens_dropped\":0,\"tokens_held_out\":0,\"tokens_in\":21,\"tokens_skipped\":0,\"tokens_"
           "stored\":" +
           tokens_stored + ",\"tokens_target_only\":0}}";
  };
  spec.metadata = account("6", "21", "6");
  CHECK(check_bytes(build(spec).bytes).names() == Names{});
  spec.metadata = account("7", "21", "6");
  CHECK(check_bytes(build(spec).bytes).names() == Names{"account", "account"});  // the sum, and the header
  spec.metadata = account("6", "18446744073709551615", "6");
  CHECK(check_bytes(build(spec).bytes).names() == Names{"account", "account"});
  spec.metadata = "{\"account\":{}}";  // zeros add up, but the file has samples, tokens and sequences
  CHECK(check_bytes(build(spec).bytes).names() == Names{"account", "account", "account"});
}

TEST_CASE("a refusal at open is the one finding") {
  auto bytes = build(test::rich_spec()).bytes;
  bytes.pop_back();
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const auto found = check_bytes(bytes, mode);
    REQUIRE(found.names() == Names{"file_size"});
    CHECK(found.findings[0].section == "page 0");
  }
  CHECK(check_bytes("").findings.size() == 1);
  CHECK(check_bytes("just text, no more").names() == Names{"not_tokpack"});
}

TEST_CASE("a file that cannot be read is an error, not a finding") {
  const test::TempDir folder;
  const auto none = [](const Finding&) { FAIL("no finding expected"); };
  CHECK(verify(folder.file("none.tpk"), {}, none).error().code == Errc::kIo);
  CHECK(verify(folder.path().string(), {}, none).error().code == Errc::kNotRegularFile);
  CHECK(verify("/dev/zero", {}, none).error().code == Errc::kNotRegularFile);
}

TEST_CASE("findings and their order are the same for any number of threads and either mode") {
  test::FileSpec spec{.capacity = 4, .label_kind = 1, .vocab_size = 100};
  for (std::uint32_t p = 0; p < 3000; ++p) spec.packs.push_back({{.tokens = {p % 100, 1, 2}, .source = p}});
  auto file = build(spec);
  for (std::uint64_t p = 0; p < 3000; p += 37) {
    file.put<std::uint32_t>(file.section("targets").offset + p * 4, 9);
    file.put<std::uint16_t>(file.section("tokens").offset + p * 6, 200);
    file.put<std::int32_t>(file.section("cu_seqlens").offset + (p + 5) * 8, 1);
  }
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), file.bytes);
  const auto describe = [](const test::Checked& checked) {
    Names out;
    for (const auto& f : checked.findings) {
      out.push_back(f.section + " " + std::to_string(f.offset) + " " + f.detail);
    }
    return out;
  };
  const Names one = describe(test::check_file(folder.file("a.tpk")));
  CHECK(one.size() > 240);
  for (const unsigned threads : {2U, 8U, 64U}) {
    CHECK(describe(test::check_file(folder.file("a.tpk"), ReadMode::kMmap, threads)) == one);
    CHECK(describe(test::check_file(folder.file("a.tpk"), ReadMode::kPread, threads)) == one);
  }
}
