// The metadata's JSON: canonical, strict when read, and what the writer puts into it.
#include "model.h"
#include "tokpack/core/metadata.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

std::uint64_t refused_at(std::string_view text) {
  const auto parsed = parse_metadata(text);
  REQUIRE_MESSAGE(!parsed.ok(), std::string(text));
  CHECK(parsed.error().code == Errc::kMetadata);
  return parsed.error().offset;
}

}  // namespace

TEST_CASE("metadata is written with sorted keys, without spaces, and reads back") {
  Metadata m;
  m.account.emplace().samples_in = 3;
  m.eos_id = -1;
  m.inputs = {{"a.jsonl", 0, 2}, {"b", 2, 1}};
  m.overlong = "split";
  m.strategy = "best-fit";
  m.tail = "none";
  m.tool = "t";
  m.planner_version = 1;
  m.roles = {"chosen", "rejected"};
  m.tokenizer_name = "gpt2";
  m.window = ~std::uint64_t{0};
  m.user = {{"z", "\xc3\xa9\n"}, {"a", "1"}};
  const std::string json = to_json(m);
  CHECK(json ==
        "{\"account\":{\"extra_fragments\":0,\"labels_lost\":0,\"samples_dropped\":0,\"samples_empty\":0,"
        "\"samples_held_out\":0,\"samples_in\":3,\"samples_packed\":0,\"samples_skipped\":0,\"samples_split\":0,"
        "\"samples_truncated\":0,\"samples_without_targets\":0,\"sequences\":0,\"tokens_dropped\":0,"
        "\"tokens_held_out\":0,\"tokens_in\":0,\"tokens_skipped\":0,\"tokens_stored\":0,\"tokens_target_only\":0},"
        "\"eos_id\":-1,\"inputs\":[{\"first_sample\":0,\"name\":\"a.jsonl\",\"samples\":2},{\"first_sample\":2,"
        "\"name\":\"b\",\"samples\":1}],\"overlong\":\"split\",\"planner_version\":1,\"roles\":[\"chosen\","
        "\"rejected\"],\"strategy\":\"best-fit\",\"tail\":\"none\",\"tokenizer\":{\"name\":\"gpt2\"},\"tool\":\"t\","
        "\"user\":{\"a\":\"1\",\"z\":\"\xc3\xa9\\n\"},\"window\":\"all\"}");
  const auto back = parse_metadata(json);
  REQUIRE(back.ok());
  CHECK(to_json(back.value()) == json);
  CHECK(back.value().window == ~std::uint64_t{0});
  CHECK(back.value().eos_id == -1);
  CHECK(back.value().account == m.account);

  m.account.reset();  // absent, which is not the same as zeros
  CHECK(to_json(m).find("account") == std::string::npos);
  CHECK(!parse_metadata(to_json(m)).value().account);
  CHECK(parse_metadata("{\"account\":{}}").value().account == Account{});
}

TEST_CASE("metadata that is not canonical is refused where it differs") {
  CHECK(parse_metadata("{}").ok());
  CHECK(parse_metadata("{\"unknown\":[1,{\"x\":\"y\"}]}").ok());
  CHECK(refused_at("{ }") == 1);
  CHECK(refused_at("{\"b\":1,\"a\":2}") == 2);
  CHECK(refused_at("{\"a\":\"\\u0041\"}") == 6);
  refused_at("");
  refused_at("[]");
  refused_at("{\"a\":1");
  refused_at("{\"a\":1}x");
  refused_at("{\"a\":1,\"a\":1}");
  refused_at("{\"a\":1.5}");
  refused_at("{\"a\":1e3}");
  refused_at("{\"a\":18446744073709551616}");
  refused_at("{\"a\":true}");
  refused_at("{\"a\":null}");
  refused_at("{\"a\":\"\xff\"}");
  refused_at("{\"a\":-0}");
  refused_at("\xef\xbb\xbf{}");
  const std::string deep = "{\"a\":" + std::string(15, '[') + std::string(15, ']') + "}";
  CHECK(parse_metadata(deep).ok());
  refused_at("{\"a\":" + std::string(16, '[') + std::string(16, ']') + "}");
  refused_at(std::string(100000, '['));
}

