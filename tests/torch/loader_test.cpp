// The loader of tensors: core's batches exactly, memory that is never filled again while someone holds it.
#include "tokpack/torch/loader.h"

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <thread>

#include "packs.h"

using namespace tokpack;
using namespace tokpack::test;
namespace tl = tokpack::libtorch;

namespace {

LoaderOptions everything(const SamplerOptions& sampler) {
  return {.sampler = sampler,
          .rows = {.intervals = {.family = MaskFamily::kBidirectional}},
          .labels = true,
          .targets = true,
          .position_ids = true,
          .intervals = true};
}

I64 all_of(const tl::TensorBatch& batch) {
  I64 all;
  for (const at::Tensor* tensor :
       {&batch.input_ids, &batch.labels, &batch.targets, &batch.position_ids, &batch.lo, &batch.hi}) {
    const I64 part = values(*tensor);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

template <typename Call>
Error refused(Call&& call) {
  try {
    call();
  } catch (const tl::Exception& error) {
    DOCTEST_CHECK(std::string(error.what()) == error.error().detail);
    return error.error();
  }
  DOCTEST_FAIL("expected an exception");
  return {};
}

}  // namespace

DOCTEST_TEST_CASE(
    "every batch is what core fills, over epochs, for any remainder, ring and number of threads") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad, Remainder::kWrap}) {
    LoaderOptions options =
        everything({.seed = 5, .remainder = remainder, .batch = 3, .ranks = 2, .rank = 1});
    const auto expected = by_hand(reader, options, 20);
    for (const unsigned threads : {1u, 3u}) {
      for (const std::size_t ahead : {1u, 5u}) {
        options.threads = threads;
        options.ahead = ahead;
        tl::TensorLoader loader(reader, {.core = options});
        DOCTEST_CHECK(loader.row_length() == kLength);
        for (const I64& batch : expected) DOCTEST_REQUIRE(all_of(loader.next()) == batch);
      }
    }
  }
}

DOCTEST_TEST_CASE("shapes, types, counts, and undefined tensors for what was not wanted") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  tl::TensorLoader loader(reader, {.core = {.sampler = {.shuffle = false, .batch = 2}, .intervals = true}});
  const tl::TensorBatch batch = loader.next();
  DOCTEST_CHECK((batch.input_ids.sizes() == at::IntArrayRef{2, kLength}));
  DOCTEST_CHECK((batch.input_ids.scalar_type() == at::kLong));
  DOCTEST_CHECK(batch.input_ids.is_contiguous());
  DOCTEST_CHECK(values(batch.input_ids) == I64{100, 200, 0, 0, 0, 0, 101, 200, 101, 201, 0, 0});
  DOCTEST_CHECK((batch.lo.scalar_type() == at::kInt));
  DOCTEST_CHECK(values(batch.lo) == I64{0, 0, 2, 2, 2, 2, 0, 0, 2, 2, 4, 4});
  DOCTEST_CHECK(values(batch.lengths) == I64{2, 4});
  for (const at::Tensor* absent : {&batch.labels, &batch.targets, &batch.position_ids, &batch.hi,
                                   &batch.document_ids, &batch.boundaries}) {
    DOCTEST_CHECK_FALSE(absent->defined());
  }
  DOCTEST_CHECK(batch.packs == std::vector<std::uint64_t>{0, 1});
  DOCTEST_CHECK(batch.counts.tokens == 6);
  DOCTEST_CHECK(batch.counts.targets == 3);
  DOCTEST_CHECK(batch.position == Sampler::Position{0, 0});
}

