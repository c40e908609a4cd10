// What the writer refuses, and that it says which sample, where and what. Nothing is left behind.
#include <sys/mman.h>

#include "model.h"
#include "writer_options.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

struct Refusal {
  Errc code{};
  std::string detail;
};

// Packs one good sample, then the case's, and gives the error; checks that the folder is empty afterwards.
Refusal refusal_of(Case c) {
  const TempDir folder;
  Given good{.tokens = {1, 2}};
  if (c.form != Form::kNone) good.labels = {1, 1};
  if (c.form == Form::kLabels) good.labels = {1, 2};
  c.samples.insert(c.samples.begin(), good);
  if (c.options.plan.capacity == 0) c.options.plan.capacity = 8;
  const auto packed = try_pack(c, 0, folder.file("out.tpk"));
  REQUIRE(!packed.ok());
  CHECK(std::filesystem::is_empty(folder.path()));
  return {packed.error().code, packed.error().detail};
}

Errc options_error(const WriterOptions& options) {
  const TempDir folder;
  const Errc code = [&] {
    const auto writer = Writer::create(folder.file("out.tpk"), options);
    return writer.ok() ? Errc{} : writer.error().code;
  }();
  CHECK(std::filesystem::is_empty(folder.path()));
  return code;
}

}  // namespace

TEST_CASE("token ids out of range name sample, position and value") {
  Case c;
  SUBCASE("negative") {
    c.samples.push_back({.tokens = {5, -1}});
    const Refusal r = refusal_of(c);
    CHECK(r.code == Errc::kSampleTokens);
    CHECK(r.detail == "sample 1: token 1 is -1, expected 0 to 2147483647");
  }
  SUBCASE("above 2^31-1") {
    c.samples.push_back({.tokens = {5, 5, 2147483648}});
    CHECK(refusal_of(c).detail == "sample 1: token 2 is 2147483648, expected 0 to 2147483647");
  }
  SUBCASE("at the vocabulary size") {
    c.options.vocab_size = 100;
    c.samples.push_back({.tokens = {99, 100}});
    CHECK(refusal_of(c).detail == "sample 1: token 1 is 100, expected below the vocabulary size 100");
  }
  SUBCASE("too wide for the declared type") {
    c.options.token_type = ElementType::kU16;
    c.samples.push_back({.tokens = {65536}});
    CHECK(refusal_of(c).detail ==
          "sample 1: token 0 is 65536, expected at most 65535, since the token type u16 was asked for; "
          "choose u32");
  }
}

TEST_CASE("every id type is checked and kept exactly") {
  const auto pack = [](const TokenInput& tokens) {
    const TempDir folder;
    auto writer =
        Writer::create(folder.file("t.tpk"), {.plan = {.capacity = 8}, .vocab_size = 60000, .sync = false});
    REQUIRE(writer.ok());
    if (!writer->add({.tokens = tokens}).ok()) return Numbers{};
    REQUIRE(std::move(*writer).finish().ok());
    return NaiveFile(read_file(folder.file("t.tpk"))).packs.at(0).tokens;
  };
  const std::vector<std::uint16_t> u16 = {0, 59999}, u16_bad = {0, 60000};
  const std::vector<std::uint32_t> u32 = {0, 59999}, u32_bad = {0, 60000};
  const std::vector<std::int32_t> i32 = {0, 59999}, i32_bad = {0, -1};
  const std::vector<std::int64_t> i64 = {0, 59999}, i64_bad = {0, std::int64_t{1} << 32};
  CHECK(pack(TokenInput(std::span(u16))) == Numbers{0, 59999});
  CHECK(pack(TokenInput(std::span(u32))) == Numbers{0, 59999});
  CHECK(pack(TokenInput(std::span(i32))) == Numbers{0, 59999});
  CHECK(pack(TokenInput(std::span(i64))) == Numbers{0, 59999});
  CHECK(pack(TokenInput(std::span(u16_bad))).empty());
  CHECK(pack(TokenInput(std::span(u32_bad))).empty());
  CHECK(pack(TokenInput(std::span(i32_bad))).empty());
  CHECK(pack(TokenInput(std::span(i64_bad))).empty());
}

TEST_CASE("labels and masks out of range name sample, position and value") {
  Case c;
  c.form = Form::kLabels;
  c.samples.push_back({.tokens = {5, 6}, .labels = {5, -7}});
  CHECK(refusal_of(c).detail ==
        "sample 1: label 1 is -7, expected the ignore index -100 or an id of 0 to 2147483647");
  c.form = Form::kMask;
  c.samples[0].labels = {1, 2};
  const Refusal r = refusal_of(c);
  CHECK(r.code == Errc::kSampleShape);
  CHECK(r.detail == "sample 1: loss mask 1 is 2, expected 0 or 1");
}

