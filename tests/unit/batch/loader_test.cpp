// Batches ahead of the trainer: the sampler's order whatever the threads, exact state, and a clean end.
#include "tokpack/core/loader.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "file_builder.h"
#include "temp_dir.h"

using namespace tokpack;
using I64 = std::vector<std::int64_t>;

namespace {

constexpr std::uint32_t kLength = 6;

/// 23 packs: pack p holds p % 3 + 1 sequences of tokens that name it.
std::string write_packs(const test::TempDir& folder) {
  test::FileSpec spec{.capacity = kLength};
  std::uint64_t source = 0;
  for (std::uint32_t p = 0; p < 23; ++p) {
    auto& pack = spec.packs.emplace_back();
    for (std::uint32_t s = 0; s <= p % 3; ++s)
      pack.push_back({.tokens = {100 + p, 200 + s}, .source = source++});
  }
  test::write_file(folder.file("a.tpk"), test::build(spec).bytes);
  return folder.file("a.tpk");
}

Reader open(const std::string& path, ReadMode mode = ReadMode::kAuto) {
  auto reader = Reader::open(path, {.mode = mode});
  REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
  return *reader;
}

Loader make(const Reader& reader, const LoaderOptions& options, const SamplerState* resume = nullptr) {
  auto loader = Loader::create(reader, options, resume);
  REQUIRE_MESSAGE(loader.ok(), loader.error().detail);
  return std::move(*loader);
}

I64 copy_ids(const LoadedBatch& batch, std::size_t rows) {
  const std::int64_t* ids = batch.rows.input_ids.wide();
  return {ids, ids + rows * kLength};
}

/// The ids of the next batches, each asked for by hand.
std::vector<I64> by_hand(const Reader& reader, const SamplerOptions& options, std::size_t count) {
  auto sampler = Sampler::create(reader.packs(), reader.header().content_digest, options);
  REQUIRE(sampler.ok());
  std::vector<I64> out;
  std::vector<std::uint64_t> packs(options.batch);
  for (std::size_t i = 0; i < count; ++i, sampler->advance()) {
    sampler->rows(packs);
    I64 ids(options.batch * kLength);
    REQUIRE(fill_rows(reader, packs, {.row_length = kLength}, {.input_ids = ids.data()}).ok());
    out.push_back(ids);
  }
  return out;
}

std::vector<I64> by_loader(Loader& loader, std::size_t rows, std::size_t count) {
  std::vector<I64> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto batch = loader.next();
    REQUIRE_MESSAGE(batch.ok(), batch.error().detail);
    out.push_back(copy_ids(**batch, rows));
  }
  return out;
}

}  // namespace

TEST_CASE("a loader of any number of threads hands out the sampler's batches, over epochs") {
  const test::TempDir folder;
  const std::string path = write_packs(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const Reader reader = open(path, mode);
    for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad, Remainder::kWrap}) {
      const SamplerOptions sampler{.seed = 5, .remainder = remainder, .batch = 3, .ranks = 2, .rank = 1};
      const auto expected = by_hand(reader, sampler, 30);
      for (const unsigned threads : {0u, 1u, 2u, 5u}) {
        for (const std::size_t ahead : {1u, 2u, 7u}) {
          for (const std::size_t kept : {1u, 3u}) {
            Loader loader =
                make(reader, {.sampler = sampler, .threads = threads, .ahead = ahead, .kept = kept});
            CHECK(by_loader(loader, 3, 30) == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("a loader's state counts what was handed out alone, and a run resumed from it goes on exactly") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const SamplerOptions sampler{.seed = 8, .batch = 4};
  const auto expected = by_hand(reader, sampler, 20);
  for (std::size_t stop = 0; stop < 12; ++stop) {
    Loader loader = make(reader, {.sampler = sampler, .threads = 2, .ahead = 6});
    by_loader(loader, 4, stop);
    const SamplerState state = loader.state();
    CHECK(state.epoch * 5 + state.cursor / 4 == stop);  // 23 packs: 5 steps of 4 each epoch
    Loader resumed = make(reader, {.sampler = {.batch = 4}, .ahead = 3}, &state);
    CHECK(by_loader(resumed, 4, 8) ==
          std::vector<I64>(expected.begin() + static_cast<std::ptrdiff_t>(stop),
                           expected.begin() + static_cast<std::ptrdiff_t>(stop) + 8));
  }
}

TEST_CASE("a loader without threads fills in next() and counts the same") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const SamplerOptions sampler{.seed = 8, .batch = 4};
  const auto expected = by_hand(reader, sampler, 9);
  Loader loader = make(reader, {.sampler = sampler, .threads = 0});
  by_loader(loader, 4, 7);
  const SamplerState state = loader.state();
  CHECK(state.epoch == 1);
  CHECK(state.cursor == 8);
  Loader resumed = make(reader, {.sampler = {.batch = 4}, .threads = 0}, &state);
  CHECK(by_loader(resumed, 4, 2) == std::vector<I64>(expected.begin() + 7, expected.end()));
}

TEST_CASE("the length of a loader is the number of batches that come") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad}) {
    Loader loader = make(reader, {.sampler = {.remainder = remainder, .batch = 4}});
    CHECK(loader.steps() == (remainder == Remainder::kDrop ? 5 : 6));
    for (std::uint64_t left = loader.steps(); left > 0; --left) {
      CHECK(loader.steps_left() == left);
      const auto batch = loader.next();
      REQUIRE(batch.ok());
      CHECK((*batch)->position.epoch == 0);
    }
    CHECK(loader.steps_left() == loader.steps());
    CHECK((*loader.next())->position == Sampler::Position{1, 0});
  }
}

