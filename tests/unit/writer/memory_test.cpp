// No memory, whenever it ends: an error, never an exception or the end of the process, and nothing left
// behind.
#include "heap_watch.h"
#include "model.h"
#include "tokpack/core/reader.h"

using namespace tokpack;
using namespace tokpack::test;

TEST_CASE("a writer that runs out of memory says so, whenever it is, and leaves nothing") {
  const std::vector<std::uint16_t> tokens = {1, 2, 3, 4, 5};
  const std::vector<std::int32_t> labels = {-100, 2, 3, 9, 5}, bad = {0, 0, 0, 0, -7};
  const std::string name = "a name that is longer than a small string.jsonl";
  WriterOptions options{.plan = {.capacity = 8}, .window_tokens = 10, .sync = false};
  options.user = {{"a key that is longer than a small string", "a value that is longer than a small string"}};
  bool needed = true;
  long n = 0;
  for (; needed && n < 5000; ++n) {
    const TempDir folder;
    const std::string path = folder.file("out.tpk");
    const Sample sample{.tokens = TokenInput(std::span(tokens)), .labels = labels};
    const Sample refused{.tokens = TokenInput(std::span(tokens)), .labels = bad};
    bool threw = false;
    std::vector<Errc> codes;
    codes.reserve(100);
    {
      const NoMemoryHereAfter limit(n);
      try {
        auto writer = Writer::create(path, options);
        if (writer) {
          writer->begin_input(name);
          for (int i = 0; i < 20; ++i) {
            if (const auto ok = writer->add(sample); !ok) codes.push_back(ok.error().code);
          }
          if (const auto ok = writer->add(refused);
              !ok && codes.empty() && ok.error().code != Errc::kSampleTokens) {
            codes.push_back(ok.error().code);
          }
          for (int i = 0; i < 2; ++i) (void)writer->add(sample);
          const auto done = std::move(*writer).finish();
          if (done) codes.push_back(Errc::kIo);  // it was refused a sample
          (void)writer->add(sample);
        } else {
          codes.push_back(writer.error().code);
        }
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      needed = NoMemoryHereAfter::was_needed();
    }
    CAPTURE(n);
    CHECK(!threw);
    for (const Errc code : codes) CHECK(code == Errc::kOutOfMemory);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
  CHECK(n > 20);
  CHECK(!needed);
}

TEST_CASE("a reader that runs out of memory says so") {
  const TempDir folder;
  Case c;
  c.options.plan.capacity = 8;
  c.samples = {{.tokens = {1, 2, 3}}, {.tokens = {4}}};
  REQUIRE(try_pack(c, 0, folder.file("in.tpk")).ok());
  const std::string path = folder.file("in.tpk");
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    bool needed = true;
    long n = 0;
    for (; needed && n < 1000; ++n) {
      bool threw = false, wrong = false;
      {
        const NoMemoryHereAfter limit(n);
        try {
          const auto reader = Reader::open(path, {.mode = mode});
          if (reader) {
            for (const std::uint64_t j : {0u, 1u, 99u}) {
              const auto view = reader->sequence(j);
              wrong |= !view && view.error().code != (j == 99 ? Errc::kSequenceRange : Errc::kOutOfMemory) &&
                       view.error().code != Errc::kOutOfMemory;
            }
          } else {
            wrong = reader.error().code != Errc::kOutOfMemory;
          }
        } catch (const std::bad_alloc&) {
          threw = true;
        }
        needed = NoMemoryHereAfter::was_needed();
      }
      CAPTURE(n);
      CHECK(!threw);
      CHECK(!wrong);
    }
    CHECK(!needed);
  }
}