TEST_CASE("labels of another length than the tokens are refused") {
  Case c;
  c.form = Form::kLabels;
  c.samples.push_back({.tokens = {5, 6}, .labels = {5}});
  const Refusal r = refusal_of(c);
  CHECK(r.code == Errc::kSampleShape);
  CHECK(r.detail == "batch that starts with sample 1: the labels are 1, expected 2 (tokens)");
}

TEST_CASE("samples with and without labels do not mix, unless missing ones are to be trained") {
  const std::vector<std::uint16_t> tokens = {4, 5};
  const std::vector<std::int32_t> labels = {-100, 5};
  const auto pack = [&](MissingLabels missing, const std::vector<bool>& with, std::string* detail = nullptr) {
    const TempDir folder;
    auto writer = Writer::create(folder.file("m.tpk"),
                                 {.plan = {.capacity = 8}, .missing_labels = missing, .sync = false});
    REQUIRE(writer.ok());
    REQUIRE(writer->add({.tokens = TokenInput()}).ok());  // an empty sample says nothing about labels
    for (const bool labelled : with) {
      Sample sample{.tokens = TokenInput(std::span(tokens))};
      if (labelled) sample.labels = labels;
      const auto ok = writer->add(sample);
      if (!ok) {
        if (detail != nullptr) *detail = ok.error().detail;
        return std::optional<NaiveFile>();
      }
    }
    REQUIRE(std::move(*writer).finish().ok());
    return std::optional<NaiveFile>(read_file(folder.file("m.tpk")));
  };
  std::string detail;
  CHECK(!pack(MissingLabels::kError, {true, false}, &detail));
  CHECK(detail ==
        "sample 2 has no labels, but the ones before it have some. Give labels to all samples, or let "
        "missing ones be trained in full");
  CHECK(!pack(MissingLabels::kError, {false, true}, &detail));
  CHECK(detail.find("sample 2 has labels, but the ones before it have none") == 0);

  const auto mixed = pack(MissingLabels::kTrain, {false, true});
  REQUIRE(mixed);
  CHECK(mixed->label_kind == 1);
  CHECK(mixed->packs.at(0).labels == Numbers{4, 5, -100, 5});
  const auto none = pack(MissingLabels::kTrain, {false, false});
  REQUIRE(none);
  CHECK(none->label_kind == 0);
  CHECK(none->digest == pack(MissingLabels::kError, {false, false})->digest);
}

TEST_CASE("after an error every call gives that error") {
  const TempDir folder;
  auto writer = Writer::create(folder.file("e.tpk"), {.plan = {.capacity = 8}, .sync = false});
  REQUIRE(writer.ok());
  const std::vector<std::int32_t> bad = {-1}, good = {1};
  CHECK(!writer->add({.tokens = TokenInput(std::span(bad))}).ok());
  const auto again = writer->add({.tokens = TokenInput(std::span(good))});
  REQUIRE(!again.ok());
  CHECK(again.error().code == Errc::kSampleTokens);
  Writer moved = std::move(*writer);
  CHECK(writer->add({.tokens = TokenInput(std::span(good))}).error().code == Errc::kFinished);
  const auto finished = std::move(moved).finish();
  REQUIRE(!finished.ok());
  CHECK(finished.error().code == Errc::kSampleTokens);
}

TEST_CASE("options that contradict each other are refused before anything is made") {
  const WriterOptions good{.plan = {.capacity = 8}};
  CHECK(options_error(good) == Errc{});
  const auto with = [&](auto change) {
    WriterOptions options = good;
    change(options);
    return options_error(options);
  };
  CHECK(with([](WriterOptions& o) { o.plan.capacity = 0; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.plan.alignment = 3; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.threads = 0; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.token_type = ElementType::kI32; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.vocab_size = 0x80000001u; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.pad_id = 0x80000000u; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.pad_id = 65536; }) == Errc{});
  CHECK(with([](WriterOptions& o) { o.pad_id = 65536, o.token_type = ElementType::kU16; }) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.plan.strategy = Strategy::kConcat, o.overlong = Overlong::kDrop; }) ==
        Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.plan.strategy = Strategy::kConcat, o.groups = true; }) ==
        Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.groups = true, o.overlong = Overlong::kSplit; }) == Errc::kOptions);
  const auto column = [&](const ColumnSpec& spec) {
    return with([&](WriterOptions& o) { o.columns = {spec}; });
  };
  CHECK(column({.name = "ok_1"}) == Errc{});
  CHECK(column({.name = "No"}) == Errc::kOptions);
  CHECK(column({.name = ""}) == Errc::kOptions);
  CHECK(column({.name = "tokens"}) == Errc::kOptions);
  CHECK(column({.name = "group"}) == Errc::kOptions);
  CHECK(column({.name = "weight", .type = ElementType::kU8}) == Errc::kOptions);
  CHECK(column({.name = "x", .width = 0}) == Errc::kOptions);
  CHECK(column({.name = "x", .scope = Scope::kPack}) == Errc::kOptions);
  CHECK(column({.name = "x", .scope = Scope::kToken, .ragged = true}) == Errc::kOptions);
  CHECK(with([](WriterOptions& o) { o.columns = {{.name = "x"}, {.name = "x"}}; }) == Errc::kOptions);
  // 16379 sections at most, 11 of them built in: 8184 ragged columns take the other 16368.
  const auto ragged = [&](std::size_t count) {
    WriterOptions options = good;
    for (std::size_t i = 0; i < count; ++i) {
      options.columns.push_back({.name = "c" + std::to_string(i), .ragged = true});
    }
    return detail::check_writer_options(options).ok();
  };
  CHECK(ragged(8184));
  CHECK(!ragged(8185));
  CHECK(!ragged(8188));
}

