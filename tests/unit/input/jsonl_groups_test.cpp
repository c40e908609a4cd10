// Groups, roles and weights: what the first record decides, and numbers that run on over inputs.

#include <set>

#include "input_support.h"
#include "tokpack/format/checksum.h"

namespace tokpack::input::test {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

std::uint64_t hash_of(std::string_view text) {
  return format::xxh3_64(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

TEST_CASE("integer keys up to 2^63-1 are kept, texts are hashed into the other half") {
  const Everything read = read_text(
      "{\"tokens\":[1],\"group\":7}\n{\"tokens\":[1],\"group\":\"pair-1\"}\n"
      "{\"tokens\":[1],\"group\":9223372036854775807}\n");
  CHECK_FALSE(read.error);
  CHECK(read.has_groups);
  CHECK(read.all.groups ==
        std::vector<std::uint64_t>{7, hash_of("pair-1") | 1ULL << 63, 9223372036854775807ULL});
}

TEST_CASE("keys that share their 64 bits or their digits are different groups") {
  const Everything read = read_text(
      "{\"tokens\":[1],\"group\":-1}\n{\"tokens\":[1],\"group\":18446744073709551615}\n"
      "{\"tokens\":[1],\"group\":\"-1\"}\n{\"tokens\":[1],\"group\":-2}\n"
      "{\"tokens\":[1],\"group\":18446744073709551614}\n{\"tokens\":[1],\"group\":\"\"}\n");
  CHECK_FALSE(read.error);
  CHECK(std::set<std::uint64_t>(read.all.groups.begin(), read.all.groups.end()).size() == 6);
}

TEST_CASE("records without a group behind grouped ones get keys of their own, over all batches and inputs") {
  const std::string text =
      "{\"tokens\":[1],\"group\":1}\n{\"tokens\":[1]}\n{\"tokens\":[1],\"group\":null}\n{\"tokens\":[1]}\n";
  auto session = make_jsonl_session({.threads = 2, .batch_bytes = 64});
  std::set<std::uint64_t> keys;
  for (int input = 0; input < 2; ++input) {
    const Everything read = read_all(open_jsonl_text(text, "a", session));
    CHECK_FALSE(read.error);
    CHECK(read.batch_samples.size() > 1);
    REQUIRE(read.all.groups.size() == 4);
    CHECK(read.all.groups[0] == 1);
    keys.insert(read.all.groups.begin() + 1, read.all.groups.end());
  }
  CHECK(keys.size() == 6);
  CHECK(keys.count(1) == 0);
}

TEST_CASE("a group where the first record has none is an error") {
  CHECK(error_of(read_text("{\"tokens\":[1]}\n{\"tokens\":[1],\"group\":1}")) ==
        "json_field: in.jsonl:2: field \"group\" stands here but not in the first record, in.jsonl:1; the "
        "first record "
        "decides whether samples are grouped");
  const Everything ungrouped = read_text("{\"tokens\":[1]}");
  CHECK_FALSE(ungrouped.has_groups);
  CHECK(ungrouped.all.groups.empty());
}

TEST_CASE("the group field can be named, and then the first record must have it") {
  const JsonlOptions options{.group_field = "conversation"};
  const Everything read = read_text("{\"tokens\":[1],\"conversation\":3,\"group\":{}}", options);
  CHECK(read.all.groups == std::vector<std::uint64_t>{3});
  CHECK(error_of(read_text("{\"tokens\":[1],\"group\":3}", options)) ==
        "json_field: in.jsonl:1: the first record lacks the group field \"conversation\" that was named");
  CHECK(error_of(read_text("{\"tokens\":[1],\"group\":[3]}")) ==
        "json_field: in.jsonl:1: field \"group\": expected a string or an integer, found [3]");
  CHECK(error_of(read_text("{\"tokens\":[1],\"group\":1.5}"))
            .ends_with("expected a string or an integer, found 1.5"));
}

TEST_CASE("role texts are numbered in order of first appearance, over batches, threads and inputs") {
  std::string first, second;
  Bytes8 expected;
  for (int i = 0; i < 60; ++i) {
    first += "{\"tokens\":[1],\"role\":\"" +
             std::string(i < 30       ? "chosen"
                         : i % 2 == 0 ? "tie"
                                      : "rejected") +
             "\"}\n";
    expected.push_back(static_cast<std::uint8_t>(i < 30 ? 0 : i % 2 == 0 ? 1 : 2));
  }
  second = "{\"tokens\":[1],\"role\":\"new\"}\n{\"tokens\":[1],\"role\":\"rejected\"}\n";
  for (const unsigned threads : {1U, 3U}) {
    auto session = make_jsonl_session({.threads = threads, .batch_bytes = 100});
    const Everything read = read_all(open_jsonl_text(first, "a", session));
    CHECK_FALSE(read.error);
    REQUIRE(read.columns.size() == 1);
    CHECK(read.columns[0].name == "role");
    CHECK(read.columns[0].type == ElementType::kU8);
    CHECK(values_of<std::uint8_t>(read.all.columns[0]) == expected);
    const Everything more = read_all(open_jsonl_text(second, "b", session));
    CHECK(values_of<std::uint8_t>(more.all.columns[0]) == Bytes8{3, 2});
    CHECK(more.roles == std::vector<std::string>{"chosen", "tie", "rejected", "new"});
  }
}

TEST_CASE("the 257th role is an error at its line, wherever batches are cut") {
  std::string text;
  for (int i = 0; i <= 256; ++i) text += "{\"tokens\":[1],\"role\":\"r" + std::to_string(i) + "\"}\n";
  for (const std::uint64_t batch_bytes : Sizes{64, 1000, 1 << 20}) {
    CAPTURE(batch_bytes);
    const Everything read = read_text(text, {.batch_bytes = batch_bytes});
    CHECK(read.all.samples() == 256);
    CHECK(values_of<std::uint8_t>(read.all.columns[0]).back() == 255);
    CHECK(error_of(read) ==
          "json_field: in.jsonl:257: field \"role\": expected one of at most 256 different roles, found "
          "\"r256\"");
  }
}

TEST_CASE("roles as integers are 0 to 255 and stay what they are") {
  const Everything read = read_text("{\"tokens\":[1],\"role\":255}\n{\"tokens\":[1],\"role\":0}");
  CHECK(values_of<std::uint8_t>(read.all.columns[0]) == Bytes8{255, 0});
  CHECK(read.roles.empty());
  CHECK(error_of(read_text("{\"tokens\":[1],\"role\":256}")) ==
        "json_field: in.jsonl:1: field \"role\": expected an integer from 0 to 255, found 256");
  CHECK(error_of(read_text("{\"tokens\":[1],\"role\":\"a\"}\n{\"tokens\":[1],\"role\":1}")) ==
        "json_field: in.jsonl:2: field \"role\": expected a string, one per sample, as in the first record, "
        "found 1");
  CHECK(error_of(read_text("{\"tokens\":[1],\"role\":1}\n{\"tokens\":[1],\"role\":\"a\"}")) ==
        "json_field: in.jsonl:2: field \"role\": expected an integer from 0 to 255, as in the first record, "
        "found \"a\"");
  CHECK(error_of(read_text("{\"tokens\":[1],\"role\":[0]}")) ==
        "json_field: in.jsonl:1: field \"role\": expected a string, or an integer from 0 to 255, one per "
        "sample, found [0]");
}

TEST_CASE("weights are f32; role and weight stand in all records or in none") {
  const Everything read =
      read_text("{\"tokens\":[1],\"weight\":0.5,\"role\":1}\n{\"tokens\":[1],\"role\":2,\"weight\":3}");
  REQUIRE(read.columns.size() == 2);
  CHECK(read.columns[0].name == "role");
  CHECK(read.columns[1].name == "weight");
  CHECK(values_of<float>(read.all.columns[1]) == std::vector<float>{0.5F, 3.0F});
  CHECK(error_of(read_text("{\"tokens\":[1],\"weight\":1}\n{\"tokens\":[1]}")) ==
        "json_field: in.jsonl:2: field \"weight\" is missing; the first record, in.jsonl:1, has it, so every "
        "record "
        "must; give it to all or ignore it");
  CHECK(error_of(read_text("{\"tokens\":[1]}\n{\"tokens\":[1],\"weight\":1}")) ==
        "json_field: in.jsonl:2: field \"weight\" stands here but not in the first record, in.jsonl:1, which "
        "decides "
        "what all have; give it to all or ignore it");
  CHECK(error_of(read_text("{\"tokens\":[1],\"weight\":\"high\"}")) ==
        "json_field: in.jsonl:1: field \"weight\": expected a number that f32 can hold, found \"high\"");
}

}  // namespace
}  // namespace tokpack::input::test
