// Steps, ranks, remainders and states. known-faults.md, "Order and resume".
#include "tokpack/core/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "file_builder.h"
#include "temp_dir.h"

using namespace tokpack;
using Rows = std::vector<std::uint64_t>;

namespace {

constexpr Hash128 kDigest{0x1122334455667788, 0x99aabbccddeeff00};
constexpr std::uint64_t kEmpty = Sampler::kNoPack;

Sampler make(std::uint64_t packs, const SamplerOptions& options) {
  auto sampler = Sampler::create(packs, kDigest, options);
  REQUIRE_MESSAGE(sampler.ok(), sampler.error().detail);
  return *sampler;
}

Rows rows_of(const Sampler& sampler, std::uint32_t rank) {
  Rows rows(sampler.options().batch);
  sampler.rows_at(sampler.position(), rank, rows);
  return rows;
}

/// All rows of a step, rank after rank.
Rows step_of(const Sampler& sampler) {
  Rows all;
  for (std::uint32_t r = 0; r < sampler.options().ranks; ++r) {
    const Rows rows = rows_of(sampler, r);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

std::vector<Rows> next_steps(Sampler sampler, std::size_t count) {
  std::vector<Rows> steps;
  for (std::size_t s = 0; s < count; ++s) {
    steps.push_back(step_of(sampler));
    sampler.advance();
  }
  return steps;
}

Rows first_epoch(Sampler sampler) {
  Rows all;
  while (sampler.position().epoch == 0) {
    const Rows step = step_of(sampler);
    all.insert(all.end(), step.begin(), step.end());
    sampler.advance();
  }
  return all;
}

constexpr Remainder kAll[] = {Remainder::kDrop, Remainder::kPad, Remainder::kWrap};

}  // namespace

TEST_CASE("the steps of spec/order.md: seven packs on two ranks of two rows") {
  const auto steps = [](Remainder remainder, std::size_t count) {
    return next_steps(make(7, {.remainder = remainder, .batch = 2, .ranks = 2}), count);
  };
  CHECK(steps(Remainder::kDrop, 1) == std::vector<Rows>{{6, 1, 3, 2}});
  CHECK(steps(Remainder::kPad, 2) == std::vector<Rows>{{6, 1, 3, 2}, {4, 0, 5, kEmpty}});
  CHECK(steps(Remainder::kWrap, 2) == std::vector<Rows>{{6, 1, 3, 2}, {4, 0, 5, 6}});
}

TEST_CASE("7 packs on 1, 2, 3, 8 ranks: as many steps for each, and ranks that never meet") {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 8u}) {
    for (const std::uint32_t batch : {1u, 2u, 3u, 5u}) {
      for (const Remainder remainder : kAll) {
        CAPTURE(ranks);
        CAPTURE(batch);
        const std::uint64_t rows = std::uint64_t{ranks} * batch;
        const SamplerOptions options{.seed = 3, .remainder = remainder, .batch = batch, .ranks = ranks};
        if (remainder == Remainder::kDrop && rows > 7) {
          const auto none = Sampler::create(7, kDigest, options);
          REQUIRE_FALSE(none.ok());
          CHECK(none.error().code == Errc::kOptions);
          for (const char* choice : {"drop", "pad", "wrap", "7 packs"}) {
            CHECK(none.error().detail.find(choice) != std::string::npos);
          }
          continue;
        }
        const Sampler sampler = make(7, options);
        const std::uint64_t steps = remainder == Remainder::kDrop ? 7 / rows : (7 + rows - 1) / rows;
        CHECK(sampler.steps() == steps);
        const Rows served = first_epoch(sampler);
        CHECK(served.size() == steps * rows);
        std::map<std::uint64_t, std::uint64_t> times;
        for (const std::uint64_t row : served) ++times[row];
        for (std::uint64_t p = 0; p < 7; ++p) {
          const std::uint64_t n = times.contains(p) ? times[p] : 0;
          if (remainder == Remainder::kDrop) CHECK(n <= 1);
          if (remainder == Remainder::kPad) CHECK(n == 1);
          if (remainder == Remainder::kWrap) CHECK(n >= 1);
          if (remainder == Remainder::kWrap) CHECK(n <= (steps * rows + 6) / 7);
        }
        CHECK(times[kEmpty] == (remainder == Remainder::kPad ? steps * rows - 7 : 0));
      }
    }
  }
}

