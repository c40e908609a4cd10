// Token ids: every way in which a value is no id, and what the message says.

#include <cstring>

#include "input_support.h"

namespace tokpack::input::test {
namespace {

/// The message for one bad record behind a good one, which must have been delivered.
std::string message(const std::string& bad, const JsonlOptions& options = {}) {
  const Everything read = read_text("{\"input_ids\":[1]}\n" + bad + "\n", options);
  CHECK(read.all.tokens == Ids{1});
  return error_of(read);
}

TEST_CASE("values that are no ids are named with file, line, field, position and text") {
  const std::string expected = "expected an integer from 0 to 2147483647, found ";
  for (const std::string value :
       {"1.0", "1e3", "\"7\"", "null", "[2]", "{\"a\":[1,2]}", "-1", "2147483648", "9223372036854775808",
        "18446744073709551615", "true", "-0.0", "-9223372036854775808"}) {
    CAPTURE(value);
    CHECK(message("{\"input_ids\":[4, 5,6 ," + value + ",7]}") ==
          "json_field: in.jsonl:2: field \"input_ids\", position 3: " + expected + value);
  }
  CHECK(message("{\"x\":[0,{\"input_ids\":[1]}],\"tokens\":[-7]}") ==
        "json_field: in.jsonl:2: field \"tokens\", position 0: " + expected + "-7");
  const std::string long_text = "\"" + std::string(100, 'a') + "\"";
  CHECK(message("{\"tokens\":[" + long_text + "]}") ==
        "json_field: in.jsonl:2: field \"tokens\", position 0: " + expected + "\"" + std::string(39, 'a') +
            "...");
}

TEST_CASE("the largest id is kept exactly") {
  const Everything read = read_text("{\"input_ids\":[2147483647,0,-0,65536,65535]}");
  CHECK_FALSE(read.error);
  CHECK(read.all.tokens == Ids{2147483647, 0, 0, 65536, 65535});
}

TEST_CASE("u16 takes 65535 and refuses 65536") {
  CHECK(read_text("{\"input_ids\":[65535]}", {.u16_only = true}).all.tokens == Ids{65535});
  CHECK(message("{\"input_ids\":[1,65536]}", {.u16_only = true}) ==
        "json_field: in.jsonl:2: field \"input_ids\", position 1: expected an integer from 0 to 65535, found "
        "65536");
}

TEST_CASE("ids must be below the vocabulary size") {
  CHECK(read_text("{\"input_ids\":[49]}", {.vocab_size = 50}).all.tokens == Ids{49});
  CHECK(
      message("{\"input_ids\":[49,50]}", {.vocab_size = 50}) ==
      "json_field: in.jsonl:2: field \"input_ids\", position 1: expected an integer from 0 to 49, found 50");
  CHECK(
      message("{\"input_ids\":[1],\"labels\":null,\"tokens\":null,\"input_ids\":[2]}", {.vocab_size = 50}) ==
      "json_field: in.jsonl:2: field \"input_ids\" stands twice in one record");
}

TEST_CASE("numbers beyond 64 bits are named with their field") {
  CHECK(message("{\"input_ids\":[1,99999999999999999999]}") ==
        "json_field: in.jsonl:2: field \"input_ids\": the number 99999999999999999999 does not fit 64 bits");
  CHECK(message("{\"input_ids\":[1],\"weight\":1e999}") ==
        "json_field: in.jsonl:2: field \"weight\": the number 1e999 does not fit 64 bits");
  // An escaped key may be any field's.
  CHECK(message("{\"input_ids\":[1],\"\\u0069d\":1e999}") ==
        "json_field: in.jsonl:2: field \"\\u0069d\": the number 1e999 does not fit 64 bits");
}

TEST_CASE(
    "numbers beyond 64 bits do no harm in fields without meaning, and whole ones are floats in fields of "
    "those") {
  const std::string text =
      "{\"a\":{\"b\":1},\"id\":{\"c\":[1e999,-99999999999999999999]},\"input_ids\":[1,2],"
      "\"weight\":20000000000000000000,\"z\":123456789012345678901234}\n";
  const Everything read = read_text(text);
  REQUIRE_FALSE(read.error.has_value());
  CHECK(read.all.tokens == std::vector<std::uint32_t>{1, 2});
  REQUIRE(read.all.columns.size() == 1);
  float weight = 0;
  REQUIRE(read.all.columns[0].values.size() == sizeof(weight));
  std::memcpy(&weight, read.all.columns[0].values.data(), sizeof(weight));
  CHECK(weight == 2e19F);
}

TEST_CASE("a record has its tokens once, as a list") {
  CHECK(message("{\"text\":\"a\"}") ==
        "json_field: in.jsonl:2: the record has neither \"input_ids\" nor \"tokens\"");
  CHECK(message("{\"tokens\":[1],\"input_ids\":[1]}") ==
        "json_field: in.jsonl:2: the record has both \"input_ids\" and \"tokens\"; give one");
  CHECK(message("{\"input_ids\":\"1,2\"}") ==
        "json_field: in.jsonl:2: field \"input_ids\": expected a list of token ids, found \"1,2\"");
  CHECK(message("{\"input_ids\":7}") ==
        "json_field: in.jsonl:2: field \"input_ids\": expected a list of token ids, found 7");
}

TEST_CASE("duplicate keys are refused where they have a meaning, in any spelling") {
  CHECK(message("{\"input_ids\":[1],\"input_ids\":[1]}") ==
        "json_field: in.jsonl:2: field \"input_ids\" stands twice in one record");
  CHECK(message("{\"input_ids\":[1],\"input\\u005fids\":[1]}") ==
        "json_field: in.jsonl:2: field \"input_ids\" stands twice in one record");
  CHECK_FALSE(read_text("{\"note\":1,\"input_ids\":[1],\"note\":2}").error);
}

TEST_CASE("fields without a meaning are passed over, whatever they hold") {
  const Everything read = read_text(
      "{\"meta\":{\"input_ids\":[9],\"labels\":1},\"text\":\"\\u0000\\n\",\"input_ids\":[3],\"prefix_len\":"
      "\"x\"}");
  CHECK_FALSE(read.error);
  CHECK(read.all.tokens == Ids{3});
}

TEST_CASE("options that contradict each other are refused when an input is opened") {
  const auto refused = [](JsonlOptions options) {
    return error_of(read_text("{\"tokens\":[1]}", std::move(options)));
  };
  CHECK(refused({.group_field = "labels"}) == "options: group field \"labels\" has another meaning already");
  CHECK(refused({.mask_fields = {"tokens"}}) == "options: mask field \"tokens\" has another meaning already");
  CHECK(refused({.columns = {{.name = "a"}, {.name = "a"}}})
            .starts_with("options: column \"a\": a field of that name"));
  CHECK(refused({.columns = {{.name = "A b"}}})
            .starts_with("options: column 'A b': a name has 1 to 24 characters"));
  CHECK(refused({.columns = {{.name = "labels"}}})
            .starts_with("options: column 'labels' is the name of a built-in"));
  CHECK(refused({.columns = {{.name = "group"}}}).starts_with("options: column 'group' is written from"));
  CHECK(refused({.columns = {{.name = "weight", .type = ElementType::kU8}}}) ==
        "options: column 'weight': the name is reserved for one f32 a sequence; declare it so or choose "
        "another "
        "name");
  CHECK(refused({.columns = {{.name = "a", .width = 0}}})
            .starts_with("options: column 'a': the width must be at least 1"));
  CHECK(refused({.columns = {{.name = "a", .scope = Scope::kToken, .ragged = true}}})
            .starts_with("options: column 'a': only a column of scope sequence can be ragged"));
}

}  // namespace
}  // namespace tokpack::input::test
