// Windows of every size: nothing lost, nothing twice, always an end; carry-over as a pure function.
#include "carry_over.h"
#include "model.h"

using namespace tokpack;
using namespace tokpack::test;
using detail::choose_dissolved;
using detail::PackFill;
using Packs = std::vector<std::uint32_t>;

TEST_CASE("carry-over takes the least filled packs until an eighth is reached, the crossing one included") {
  const std::vector<PackFill> packs = {{9, 9, 0}, {4, 4, 0}, {10, 10, 0}, {5, 5, 0}, {4, 4, 0}};
  CHECK(choose_dissolved(packs, 10, 32) == Packs{4});        // wants 4: the higher number of the two fours
  CHECK(choose_dissolved(packs, 10, 40) == Packs{1, 4});     // wants 5: 4 is not enough
  CHECK(choose_dissolved(packs, 10, 72) == Packs{1, 3, 4});  // wants 9
  CHECK(choose_dissolved(packs, 10, 7) == Packs{});          // an eighth of 7 is nothing
  CHECK(choose_dissolved(packs, 10, 8000) == Packs{0, 1, 3, 4});  // full ones stay
}

TEST_CASE("a pack with a sequence carried 8 times is written") {
  const std::vector<PackFill> packs = {{4, 4, 8}, {5, 5, 7}, {6, 6, 0}};
  CHECK(choose_dissolved(packs, 10, 8) == Packs{1});
}

TEST_CASE("fill counts aligned lengths, the share counts tokens") {
  const std::vector<PackFill> packs = {{8, 3, 0}, {8, 8, 0}, {16, 9, 0}};
  CHECK(choose_dissolved(packs, 16, 72) == Packs{0, 1});  // wants 9: 8 of pack 1, then pack 0
}

TEST_CASE("every window size gives every sample once, for random, sorted and two-part inputs") {
  for (const int kind : {0, 1, 2}) {
    for (const std::uint32_t limit : {0u, 3u}) {
      for (const std::uint32_t alignment : {1u, 4u}) {
        Case c;
        c.form = Form::kMask;
        c.options.plan = {.capacity = 16, .alignment = alignment, .max_sequences = limit};
        c.options.overlong = Overlong::kSplit;
        fill(c, {.samples = 60, .longest = 18}, 5);
        const auto length = [](const Given& s) { return s.tokens.size(); };
        if (kind == 1) {
          std::stable_sort(c.samples.begin(), c.samples.end(),
                           [&](const Given& a, const Given& b) { return length(a) < length(b); });
        }
        if (kind == 2) {  // all of 9 tokens, then all of 6: neither half fills a pack of 16
          for (std::size_t i = 0; i < c.samples.size(); ++i) {
            c.samples[i].tokens.assign(i < 30 ? 9 : 6, 5);
            c.samples[i].labels.assign(i < 30 ? 9 : 6, 1);
          }
        }
        for (std::uint64_t window = 1; window <= 64; ++window) {
          CAPTURE(window);
          c.options.window_tokens = window * 10;
          c.options.threads = 1 + static_cast<unsigned>(window % 2);
          check_packed(c, pack_all(c, window % 5));
        }
      }
    }
  }
}

TEST_CASE("next-fit and concat files do not depend on the window") {
  for (const Strategy strategy : {Strategy::kNextFit, Strategy::kConcat}) {
    Case c;
    c.form = Form::kMask;
    c.options.plan = {.capacity = 16, .max_sequences = 4, .strategy = strategy};
    c.options.overlong = Overlong::kSplit;
    fill(c, {.samples = 80, .longest = 40}, 9);
    c.options.window_tokens = kWindowAll;
    const Packed all = pack_all(c);
    check_packed(c, all);
    for (std::uint64_t window = 1; window < 400; window += 7) {
      c.options.window_tokens = window;
      CHECK(pack_all(c).image == all.image);
    }
  }
}

TEST_CASE("bytes are the same for 1, 2 and 8 threads, one by one or in batches, in another folder and name") {
  Case c;
  c.form = Form::kLabels;
  c.options.plan.capacity = 64;
  c.options.overlong = Overlong::kSplit;
  c.options.window_tokens = 1000;
  fill(c, {.samples = 700, .longest = 80, .largest_id = 66000, .explicit_labels = true}, 3);
  const Packed first = pack_all(c);
  check_packed(c, first);
  for (const unsigned threads : {1u, 2u, 8u}) {
    for (const std::size_t batch : {std::size_t{0}, std::size_t{1}, std::size_t{13}, std::size_t{700}}) {
      c.options.threads = threads;
      const TempDir folder;
      const auto again = try_pack(c, batch, folder.file("another name"));
      REQUIRE(again.ok());
      CHECK((*again).image == first.image);
    }
  }
}

TEST_CASE("a window ends at the sixteenth part of its tokens in sequences") {
  // 64 samples of 1 token, window 64: four sequences each. With capacity 64 one window would give one pack.
  Case c;
  c.options.plan.capacity = 64;
  c.options.window_tokens = 64;
  for (int i = 0; i < 64; ++i) c.samples.push_back({.tokens = {i}});
  const Packed packed = pack_all(c);
  check_packed(c, packed);
  CHECK(NaiveFile(packed.image).n_packs == 16);
}

namespace {

/// 3 Mi tokens in windows of 1 Mi: several blocks of tokens and of labels each, one stretched over two
/// windows. From the middle on ids need u32, and later labels are explicit.
std::string pack_blocks(Strategy strategy, unsigned threads, const std::string& path) {
  WriterOptions options{.plan = {.capacity = 2048, .strategy = strategy},
                        .overlong = Overlong::kSplit,
                        .window_tokens = 1 << 20,
                        .threads = threads,
                        .force = true,
                        .sync = false};
  auto writer = Writer::create(path, options);
  REQUIRE(writer.ok());
  std::mt19937 random(11);
  for (int batch = 0; batch < 96; ++batch) {
    std::vector<std::uint32_t> lengths(64), ids;
    std::vector<std::int32_t> labels;
    for (std::uint32_t& length : lengths) {
      length = 1 + static_cast<std::uint32_t>(random() % 1023);
      for (std::uint32_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<std::uint32_t>(random() % (batch < 50 ? 60'000u : 70'000u)));
        const auto own = static_cast<std::int32_t>(ids.back());
        labels.push_back(random() % 3 == 0 ? -100 : batch < 70 ? own : own / 2);
      }
    }
    const auto ok = writer->add_batch(
        {.tokens = TokenInput(std::span<const std::uint32_t>(ids)), .lengths = lengths, .labels = labels});
    REQUIRE(ok.ok());
  }
  const auto done = std::move(*writer).finish();
  REQUIRE(done.ok());
  CHECK(done->tokens > 3'000'000);
  return read_file(path);
}

}  // namespace

TEST_CASE("threads that share the blocks of a window write what one thread writes") {
  const TempDir folder;
  for (const Strategy strategy : {Strategy::kBestFit, Strategy::kNextFit, Strategy::kConcat}) {
    const std::string one = pack_blocks(strategy, 1, folder.file("one.tpk"));
    const std::string two = pack_blocks(strategy, 2, folder.file("two.tpk"));
    CHECK(one == two);
  }
}