TEST_CASE("what a rank is given does not depend on which rank asks") {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    Sampler sampler = make(50, {.seed = 9, .batch = 4, .ranks = 3, .rank = rank});
    const Sampler other = make(50, {.seed = 9, .batch = 4, .ranks = 3, .rank = 0});
    Rows rows(4);
    sampler.rows(rows);
    CHECK(rows == rows_of(other, rank));
  }
}

TEST_CASE("stopped after every step and resumed from text, the rest is what would have come, over epochs") {
  for (const std::uint64_t packs : {1u, 2u, 7u, 24u, 25u}) {
    for (const std::uint32_t ranks : {1u, 2u, 3u}) {
      for (const std::uint32_t batch : {1u, 2u, 4u}) {
        for (const Remainder remainder : kAll) {
          const SamplerOptions options{.seed = 11, .remainder = remainder, .batch = batch, .ranks = ranks};
          auto made = Sampler::create(packs, kDigest, options);
          if (!made) continue;
          Sampler running = *made;
          const std::size_t steps = static_cast<std::size_t>(running.steps()) * 3 + 1;
          const std::vector<Rows> all = next_steps(running, steps + 5);
          for (std::size_t k = 0; k < steps; ++k) {
            const auto state = parse_sampler_state(to_text(running.state()));
            REQUIRE(state.ok());
            const auto resumed = Sampler::resume(packs, kDigest, {.batch = batch, .ranks = ranks}, *state);
            REQUIRE(resumed.ok());
            CHECK(resumed->position() == running.position());
            CHECK(next_steps(*resumed, 5) ==
                  std::vector<Rows>(all.begin() + static_cast<std::ptrdiff_t>(k),
                                    all.begin() + static_cast<std::ptrdiff_t>(k) + 5));
            running.advance();
          }
        }
      }
    }
  }
}

TEST_CASE("resumed on other ranks and batches, an epoch loses nothing and repeats nothing") {
  const SamplerOptions first{.seed = 4, .remainder = Remainder::kPad, .batch = 3, .ranks = 2};
  for (std::size_t stop = 0; stop < 16; ++stop) {
    for (const std::uint32_t ranks : {1u, 2u, 5u}) {
      for (const std::uint32_t batch : {1u, 3u, 4u}) {
        Sampler sampler = make(100, first);
        Rows served;
        for (std::size_t s = 0; s < stop; ++s) {
          const Rows step = step_of(sampler);
          served.insert(served.end(), step.begin(), step.end());
          sampler.advance();
        }
        auto resumed = Sampler::resume(100, kDigest, {.batch = batch, .ranks = ranks}, sampler.state());
        REQUIRE(resumed.ok());
        const Rows rest = first_epoch(*resumed);
        served.insert(served.end(), rest.begin(), rest.end());
        served.erase(std::remove(served.begin(), served.end(), kEmpty), served.end());
        std::sort(served.begin(), served.end());
        Rows every(100);
        for (std::uint64_t p = 0; p < 100; ++p) every[p] = p;
        CHECK(served == every);
      }
    }
  }
}

TEST_CASE("a state at which a larger step is not left goes on with the next epoch under drop") {
  Sampler sampler = make(10, {.batch = 1});
  for (int i = 0; i < 7; ++i) sampler.advance();
  const auto resumed = Sampler::resume(10, kDigest, {.batch = 4}, sampler.state());
  REQUIRE(resumed.ok());
  CHECK(resumed->position() == Sampler::Position{1, 0});
}

TEST_CASE("epochs have orders of their own, decided by seed and epoch alone") {
  const auto epoch = [](std::uint64_t seed, std::uint64_t wanted) {
    Sampler sampler = make(40, {.seed = seed, .batch = 40});
    while (sampler.position().epoch < wanted) sampler.advance();
    return rows_of(sampler, 0);
  };
  for (std::uint64_t e = 0; e < 3; ++e) {
    Rows sorted = epoch(1, e);
    std::sort(sorted.begin(), sorted.end());
    for (std::uint64_t p = 0; p < 40; ++p) CHECK(sorted[p] == p);
  }
  CHECK(epoch(1, 0) != epoch(1, 1));
  CHECK(epoch(1, 1) != epoch(1, 2));
  CHECK(epoch(1, 0) != epoch(2, 0));
  CHECK(epoch(1, 2) == epoch(1, 2));
}

TEST_CASE("without shuffling every epoch is the file's order") {
  Sampler sampler = make(5, {.shuffle = false, .remainder = Remainder::kWrap, .batch = 2});
  CHECK(next_steps(sampler, 4) == std::vector<Rows>{{0, 1}, {2, 3}, {4, 0}, {0, 1}});
}