DOCTEST_TEST_CASE("document ids and boundaries, as wide as the fullest pack or as asked for") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  LoaderOptions options{
      .sampler = {.shuffle = false, .batch = 2}, .document_ids = true, .boundaries = true, .threads = 0};
  const tl::TensorBatch batch = tl::TensorLoader(reader, {.core = options}).next();
  DOCTEST_CHECK(values(batch.document_ids) == I64{0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 2, 2});
  DOCTEST_CHECK((batch.boundaries.sizes() == at::IntArrayRef{2, 4}));
  DOCTEST_CHECK((batch.boundaries.scalar_type() == at::kInt));
  DOCTEST_CHECK(values(batch.boundaries) == I64{0, 2, 2, 2, 0, 2, 4, 4});
  options.rows.max_sequences = 5;
  DOCTEST_CHECK(values(tl::TensorLoader(reader, {.core = options}).next().boundaries) ==
                I64{0, 2, 2, 2, 2, 2, 0, 2, 4, 4, 4, 4});
}

DOCTEST_TEST_CASE("a batch that is held is never overwritten, nor one of which a slice is held") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options = everything({.batch = 2});
  const auto expected = by_hand(reader, options, 60);
  tl::TensorLoader loader(reader, {.core = options});
  std::vector<tl::TensorBatch> held;
  std::vector<at::Tensor> slices;
  for (std::size_t i = 0; i < 60; ++i) {
    tl::TensorBatch batch = loader.next();
    slices.push_back(batch.input_ids.slice(1, 1, 3));
    if (i % 2 == 0) held.push_back(std::move(batch));
    std::this_thread::yield();
  }
  for (std::size_t i = 0; i < 60; ++i) {
    if (i % 2 == 0) DOCTEST_CHECK(all_of(held[i / 2]) == expected[i]);
    DOCTEST_CHECK(values(slices[i]) ==
                  I64{expected[i][1], expected[i][2], expected[i][kLength + 1], expected[i][kLength + 2]});
  }
  DOCTEST_CHECK(loader.blocks() >= 60);
}

