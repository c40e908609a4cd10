// The checks of every pack access, against literals and against a slow way.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tokpack/format/parse.h"

namespace {

using namespace tokpack::format;
using tokpack::Errc;

Header header_of(std::uint64_t packs, std::uint64_t sequences, std::uint64_t tokens, std::uint32_t capacity) {
  Header h{};
  h.packs = packs;
  h.sequences = sequences;
  h.tokens = tokens;
  h.capacity = capacity;
  return h;
}

int bounds_code(const Header& h, std::uint64_t pack, std::uint64_t t0, std::uint64_t t1, std::uint64_t s0,
                std::uint64_t s1) {
  const std::uint64_t tokens[2] = {t0, t1};
  const std::uint64_t sequences[2] = {s0, s1};
  const auto bounds = check_pack_bounds(h, pack, tokens, sequences);
  if (!bounds) {
    CHECK_FALSE(bounds.error().detail.empty());
    return static_cast<int>(bounds.error().code);
  }
  CHECK(bounds->token_begin == t0);
  CHECK(bounds->token_end == t1);
  CHECK(bounds->sequence_begin == s0);
  CHECK(bounds->sequence_end == s1);
  return 0;
}

constexpr std::uint64_t kHuge = ~std::uint64_t{0};

TEST_CASE("bounds of a pack: what is accepted") {
  const Header h = header_of(3, 6, 20, 8);
  CHECK(bounds_code(h, 0, 0, 8, 0, 3) == 0);
  CHECK(bounds_code(h, 1, 8, 13, 3, 4) == 0);
  CHECK(bounds_code(h, 2, 13, 20, 4, 6) == 0);
  CHECK(bounds_code(header_of(1, 8, 8, 8), 0, 0, 8, 0, 8) == 0);  // one token each
}

TEST_CASE("50 pack_range") {
  const Header h = header_of(3, 6, 20, 8);
  CHECK(bounds_code(h, 3, 13, 20, 4, 6) == 50);
  CHECK(bounds_code(h, kHuge, 13, 20, 4, 6) == 50);
  CHECK(bounds_code(header_of(0, 0, 0, 8), 0, 0, 0, 0, 0) == 50);
}

TEST_CASE("52 pack_token_offsets: descending, empty, past the capacity or the tokens, wrong ends") {
  const Header h = header_of(3, 6, 20, 8);
  CHECK(bounds_code(h, 1, 13, 8, 3, 4) == 52);
  CHECK(bounds_code(h, 1, 8, 8, 3, 4) == 52);
  CHECK(bounds_code(h, 1, 8, 17, 3, 4) == 52);
  CHECK(bounds_code(h, 1, 14, 21, 3, 4) == 52);
  CHECK(bounds_code(h, 0, 1, 8, 0, 3) == 52);
  CHECK(bounds_code(h, 2, 13, 19, 4, 6) == 52);
  CHECK(bounds_code(h, 1, kHuge, 0, 3, 4) == 52);  // one token, were the difference to wrap
  CHECK(bounds_code(h, 1, kHuge, 3, 3, 4) == 52);
  CHECK(bounds_code(h, 1, kHuge - 3, kHuge, 3, 4) == 52);
}

TEST_CASE("53 pack_sequence_offsets: the same, and more sequences than tokens") {
  const Header h = header_of(3, 6, 20, 8);
  CHECK(bounds_code(h, 1, 8, 13, 4, 3) == 53);
  CHECK(bounds_code(h, 1, 8, 13, 3, 3) == 53);
  CHECK(bounds_code(h, 1, 8, 13, 3, 7) == 53);
  CHECK(bounds_code(h, 0, 0, 8, 1, 3) == 53);
  CHECK(bounds_code(h, 2, 13, 20, 4, 5) == 53);
  CHECK(bounds_code(h, 1, 8, 10, 1, 4) == 53);
  CHECK(bounds_code(h, 1, 8, 13, kHuge, 0) == 53);
  CHECK(bounds_code(h, 1, 8, 13, kHuge, 2) == 53);
}

TEST_CASE("messages about bounds name the pack and the numbers") {
  const std::uint64_t tokens[2] = {8, 17};
  const std::uint64_t sequences[2] = {3, 4};
  const auto error = check_pack_bounds(header_of(3, 6, 20, 8), 1, tokens, sequences).error();
  for (const char* part : {"pack_token_offsets", "pack 1", "8 and 17", "capacity, 8"}) {
    CHECK(error.detail.find(part) != std::string::npos);
  }
}

TEST_CASE("messages about sequence bounds say which rule is broken") {
  const auto detail = [](std::uint64_t pack, std::uint64_t s0, std::uint64_t s1) {
    const std::uint64_t tokens[2] = {pack == 0   ? 0u
                                     : pack == 1 ? 8u
                                                 : 13u,
                                     pack == 0   ? 8u
                                     : pack == 1 ? 10u
                                                 : 20u};
    const std::uint64_t sequences[2] = {s0, s1};
    return check_pack_bounds(header_of(3, 6, 20, 8), pack, tokens, sequences).error().detail;
  };
  CHECK(detail(1, 4, 3).find("expected to ascend") != std::string::npos);
  CHECK(detail(1, 6, 7).find("at most the file's 6 sequences") != std::string::npos);
  CHECK(detail(1, 1, 4).find("more sequences than the pack's 2 tokens") != std::string::npos);
  CHECK(detail(0, 1, 3).find("expected 0 first") != std::string::npos);
  CHECK(detail(2, 4, 5).find("expected the file's 6 sequences last") != std::string::npos);
}

std::int64_t bad_entry(const std::vector<std::int32_t>& cu_seqlens, std::uint64_t tokens) {
  return check_cu_seqlens(cu_seqlens, tokens);
}

TEST_CASE("cu_seqlens: first 0, strictly increasing, last the pack's tokens") {
  CHECK(bad_entry({0, 5}, 5) == -1);
  CHECK(bad_entry({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 9) == -1);
  CHECK(bad_entry({}, 0) == 0);
  CHECK(bad_entry({0}, 0) == -1);
  CHECK(bad_entry({0}, 1) == 0);
  CHECK(bad_entry({1, 5}, 5) == 0);
  CHECK(bad_entry({-1, 5}, 5) == 0);
  CHECK(bad_entry({0, 0, 5}, 5) == 1);
  CHECK(bad_entry({0, 3, 3, 5}, 5) == 2);
  CHECK(bad_entry({0, 3, 2, 5}, 5) == 2);
  CHECK(bad_entry({0, 3, 4}, 5) == 2);
  CHECK(bad_entry({0, 3, 6}, 5) == 2);
  CHECK(bad_entry({0, 6, 5}, 5) == 2);
  CHECK(bad_entry({0, -1}, 0xffffffff) == 1);
  CHECK(bad_entry({0, 5}, (std::uint64_t{1} << 32) + 5) == 1);
  CHECK(bad_entry({0, 0x7fffffff, -0x7fffffff - 1, 7}, 7) == 2);
}

TEST_CASE("cu_seqlens: one bad entry at every place of every length is found") {
  for (std::size_t n = 2; n <= 70; ++n) {
    std::vector<std::int32_t> good(n);
    for (std::size_t i = 0; i < n; ++i) good[i] = static_cast<std::int32_t>(3 * i);
    const auto tokens = static_cast<std::uint64_t>(good.back());
    REQUIRE(bad_entry(good, tokens) == -1);
    for (std::size_t i = 1; i + 1 < n; ++i) {
      for (const std::int32_t value : {good[i - 1], good[i - 1] - 1, -5, -0x7fffffff - 1}) {
        std::vector<std::int32_t> bad = good;
        bad[i] = value;
        REQUIRE(bad_entry(bad, tokens) == static_cast<std::int64_t>(i));
      }
      std::vector<std::int32_t> bad = good;
      bad[i] = good[i + 1];
      REQUIRE(bad_entry(bad, tokens) == static_cast<std::int64_t>(i + 1));
    }
  }
}

TEST_CASE("cu_seqlens: agrees with the slow way on random entries, at any alignment") {
  std::mt19937_64 random(3);
  int good = 0;
  for (int round = 0; round < 200000; ++round) {
    const std::size_t n = random() % 20 + 1;
    const std::size_t shift = random() % 4;
    std::vector<std::int32_t> entries(n + shift);
    std::int32_t sum = 0;
    for (std::size_t i = shift + 1; i < n + shift; ++i) {
      sum += static_cast<std::int32_t>(random() % 16) - (random() % 16 == 0 ? 1 : 0);
      entries[i] = sum;
    }
    const std::span<const std::int32_t> cu(entries.data() + shift, n);
    const std::uint64_t tokens = random() % 8 == 0 ? random() % 64 : static_cast<std::uint32_t>(cu.back());
    std::int64_t expected = -1;
    for (std::size_t i = 0; i < n && expected < 0; ++i) {
      const bool bad = i == 0 ? cu[0] != 0 : cu[i] <= cu[i - 1];
      if (bad) expected = static_cast<std::int64_t>(i);
    }
    if (expected < 0 && static_cast<std::uint64_t>(cu.back()) != tokens)
      expected = static_cast<std::int64_t>(n - 1);
    REQUIRE(check_cu_seqlens(cu, tokens) == expected);
    good += expected < 0;
  }
  CHECK(good > 1000);
}

TEST_CASE("rows of a scope") {
  const Header h = header_of(3, 6, 20, 8);
  CHECK(scope_rows(h, Scope::kPack) == 3);
  CHECK(scope_rows(h, Scope::kSequence) == 6);
  CHECK(scope_rows(h, Scope::kToken) == 20);
}

}  // namespace