TEST_CASE("a state is one line; each byte of it that changes is found") {
  const SamplerState state{.digest = kDigest, .seed = 7, .epoch = 2, .cursor = 4096};
  const std::string text = to_text(state);
  CHECK(text.substr(0, text.find(" check=")) ==
        "tokpack-order 1 digest=99aabbccddeeff001122334455667788 algorithm=1 seed=7 epoch=2 cursor=4096 "
        "remainder=drop shuffle=1 plan=0");
  const auto back = parse_sampler_state(text);
  REQUIRE(back.ok());
  CHECK(*back == state);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'0', '9', ' ', 'x', '\0', '\xff'}) {
      std::string changed = text;
      if (changed[i] == c) continue;
      changed[i] = c;
      const auto bad = parse_sampler_state(changed);
      CAPTURE(changed);
      REQUIRE_FALSE(bad.ok());
      CHECK(bad.error().code == Errc::kSamplerState);
    }
    CHECK_FALSE(parse_sampler_state(text.substr(0, i)).ok());
  }
  CHECK(parse_sampler_state(text + "\n").ok());
  CHECK_FALSE(parse_sampler_state(text + "\n\n").ok());
  CHECK_FALSE(parse_sampler_state(text + " ").ok());
}

TEST_CASE(
    "a newer state says its version; another dataset's names both digests; one beyond the end is refused") {
  const auto newer = parse_sampler_state("tokpack-order 2 something=else");
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().detail == "the sampler's state has version '2', this library reads version 1");

  SamplerState state{.digest = kDigest};
  const auto other = Sampler::resume(10, {1, 2}, {}, state);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Errc::kSamplerState);
  CHECK(other.error().detail.find("99aabbccddeeff001122334455667788") != std::string::npos);
  CHECK(other.error().detail.find("00000000000000020000000000000001") != std::string::npos);

  state.cursor = 10;
  const auto beyond = Sampler::resume(10, kDigest, {}, state);
  REQUIRE_FALSE(beyond.ok());
  CHECK(beyond.error().code == Errc::kSamplerState);
  state.cursor = 0;
  state.plan = 5;
  CHECK_FALSE(Sampler::resume(10, kDigest, {}, state).ok());
}

TEST_CASE("options that make no sampler") {
  const auto code = [](std::uint64_t packs, const SamplerOptions& options) {
    const auto made = Sampler::create(packs, kDigest, options);
    return made.ok() ? Errc{} : made.error().code;
  };
  CHECK(code(0, {}) == Errc::kOptions);
  CHECK(code(10, {.batch = 0}) == Errc::kOptions);
  CHECK(code(10, {.ranks = 0}) == Errc::kOptions);
  CHECK(code(10, {.ranks = 2, .rank = 2}) == Errc::kOptions);
  CHECK(code((std::uint64_t{1} << 62) + 1, {}) == Errc::kOptions);
  CHECK(code(10, {.remainder = Remainder::kPad, .batch = ~0u, .ranks = ~0u}) == Errc::kOptions);
  CHECK(code(std::uint64_t{1} << 62, {}) == Errc{});
}

TEST_CASE("targets of a step over all ranks, with and without tail labels") {
  // Pack 0: 3 + 1 targets and a tail label; pack 1: 2; pack 2: 0 of one token, tail label.
  const test::FileSpec spec{
      .packs = {{{.tokens = {10, 11, 12, 13}, .source = 0, .tail = 14}, {.tokens = {20, 21}, .source = 1}},
                {{.tokens = {30, 31, 32}, .source = 2}},
                {{.tokens = {40}, .source = 3, .tail = 41}}},
      .tail_labels = true};
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), test::build(spec).bytes);
  const auto reader = Reader::open(folder.file("a.tpk"));
  REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
  const SamplerOptions options{.shuffle = false, .remainder = Remainder::kPad, .batch = 1, .ranks = 2};
  Sampler sampler = make(3, options);
  auto targets = sampler.step_targets(*reader);
  REQUIRE(targets.ok());
  CHECK(targets->targets == 5 + 2);
  CHECK(targets->label_targets == 4 + 2);
  sampler.advance();  // pack 2 and an empty row
  targets = sampler.step_targets(*reader);
  REQUIRE(targets.ok());
  CHECK(targets->targets == 1);
  CHECK(targets->label_targets == 0);
}
