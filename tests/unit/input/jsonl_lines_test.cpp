// Lines, line ends, encodings: what a record is and what the message says when it is none.

#include "input_support.h"

namespace tokpack::input::test {
namespace {

TEST_CASE("a record a line becomes a sample") {
  const Everything read = read_text("{\"input_ids\":[1,2,3]}\n{\"tokens\":[4]}\n{\"input_ids\":[]}\n");
  CHECK_FALSE(read.error);
  CHECK(read.all.tokens == Ids{1, 2, 3, 4});
  CHECK(read.all.lengths == Ids{3, 1, 0});
  CHECK(read.all.label_form == SampleBatch::Labels::kNone);
  CHECK(read.where == std::vector<std::string>{"in.jsonl:1", "in.jsonl:2", "in.jsonl:3"});
}

TEST_CASE("an empty input and one of blank lines have no samples") {
  for (const std::string_view text : {"", "\n", " \t\r\n\n  ", "\xef\xbb\xbf", "\xef\xbb\xbf\n"}) {
    CAPTURE(text);
    const Everything read = read_text(text);
    CHECK_FALSE(read.error);
    CHECK(read.batch_samples.empty());
  }
}

TEST_CASE("blank lines are skipped but counted") {
  const Everything read = read_text("\n{\"tokens\":[1]}\n \t \n\r\n{\"tokens\":[2]}\n\n");
  CHECK_FALSE(read.error);
  CHECK(read.all.tokens == Ids{1, 2});
  CHECK(read.where == std::vector<std::string>{"in.jsonl:2", "in.jsonl:5"});
}

TEST_CASE("CRLF, a byte order mark and a last line without newline are fine") {
  const Everything read = read_text("\xef\xbb\xbf{\"tokens\":[1]}\r\n{\"tokens\":[2]}\r\n{\"tokens\":[3]}");
  CHECK_FALSE(read.error);
  CHECK(read.all.tokens == Ids{1, 2, 3});
}

TEST_CASE("a truncated last line is an error with its number, after everything before it") {
  const std::string whole = "{\"tokens\":[1,2]}\n{\"tokens\":[3,4],\"labels\":null,\"t\":\"a\\u00e9\"}";
  const std::size_t second = whole.find('\n') + 1;
  for (std::size_t cut = second + 1; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    const Everything read = read_text(whole.substr(0, cut));
    CHECK(read.all.tokens == Ids{1, 2});
    CHECK(error_of(read).starts_with("json_syntax: in.jsonl:2: the record is cut: "));
    CHECK(read.error->detail.ends_with("; the input ends within this line"));
    CHECK(read.error->offset == second);
  }
}

TEST_CASE("what is not one object on a line is named") {
  const auto message = [](std::string_view bad) {
    const std::string text = "{\"tokens\":[1]}\n" + std::string(bad) + "\n{\"tokens\":[2]}\n";
    const Everything read = read_text(text);
    CHECK(read.all.tokens == Ids{1});
    return error_of(read);
  };
  CHECK(
      message("{\"tokens\":[1]}{\"tokens\":[1]}") ==
      "json_syntax: in.jsonl:2: expected one JSON document a line, found more behind the first, at byte 15: "
      "{\"tokens\":[1]}");
  CHECK(message("{\"tokens\":[1]} 7")
            .starts_with("json_syntax: in.jsonl:2: expected one JSON document a line"));
  CHECK(message("[1,2]") == "json_syntax: in.jsonl:2: expected one JSON object a line, found [1,2]");
  CHECK(message("7") == "json_syntax: in.jsonl:2: expected one JSON object a line, found 7");
  CHECK(message("\"a\"") == "json_syntax: in.jsonl:2: expected one JSON object a line, found \"a\"");
  CHECK(message("{\"tokens\":[1,]}") ==
        "json_syntax: in.jsonl:2: not JSON: expected a value at byte 14 of the line, found ]}");
  CHECK(message("{\"tokens\":[01]}") ==
        "json_syntax: in.jsonl:2: not JSON: expected a number without leading zeros at byte 12 of the line, "
        "found "
        "01]}");
  CHECK(message("{tokens:[1]}") ==
        "json_syntax: in.jsonl:2: not JSON: expected a quoted key at byte 2 of the line, found tokens:[1]}");
  CHECK(message("{\"tokens\":[1] \"a\":2}") ==
        "json_syntax: in.jsonl:2: not JSON: expected a comma or } at byte 15 of the line, found \"a\":2}");
  CHECK(message("{\"tokens\":[1],\"t\":\"\x1b[31m\"}") ==
        "json_syntax: in.jsonl:2: not JSON: expected no control character within a string at byte 20 of the "
        "line, "
        "found \\x1b[31m\"}");
  CHECK(message("{\"tokens\":[1],\"t\":\"\\q\"}")
            .starts_with("json_syntax: in.jsonl:2: not JSON: expected one of"));
  CHECK(
      message("{\"tokens\":[1],\"deep\":" + std::string(2000, '[') + std::string(2000, ']') + "}")
          .starts_with("json_syntax: in.jsonl:2: not JSON: expected at most 1024 levels of brackets (flatten "
                       "the field or leave it out) at byte 1045 of the line, found [[["));
  CHECK(message("{\"tokens\":[1],\"t\":\"\\ud83d!\"}") ==
        "json_syntax: in.jsonl:2: not JSON: expected \\udc00 to \\udfff behind a high surrogate, or the "
        "character itself, at byte 20 of the line, found \\ud83d!\"}");
  CHECK(message("{\"tokens\":[1],\"t\":\"\\udfff\"}") ==
        "json_syntax: in.jsonl:2: not JSON: expected \\ud800 to \\udbff before a low surrogate, or the "
        "character itself, at byte 20 of the line, found \\udfff\"}");
}

TEST_CASE("brackets 1024 deep and surrogate pairs are JSON") {
  for (const std::string& value :
       {std::string(1023, '[') + std::string(1023, ']'), std::string("\"\\ud83d\\ude00\"")}) {
    CHECK(read_text("{\"tokens\":[1],\"a\":" + value + "}").all.tokens == Ids{1});
  }
}

TEST_CASE("invalid UTF-8 is named with its line and byte") {
  const auto message = [](std::string_view bytes) {
    return error_of(read_text("{\"tokens\":[1]}\n{\"t\":\"" + std::string(bytes) + "\",\"tokens\":[1]}\n"));
  };
  CHECK(message("\xff").starts_with("input_encoding: in.jsonl:2: byte 7 of the line is not UTF-8: \\xff"));
  CHECK(
      message("ab\xc3(").starts_with("input_encoding: in.jsonl:2: byte 9 of the line is not UTF-8: \\xc3("));
  CHECK(message("\xed\xa0\x80").starts_with("input_encoding: in.jsonl:2: byte 7"));
  CHECK(message("\xc0\x80").starts_with("input_encoding: in.jsonl:2: byte 7"));
  CHECK(message("\xf4\x90\x80\x80").starts_with("input_encoding: in.jsonl:2: byte 7"));
  CHECK_FALSE(read_text("{\"t\":\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\",\"tokens\":[1]}").error);
}

TEST_CASE("a line longer than a batch, and than simdjson's 24-bit count of elements, is one sample") {
  constexpr std::size_t kTokens = (std::size_t{1} << 24) + 3;  // about 50 MB of text
  std::string line = "{\"input_ids\":[";
  for (std::size_t i = 0; i < kTokens; ++i) line += i % 1000 == 999 ? "70000," : "7,";
  line.back() = ']';
  line += "}\n";
  const std::string text = "{\"input_ids\":[1]}\n" + line + "{\"input_ids\":[2]}\n";
  const Everything read = read_text(text);
  CHECK_FALSE(read.error);
  CHECK(read.all.lengths == Ids{1, kTokens, 1});
  std::uint64_t sum = 0;
  for (const std::uint32_t id : read.all.tokens) sum += id;
  CHECK(sum == 3 + 7 * (kTokens - kTokens / 1000) + 70000 * (kTokens / 1000));
}

TEST_CASE("batches are cut by bytes alone and hold whole samples") {
  std::string text;
  Ids expected;
  for (std::uint32_t i = 0; i < 500; ++i) {
    text += "{\"tokens\":[" + std::to_string(i) + "," + std::to_string(7 * i) + "]}\n";
    expected.push_back(i);
    expected.push_back(7 * i);
  }
  std::vector<std::size_t> shape;
  for (const unsigned threads : {1U, 2U, 5U}) {
    const Everything read = read_text(text, {.threads = threads, .batch_bytes = 300});
    CHECK_FALSE(read.error);
    CHECK(read.all.tokens == expected);
    CHECK(read.batch_samples.size() > 20);
    if (threads == 1) shape = read.batch_samples;
    CHECK(read.batch_samples == shape);
    CHECK(read.where[499] == "in.jsonl:500");
  }
}

TEST_CASE("an error comes after all samples before it, for any number of threads") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += i == 150 ? "{\"tokens\":[1.5]}\n" : "{\"tokens\":[1]}\n";
  for (const unsigned threads : {1U, 3U}) {
    const Everything read = read_text(text, {.threads = threads, .batch_bytes = 100});
    CHECK(read.all.samples() == 150);
    CHECK(error_of(read) ==
          "json_field: in.jsonl:151: field \"tokens\", position 0: expected an integer from 0 to 2147483647, "
          "found "
          "1.5");
  }
}

}  // namespace
}  // namespace tokpack::input::test