TEST_CASE("batches that were handed out stay as they are until `kept` more were, whatever the threads do") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const SamplerOptions sampler{.batch = 2};
  const auto expected = by_hand(reader, sampler, 60);
  Loader loader = make(reader, {.sampler = sampler, .threads = 3, .ahead = 2, .kept = 3});
  std::vector<const LoadedBatch*> held;
  for (std::size_t i = 0; i < 60; ++i) {
    held.push_back(*loader.next());
    std::this_thread::yield();
    for (std::size_t k = i >= 2 ? i - 2 : 0; k <= i; ++k) CHECK(copy_ids(*held[k], 2) == expected[k]);
  }
}

TEST_CASE(
    "buffers given instead of those that a call takes back keep a batch as it is, whatever the threads do") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const SamplerOptions sampler{.batch = 2};
  const auto expected = by_hand(reader, sampler, 40);
  for (const std::size_t kept : {1u, 3u}) {
    std::vector<I64> buffers(2 + kept + 40, I64(2 * kLength));
    std::vector<RowOutputs> ring(2 + kept);
    for (std::size_t i = 0; i < ring.size(); ++i) ring[i] = {.input_ids = buffers[i].data()};
    auto loader = Loader::create(reader, {.sampler = sampler, .threads = 3, .ahead = 2, .kept = kept}, ring);
    REQUIRE(loader.ok());
    std::vector<const std::int64_t*> handed_out;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto batch =
          i < kept ? loader->next() : loader->next({.input_ids = buffers[2 + kept + i - kept].data()});
      REQUIRE(batch.ok());
      handed_out.push_back((*batch)->rows.input_ids.wide());
      std::this_thread::yield();
    }
    for (std::size_t i = 0; i < 40; ++i)
      CHECK(I64(handed_out[i], handed_out[i] + 2 * kLength) == expected[i]);
  }
}

TEST_CASE("a loader gives what was asked for: labels, targets, positions, intervals, targets of the step") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const SamplerOptions sampler{.shuffle = false, .batch = 1, .ranks = 2};
  Loader loader = make(reader, {.sampler = sampler,
                                .rows = {.intervals = {.family = MaskFamily::kBidirectional}},
                                .labels = true,
                                .targets = true,
                                .position_ids = true,
                                .intervals = true,
                                .document_ids = true,
                                .boundaries = true,
                                .step_targets = true});
  (void)loader.next();
  const LoadedBatch& batch = **loader.next();  // rows 2 and 3: this rank's is pack 2 of three sequences
  const auto row = [](const auto* data) { return I64(data, data + kLength); };
  CHECK(batch.packs == std::vector<std::uint64_t>{2});
  CHECK(row(batch.rows.input_ids.wide()) == I64{102, 200, 102, 201, 102, 202});
  CHECK(row(batch.rows.labels) == I64{-100, 200, -100, 201, -100, 202});
  CHECK(row(batch.rows.targets) == I64{200, -100, 201, -100, 202, -100});
  CHECK(row(batch.rows.position_ids.wide()) == I64{0, 1, 0, 1, 0, 1});
  CHECK(row(batch.rows.lo) == I64{0, 0, 2, 2, 4, 4});
  CHECK(row(batch.rows.hi) == I64{1, 1, 3, 3, 5, 5});
  CHECK(row(batch.rows.document_ids) == I64{0, 0, 1, 1, 2, 2});
  REQUIRE(loader.max_sequences() >= 3);
  CHECK(I64(batch.rows.boundaries, batch.rows.boundaries + 4) == I64{0, 2, 4, 6});
  CHECK(batch.rows.lengths[0] == 6);
  CHECK(batch.counts.targets == 3);
  CHECK(batch.step_targets == 3 + 1);
  CHECK(batch.step_label_targets == 3 + 1);
}

