// Fields without a meaning, what is noticed about an input, and the end of a wait.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "input_support.h"
#include "temp_dir.h"

namespace tokpack::input::test {
namespace {

using tokpack::test::TempDir;
using tokpack::test::write_file;

/// "name:samples" of each, with a * for lists.
std::string ignored_of(const IgnoredFields& ignored) {
  std::string out;
  for (const IgnoredField& field : ignored.fields)
    out += field.name + ":" + std::to_string(field.samples) + (field.list ? "* " : " ");
  return out;
}

std::string ignored_in(std::string_view text, JsonlOptions options = {}) {
  const auto session = make_jsonl_session(std::move(options));
  const Everything read = read_all(open_jsonl_text(text, "in", session));
  REQUIRE(!read.error);
  return ignored_of(ignored_fields(*session));
}

TEST_CASE("fields without a meaning are counted by samples, in order of appearance; null is none") {
  CHECK(ignored_in("{\"tokens\":[1],\"b\":[],\"a\":1}\n{\"a\":2,\"tokens\":[1],\"c\":null,\"b\":3}\n") ==
        "b:2* a:2 ");
  CHECK(ignored_in("{\"tokens\":[1],\"labels\":[1],\"role\":\"x\",\"weight\":1,\"group\":1}") == "");
  CHECK(ignored_in("{\"tokens\":[1],\"x\":1}", {.columns = {{.name = "x"}}}) == "");
  CHECK(ignored_in("{\"tokens\":[1],\"group\":1}", {.group_field = ""}) == "group:1 ");
  // Twice in one record is one sample; an escaped name is the same one.
  CHECK(ignored_in("{\"tokens\":[1],\"a\":1,\"a\":2,\"\\u0061\":3}") == "a:1 ");
  CHECK(ignored_in("{\"tokens\":[1],\"\":0}") == ":1 ");
}

TEST_CASE("the count of ignored fields depends on neither batches nor threads, and goes on over inputs") {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += "{\"tokens\":[1]";
    for (int k = 0; k < 8; ++k) {
      const int field = (i * 7 + k * k) % 19;
      text += ",\"f" + std::to_string(field) + "\":" + std::to_string(k);
    }
    text += "}\n";
  }
  const std::string expected = ignored_in(text);
  CHECK(std::count(expected.begin(), expected.end(), ' ') == 19);
  for (const unsigned threads : {1u, 3u}) {
    for (const std::uint64_t batch : Sizes{64, 4096})
      CHECK(ignored_in(text, {.threads = threads, .batch_bytes = batch}) == expected);
  }
  const auto session = make_jsonl_session({});
  for (int i = 0; i < 2; ++i)
    CHECK(!read_all(open_jsonl_text("{\"tokens\":[1],\"a\":1}", "in", session)).error);
  CHECK(ignored_of(ignored_fields(*session)) == "a:2 ");
}

TEST_CASE("names of ignored fields take bounded memory") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{\"tokens\":[1],\"k" + std::to_string(i) + "\":1,\"last\":1}\n";
  const auto session = make_jsonl_session({.batch_bytes = 1000});
  CHECK(!read_all(open_jsonl_text(text, "in", session)).error);
  CHECK(ignored_fields(*session).fields.size() == kMaxIgnoredFields);
  CHECK(ignored_fields(*session).more);
  CHECK(ignored_fields(*session).fields[1].name == "last");
  CHECK(ignored_fields(*session).fields[1].samples == 1000);

  // Cut before the character that does not fit.
  const std::string name(kMaxIgnoredNameBytes - 1, 'x');
  CHECK(ignored_in("{\"tokens\":[1],\"" + name + "\xc3\xbc\":1}") == name + ":1 ");
  CHECK(ignored_in("{\"tokens\":[1],\"" + name + "yy\":1,\"" + name + "yz\":1}") == name + "y:1 ");
}

TEST_CASE("an attention mask with zeros among the first records is noted once, with its line") {
  const auto notes_of = [](std::string_view text, JsonlOptions options = {}) {
    auto source = open_jsonl_text(text, "in", make_jsonl_session(std::move(options)));
    REQUIRE(source);
    while (true) {
      auto batch = (*source)->next();
      REQUIRE(batch);
      if (*batch == nullptr) return (*source)->notes();
    }
  };
  const std::string ones = "{\"tokens\":[1,2],\"attention_mask\":[1,1]}\n";
  const std::string zeros = "{\"tokens\":[1,2],\"attention_mask\":[1,0]}\n";
  const std::vector<Note> notes = notes_of("\n" + ones + zeros + zeros, {.threads = 2});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].kind == Note::Kind::kMaskedAttention);
  CHECK(notes[0].text.starts_with("in:3: \"attention_mask\" has zeros"));
  CHECK(notes_of(ones + ones).empty());
  CHECK(notes_of(zeros, {.mask_fields = {"attention_mask"}}).empty());
  CHECK(notes_of("{\"tokens\":[1],\"attention_mask\":[[0]]}\n{\"tokens\":[1],\"attention_mask\":0}").empty());
}