DOCTEST_TEST_CASE("a tensor of a batch cannot be made larger, which would move the loader's memory") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  tl::TensorLoader loader(reader, {.core = {.sampler = {.batch = 2}}});
  const tl::TensorBatch batch = loader.next();
  const I64 before = values(batch.input_ids);
  DOCTEST_CHECK_THROWS(batch.input_ids.view({-1}).resize_({10'000}));
  DOCTEST_CHECK_THROWS(batch.lengths.alias().resize_({10'000}));
  DOCTEST_CHECK(values(batch.input_ids) == before);
  for (int i = 0; i < 8; ++i) DOCTEST_CHECK(values(loader.next().lengths).size() == 2);
}

DOCTEST_TEST_CASE("memory is used again: batches that are let go of, at once or later, take no new blocks") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options{.sampler = {.batch = 2}, .ahead = 2};
  {
    tl::TensorLoader loader(reader, {.core = options});
    for (int i = 0; i < 100; ++i) (void)loader.next();
    DOCTEST_CHECK(loader.blocks() == 3);
  }
  {
    tl::TensorLoader loader(reader, {.core = options});
    tl::TensorBatch batch = loader.next();
    for (int i = 0; i < 100; ++i) batch = loader.next();  // the old one lives while the new one is asked for
    DOCTEST_CHECK(loader.blocks() == 4);
  }
  {
    tl::TensorLoader loader(reader, {.core = options});
    std::deque<tl::TensorBatch> queue;
    for (int i = 0; i < 100; ++i) {
      queue.push_back(loader.next());
      if (queue.size() > 5) queue.pop_front();
    }
    DOCTEST_CHECK(loader.blocks() <= 3 + 6);
  }
}

DOCTEST_TEST_CASE("tensors of one batch do not count each other's changes") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  tl::TensorLoader loader(reader, {.core = everything({.batch = 2})});
  const tl::TensorBatch batch = loader.next();
  const auto labels = batch.labels._version(), ids = batch.input_ids._version();
  batch.labels.fill_(-100);
  DOCTEST_CHECK(batch.labels._version() == labels + 1);
  DOCTEST_CHECK(batch.input_ids._version() == ids);
}

DOCTEST_TEST_CASE(
    "a run resumed after any number of batches goes on exactly, over the end of an epoch as well") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options = everything({.seed = 8, .batch = 4});
  const auto expected = by_hand(reader, options, 20);
  for (std::size_t stop = 0; stop < 12; ++stop) {
    SamplerState state;
    {
      tl::TensorLoader loader(reader, {.core = options});
      for (std::size_t i = 0; i < stop; ++i) (void)loader.next();
      state = loader.state();
    }
    const auto text = parse_sampler_state(to_text(state));
    tl::TensorLoader resumed(reader, {.core = everything({.batch = 4})}, &*text);
    DOCTEST_CHECK(resumed.steps_left() == 5 - stop % 5);
    for (std::size_t i = stop; i < stop + 7; ++i) DOCTEST_REQUIRE(all_of(resumed.next()) == expected[i]);
  }
}

DOCTEST_TEST_CASE(
    "loaders may be abandoned at any moment, moved, and used side by side; their batches live on") {
  const TempDir folder;
  const LoaderOptions options = everything({.batch = 2});
  std::vector<tl::TensorBatch> left;
  std::vector<I64> expected;
  {
    const Reader reader = open(write_packs(folder));
    expected = by_hand(reader, options, 4);
    for (int taken = 0; taken < 4; ++taken) {
      tl::TensorLoader loader(reader, {.core = options});
      for (int i = 0; i < taken; ++i) (void)loader.next();
      left.push_back(loader.next());
    }
    std::optional<tl::TensorLoader> one(std::in_place, reader, tl::TensorLoaderOptions{.core = options});
    tl::TensorLoader two(reader, {.core = options}), three(std::move(*one));
    one.reset();
    for (std::size_t i = 0; i < 4; ++i) {
      DOCTEST_CHECK(all_of(two.next()) == expected[i]);
      DOCTEST_CHECK(all_of(three.next()) == expected[i]);
    }
    two = std::move(three);
    (void)two.next();
  }
  for (std::size_t i = 0; i < 4; ++i) DOCTEST_CHECK(all_of(left[i]) == expected[i]);
}

DOCTEST_TEST_CASE("the length of a loader is the number of batches that come") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  tl::TensorLoader loader(reader, {.core = {.sampler = {.batch = 4}}});
  DOCTEST_CHECK(loader.steps() == 5);
  for (std::uint64_t left = loader.steps(); left > 0; --left) {
    DOCTEST_CHECK(loader.steps_left() == left);
    DOCTEST_CHECK(loader.next().position.epoch == 0);
  }
  DOCTEST_CHECK(loader.next().position.epoch == 1);
}

DOCTEST_TEST_CASE("errors are exceptions with core's code and text") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const auto code_of = [&](const tl::TensorLoaderOptions& options, const SamplerState* state = nullptr) {
    return refused([&] { tl::TensorLoader(reader, options, state); }).code;
  };
  DOCTEST_CHECK(code_of({.core = {.sampler = {.batch = 0}}}) == Errc::kOptions);
  DOCTEST_CHECK(code_of({.core = {.sampler = {.batch = 24}}}) == Errc::kOptions);  // an epoch without a step
  DOCTEST_CHECK(code_of({.core = {.ahead = 0}}) == Errc::kOptions);
  DOCTEST_CHECK(code_of({.core = {.threads = 65537}}) == Errc::kOptions);
  DOCTEST_CHECK(code_of({.core = {.sampler = {.batch = ~0U}, .rows = {.row_length = ~0U}}}) ==
                Errc::kOutOfMemory);
  const SamplerState other{.digest = {1, 2}};
  DOCTEST_CHECK(code_of({}, &other) == Errc::kSamplerState);
  DOCTEST_CHECK(code_of({.device = at::Device("meta")}) == Errc::kOptions);
  tl::TensorLoader short_rows(reader, {.core = {.sampler = {.shuffle = false}, .rows = {.row_length = 2}}});
  DOCTEST_CHECK(values(short_rows.next().input_ids) == I64{100, 200});
  for (int again = 0; again < 3; ++again) {
    DOCTEST_CHECK(refused([&] { (void)short_rows.next(); }).code == Errc::kOptions);
  }
}