TEST_CASE("an error comes at the batch that has it, and again at every later call") {
  const test::TempDir folder;
  const std::string path = write_packs(folder);
  const Reader intact = open(path);
  // Pack 9's boundaries: its second entry becomes 0.
  std::uint64_t offset = 0;
  for (const auto& section : intact.layout().sections) {
    if (section.kind == static_cast<std::uint16_t>(format::SectionKind::kCuSeqlens)) offset = section.offset;
  }
  const auto pack = intact.pack(9);
  const std::uint64_t entry = offset + (pack->first_sequence() + 9 + 1) * 4;
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry));
    file.write("\0\0\0\0", 4);
  }
  for (const unsigned threads : {0u, 1u, 4u}) {
    Loader loader =
        make(open(path), {.sampler = {.shuffle = false, .batch = 2}, .threads = threads, .ahead = 5});
    for (int step = 0; step < 4; ++step) REQUIRE(loader.next().ok());
    for (int again = 0; again < 3; ++again) {
      const auto bad = loader.next();
      REQUIRE_FALSE(bad.ok());
      CHECK(bad.error().code == Errc::kCuSeqlens);
    }
    CHECK(loader.state().cursor == 8);
  }
}

TEST_CASE("loaders that are abandoned stop their threads, however far they are") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  for (int round = 0; round < 40; ++round) {
    Loader one = make(reader, {.sampler = {.batch = 3}, .threads = 1 + static_cast<unsigned>(round % 4)});
    Loader two = make(reader, {.sampler = {.batch = 2}, .threads = 2, .ahead = 8});
    for (int i = 0; i < round % 5; ++i) REQUIRE(one.next().ok());
    if (round % 3 == 0) {
      one = std::move(two);  // the first one's threads end here
      REQUIRE(one.next().ok());
    }
  }
}

TEST_CASE("two loaders at once from two threads") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const auto expected = by_hand(reader, {.seed = 1, .batch = 3}, 40);
  std::vector<I64> first, second;
  const auto run = [&reader](std::vector<I64>& out) {
    auto loader = Loader::create(reader, {.sampler = {.seed = 1, .batch = 3}, .threads = 2});
    for (int i = 0; i < 40 && loader; ++i) out.push_back(copy_ids(**loader->next(), 3));
  };
  std::thread other(run, std::ref(second));
  run(first);
  other.join();
  CHECK(first == expected);
  CHECK(second == expected);
}

TEST_CASE("the caller's buffers are a ring of ahead + kept") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options{.sampler = {.batch = 2}, .ahead = 2, .kept = 1};
  std::vector<I64> memory(3, I64(2 * kLength, 77));
  std::vector<RowOutputs> ring;
  for (I64& ids : memory) ring.push_back({.input_ids = ids.data()});
  const auto expected = by_hand(reader, options.sampler, 6);
  {
    auto loader = Loader::create(reader, options, ring);
    REQUIRE(loader.ok());
    for (std::size_t i = 0; i < 6; ++i) {
      const LoadedBatch& batch = **loader->next();
      CHECK(batch.slot == i % 3);
      CHECK(memory[batch.slot] == expected[i]);
    }
  }
  ring.pop_back();
  const auto wrong = Loader::create(reader, options, ring);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().detail == "a ring of 2 buffers, expected ahead + kept = 3");
}

TEST_CASE("options that make no loader") {
  const test::TempDir folder;
  const Reader reader = open(write_packs(folder));
  const auto code = [&reader](const LoaderOptions& options) {
    const auto made = Loader::create(reader, options);
    return made.ok() ? Errc{} : made.error().code;
  };
  CHECK(code({.sampler = {.batch = 24}}) == Errc::kOptions);
  CHECK(code({.threads = 65537}) == Errc::kOptions);
  CHECK(code({.ahead = 0}) == Errc::kOptions);
  CHECK(code({.kept = 0}) == Errc::kOptions);
  // 2^64 + 64 bytes of ids.
  CHECK(code({.sampler = {.remainder = Remainder::kPad, .batch = 536'903'681},
              .rows = {.row_length = 4'294'705'160},
              .ahead = 1}) == Errc::kOutOfMemory);
  SamplerState other{.digest = {1, 2}};
  CHECK(Loader::create(reader, {}, &other).error().code == Errc::kSamplerState);
}