TEST_CASE("a document that does not end and numbers of another width are noted") {
  const TempDir dir;
  const std::string path = dir.file("a.bin");
  const auto notes_of = [&path](std::string_view bytes, const RawOptions& options) {
    write_file(path, bytes);
    auto source = open_raw(path, options);
    REQUIRE(source);
    std::string out;
    while (true) {
      auto batch = (*source)->next();
      REQUIRE(batch);
      if (*batch == nullptr) break;
    }
    for (const Note& note : (*source)->notes()) {
      CHECK(note.text.starts_with(path + ": "));
      out += note.kind == Note::Kind::kUnendedDocument ? "unended " : "wider ";
    }
    return out;
  };
  using namespace std::string_view_literals;
  for (const std::uint64_t batch : Sizes{1, 2, 1000}) {
    const RawOptions u16{.type = ArrayType::kU16, .document_end = 2, .batch_tokens = batch};
    CHECK(notes_of("\1\0\2\0\3\0\2\0"sv, u16) == "");
    CHECK(notes_of("\1\0\2\0\3\0"sv, u16) == "unended ");
    CHECK(notes_of(""sv, u16) == "");
    CHECK(notes_of("\1\0\0\0\2\0\0\0\3\0\0\0\2\0\0\0"sv, u16) == "wider unended ");
    CHECK(notes_of("\1\0\0\0\2\0\0\0\3\0\1\0\2\0\2\0"sv, u16) == "");
    CHECK(notes_of("\1\0\0\0\2\0\0\0\3\0\0\0\2\0\0\0"sv,
                   {.type = ArrayType::kU32, .document_end = 2, .batch_tokens = batch}) == "");
    write_file(path, "\1\0\3\0"sv);
    const Everything read = read_all(open_raw(path, u16));
    CHECK(
        error_of(read).starts_with("input_array: " + path + ": the document end 2 never occurs in 2 tokens"));
    CHECK(read.all.lengths.empty());
  }
}

TEST_CASE("a stop ends the wait for a pipe, after what had come") {
  const TempDir dir;
  std::array<int, 2> stop{};
  REQUIRE(::pipe(stop.data()) == 0);
  const std::string path = dir.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);

  SUBCASE("while nobody writes") {
    REQUIRE(::write(stop[1], "x", 1) == 1);
    CHECK(error_of(read_all(open_jsonl(path, make_jsonl_session({.stop_descriptor = stop[0]})))) ==
          "io: " + path + ": interrupted while waiting for data");
  }
  SUBCASE("while more may come") {
    const int writer = ::open(path.c_str(), O_RDWR);
    REQUIRE(writer >= 0);
    const std::string_view line = "{\"tokens\":[7]}\n";
    REQUIRE(::write(writer, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    std::thread later([&stop] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (::write(stop[1], "x", 1) != 1) std::abort();
    });
    const Everything read = read_all(open_jsonl(path, make_jsonl_session({.stop_descriptor = stop[0]})));
    later.join();
    CHECK(error_of(read) == "io: " + path + ": interrupted while waiting for data");
    ::close(writer);
  }
  SUBCASE("but not the reading of a file") {
    REQUIRE(::write(stop[1], "x", 1) == 1);
    write_file(dir.file("file"), "{\"tokens\":[7]}\n");
    const Everything read =
        read_all(open_jsonl(dir.file("file"), make_jsonl_session({.stop_descriptor = stop[0]})));
    CHECK(!read.error);
    CHECK(read.all.tokens == Ids{7});
  }
  ::close(stop[0]);
  ::close(stop[1]);
}

}  // namespace
}  // namespace tokpack::input::test