TEST_CASE("metadata holds at most 262144 values, so that it cannot fill the memory") {
  const auto values = [](std::size_t count) {  // the object, the array and what is in it
    std::string text = "{\"x\":[";
    for (std::size_t i = 2; i < count; ++i) text += i == 2 ? "[]" : ",[]";
    return text + "]}";
  };
  CHECK(parse_metadata(values(262144)).ok());
  const auto refused = parse_metadata(values(262145));
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == Errc::kMetadata);
  CHECK(refused.error().detail == "metadata: more than 262144 values");

  const TempDir folder;
  WriterOptions options{.plan = {.capacity = 8}, .sync = false};
  for (int i = 0; i < 262144; ++i) options.user[std::to_string(i)] = "";
  auto writer = Writer::create(folder.file("m.tpk"), options);
  REQUIRE(writer.ok());
  const auto done = std::move(*writer).finish();
  REQUIRE(!done.ok());
  CHECK(done.error().code == Errc::kTooLarge);
  CHECK(done.error().detail == "metadata: more than 262144 values. Give fewer texts or inputs");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("known fields of another type are refused, with their name") {
  const auto detail = [](std::string_view text) {
    const auto parsed = parse_metadata(text);
    REQUIRE(!parsed.ok());
    return parsed.error().detail;
  };
  CHECK(detail("{\"account\":{\"samples_in\":-1}}") ==
        "metadata: field account.samples_in is not an integer of 0 or more, in range");
  CHECK(detail("{\"bos_id\":\"x\"}") == "metadata: field bos_id is not an integer");
  CHECK(detail("{\"inputs\":{}}") == "metadata: field inputs is not an array");
  CHECK(detail("{\"planner_version\":4294967296}") ==
        "metadata: field planner_version is not an integer of 0 or more, in range");
  CHECK(detail("{\"user\":{\"a\":1}}") == "metadata: field user holds something that is not a string");
}

TEST_CASE("the writer's metadata names inputs by base name, with their samples") {
  const TempDir folder;
  WriterOptions options{.plan = {.capacity = 8}, .bos_id = 1, .tokenizer_name = "tok", .user = {{"k", "v"}}};
  options.sync = false;
  auto writer = Writer::create(folder.file("m.tpk"), options);
  REQUIRE(writer.ok());
  const std::vector<std::uint16_t> tokens = {4, 5};
  writer->begin_input("some/where/a.jsonl");
  REQUIRE(writer->add({.tokens = TokenInput(std::span(tokens))}).ok());
  REQUIRE(writer->add({.tokens = TokenInput()}).ok());
  writer->begin_input("b\xff.bin");
  writer->count_skipped(3, 30);
  writer->set_roles({"chosen"});
  const auto done = std::move(*writer).finish();
  REQUIRE(done.ok());
  const NaiveFile file(read_file(folder.file("m.tpk")));
  const auto parsed = parse_metadata(file.metadata);
  REQUIRE_MESSAGE(parsed.ok(), (parsed ? "" : parsed.error().detail));
  const Metadata& m = parsed.value();
  REQUIRE(m.inputs.size() == 2);
  CHECK(m.inputs[0].name == "a.jsonl");
  CHECK(m.inputs[0].samples == 2);
  CHECK(m.inputs[1].name == "b\xef\xbf\xbd.bin");
  CHECK(m.inputs[1].first_sample == 2);
  CHECK(m.inputs[1].samples == 3);
  CHECK(m.account == done.value().account);
  CHECK(m.strategy == "best-fit");
  CHECK(m.window == std::uint64_t{64} << 20);
  CHECK(m.roles == std::vector<std::string>{"chosen"});
  CHECK(m.user.at("k") == "v");
  CHECK(m.bos_id == 1);
}

TEST_CASE("texts for the metadata that are no UTF-8 are refused and shown escaped") {
  const TempDir folder;
  const auto refusal = [&](auto change) {
    WriterOptions options{.plan = {.capacity = 8}, .sync = false};
    change(options);
    const auto writer = Writer::create(folder.file("u.tpk"), options);
    if (writer) return std::string();
    CHECK(writer.error().code == Errc::kOptions);
    return writer.error().detail;
  };
  CHECK(refusal([](WriterOptions& o) { o.user["a\xff"] = "1"; }) ==
        "the metadata key is 'a\\xff', which is not UTF-8; metadata holds UTF-8 alone");
  CHECK(refusal([](WriterOptions& o) { o.user["a"] = "\xc3"; }) ==
        "the metadata value of 'a' is '\\xc3', which is not UTF-8; metadata holds UTF-8 alone");
  CHECK(refusal([](WriterOptions& o) { o.tokenizer_name = "\xed\xa0\x80"; }) ==  // a surrogate
        "the tokenizer name is '\\xed\\xa0\\x80', which is not UTF-8; metadata holds UTF-8 alone");
  CHECK(refusal([](WriterOptions& o) { o.tokenizer_sha256 = "\xc0\xaf"; }) != "");  // overlong
  CHECK(refusal([](WriterOptions& o) { o.user["\xf4\x90\x80\x80"] = ""; }) != "");  // above U+10FFFF
  CHECK(refusal([](WriterOptions& o) { o.user["\xf4\x8f\xbf\xbf"] = "\xc2\x80\n"; }) == "");

  auto writer = Writer::create(folder.file("r.tpk"), {.plan = {.capacity = 8}, .sync = false});
  REQUIRE(writer.ok());
  writer->set_roles({"chosen", "\xfe"});
  const auto done = std::move(*writer).finish();
  REQUIRE(!done.ok());
  CHECK(done.error().code == Errc::kOptions);
}

TEST_CASE("an account that does not add up is told from one that does, without wrapping") {
  Account a;
  CHECK(adds_up(a));
  a.samples_in = a.samples_packed = a.sequences = 2;
  CHECK(adds_up(a));
  a.samples_dropped = ~std::uint64_t{0};
  a.samples_empty = 1;  // the sum of all parts wraps round to 2
  CHECK(!adds_up(a));
}