TEST_CASE("a pad id that needs u32 makes the tokens u32") {
  Case c;
  c.options.plan.capacity = 8;
  c.options.pad_id = 70000;
  c.samples.push_back({.tokens = {1}});
  CHECK(NaiveFile(pack_all(c).image).token_type == 3);
}

TEST_CASE("a file without any token has the token type that was asked for or that the pad id needs") {
  for (const bool padded : {false, true}) {
    CAPTURE(padded);
    Case c;
    c.options.plan.capacity = 8;
    if (padded) {
      c.options.pad_id = 100000;
    } else {
      c.options.token_type = ElementType::kU32;
    }
    c.samples = {{}, {}};
    const TempDir folder;
    REQUIRE(try_pack(c, 0, folder.file("empty.tpk")).ok());
    const auto reader = Reader::open(folder.file("empty.tpk"));
    REQUIRE_MESSAGE(reader.ok(), (reader ? "" : reader.error().detail));
    CHECK(reader->header().token_type == 3);
    CHECK(reader->header().pad_id == c.options.pad_id);
  }
}

TEST_CASE("a sample whose positions do not fit 31 bits is refused, alone or in a batch") {
  constexpr std::size_t kTokens = std::size_t{1} << 31;
  // Pages that are never touched, or all one page of zeros.
  void* zeros = ::mmap(nullptr, kTokens * 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(zeros != MAP_FAILED);
  const TokenInput tokens(std::span(static_cast<const std::uint16_t*>(zeros), kTokens));
  const std::vector<std::uint32_t> lengths = {std::uint32_t{1} << 31};
  const TempDir folder;
  for (const bool alone : {true, false}) {
    auto writer = Writer::create(folder.file("l.tpk"),
                                 {.plan = {.capacity = 8}, .overlong = Overlong::kDrop, .sync = false});
    REQUIRE(writer.ok());
    const auto ok =
        alone ? writer->add({.tokens = tokens}) : writer->add_batch({.tokens = tokens, .lengths = lengths});
    REQUIRE(!ok.ok());
    CHECK(ok.error().code == Errc::kTooLarge);
    CHECK(ok.error().detail ==
          "sample 0 has 2147483648 tokens; at most 2147483647 are possible. Cut it into several samples");
  }
  ::munmap(zeros, kTokens * 2);
}

TEST_CASE("source numbers from 2^32 samples on are 64 bits wide, earlier ones too") {
  const TempDir folder;
  const std::vector<std::uint16_t> tokens = {4, 5};
  const std::uint64_t many = (std::uint64_t{1} << 32) - 1;
  auto writer =
      Writer::create(folder.file("s.tpk"), {.plan = {.capacity = 3}, .window_tokens = 1, .sync = false});
  REQUIRE(writer.ok());
  REQUIRE(writer->add({.tokens = TokenInput(std::span(tokens))}).ok());
  writer->count_skipped(many, 7);
  REQUIRE(writer->add({.tokens = TokenInput(std::span(tokens))}).ok());
  REQUIRE(writer->add({.tokens = TokenInput(std::span(tokens))}).ok());
  writer->count_held_out(2, 9);
  CHECK(writer->samples_in() == many + 5);
  const auto done = std::move(*writer).finish();
  REQUIRE(done.ok());
  CHECK(adds_up(done.value().account));
  const NaiveFile file(read_file(folder.file("s.tpk")));
  CHECK(file.find("sources")->element_type == 4);
  REQUIRE(file.packs.size() == 3);
  CHECK(file.packs[0].sources == Numbers{0});
  CHECK(file.packs[1].sources == Numbers{static_cast<std::int64_t>(many) + 1});
  CHECK(file.packs[2].sources == Numbers{static_cast<std::int64_t>(many) + 2});
}
