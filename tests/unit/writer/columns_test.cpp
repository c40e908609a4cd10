// Columns of every scope and groups: rows go with their sequences, groups stay together.
#include <cstring>
#include <fstream>
#include <set>

#include "model.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

struct Grouped {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> lengths;
};

// Samples of these lengths, token = sample number, in one batch or one by one.
Result<Packed> pack_groups(const WriterOptions& options, const Grouped& in, std::size_t batch) {
  const TempDir folder;
  Case c;
  c.options = options;
  c.options.groups = true;
  for (std::size_t i = 0; i < in.lengths.size(); ++i) {
    c.samples.push_back({.tokens = Numbers(in.lengths[i], static_cast<std::int64_t>(i)), .group = in.keys[i]});
  }
  return try_pack(c, batch, folder.file("out.tpk"));
}

std::vector<Numbers> sources(const std::string& image) {
  std::vector<Numbers> out;
  for (const NaivePack& pack : NaiveFile(image).packs) out.push_back(pack.sources);
  return out;
}

}  // namespace

TEST_CASE("columns of each kind follow their sample through split, carry and upgrade") {
  const std::vector<ColumnSpec> columns = {
      {.name = "pair", .type = ElementType::kU16, .width = 2},
      {.name = "score", .type = ElementType::kI32, .scope = Scope::kToken},
      {.name = "words", .type = ElementType::kU8, .width = 2, .ragged = true},
      {.name = "weight", .type = ElementType::kF32},
  };
  for (const Strategy strategy : {Strategy::kBestFit, Strategy::kConcat}) {
    for (const std::uint64_t window : {std::uint64_t{1}, std::uint64_t{100}, kWindowAll}) {
      const TempDir folder;
      WriterOptions options{.plan = {.capacity = 8, .strategy = strategy},
                            .overlong = Overlong::kSplit,
                            .window_tokens = window,
                            .columns = columns,
                            .sync = false};
      auto writer = Writer::create(folder.file("out.tpk"), options);
      REQUIRE(writer.ok());
      std::vector<std::vector<std::string>> rows(60, std::vector<std::string>(4));
      for (std::uint32_t i = 0; i < 60; ++i) {
        const std::uint32_t n = 1 + i * 7 % 19;
        std::vector<std::uint32_t> tokens(n, i == 50 ? 80000 : i);
        std::vector<std::int32_t> scores;
        for (std::uint32_t t = 0; t < n; ++t) scores.push_back(static_cast<std::int32_t>(1000 * i + t));
        rows[i][0] = bytes_of(std::vector<std::uint16_t>{static_cast<std::uint16_t>(i), 9});
        rows[i][1] = bytes_of(scores);
        rows[i][2] = std::string(2 * (i % 4), static_cast<char>('a' + i % 26));
        rows[i][3] = bytes_of(std::vector<float>{static_cast<float>(i) / 2});
        const std::vector<std::uint64_t> offsets = {0, i % 4};
        std::vector<ColumnInput> input(4);
        for (std::size_t k = 0; k < 4; ++k) input[k].values = std::as_bytes(std::span(rows[i][k]));
        input[2].offsets = offsets;
        const auto ok = writer->add({.tokens = TokenInput(std::span<const std::uint32_t>(tokens)), .columns = input});
        REQUIRE_MESSAGE(ok.ok(), (ok ? "" : ok.error().detail));
      }
      REQUIRE(std::move(*writer).finish().ok());
      const NaiveFile file(read_file(folder.file("out.tpk")));
      std::set<std::int64_t> seen;
      for (const NaivePack& pack : file.packs) {
        for (std::size_t s = 0; s < pack.sources.size(); ++s) {
          const auto i = static_cast<std::size_t>(pack.sources[s]);
          seen.insert(pack.sources[s]);
          CHECK(pack.columns.at("pair")[s] == rows[i][0]);
          CHECK(pack.columns.at("words")[s] == rows[i][2]);
          CHECK(pack.columns.at("weight")[s] == rows[i][3]);
          for (auto t = pack.cu_seqlens[s]; t < pack.cu_seqlens[s + 1]; ++t) {
            const auto in_sample = static_cast<std::size_t>(t - pack.cu_seqlens[s] + pack.first_positions[s]);
            CHECK(pack.columns.at("score")[static_cast<std::size_t>(t)] == rows[i][1].substr(4 * in_sample, 4));
          }
        }
      }
      CHECK(seen.size() == 60);
      CHECK(file.find("words")->kind == 12);
      CHECK(file.find("weight")->element_type == 9);
    }
  }
}

TEST_CASE("header_bytes follows from the declared columns, not from what the samples turn out to need") {
  const auto header_bytes = [](std::size_t columns) {
    Case c;
    c.options.plan.capacity = 4;
    for (std::size_t i = 0; i < columns; ++i) {
      c.options.columns.push_back({.name = "c" + std::to_string(i)});
    }
    return NaiveFile(pack_all(c).image).header_bytes;
  };
  CHECK(header_bytes(48) == 4096);  // 11 built-in sections and 48 columns: 59 entries
  CHECK(header_bytes(49) == 8192);
}

TEST_CASE("members of a group share a pack and stand in input order; numbers follow first appearance") {
  for (const std::uint64_t window : {std::uint64_t{1}, std::uint64_t{40}, kWindowAll}) {
    for (const std::size_t batch : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{100}}) {
      for (const unsigned threads : {1u, 2u}) {
        Grouped in;
        for (std::uint64_t g = 0; g < 30; ++g) {
          for (std::uint64_t m = 0; m <= g % 3; ++m) {
            in.keys.push_back(1000 - g);
            in.lengths.push_back(static_cast<std::uint32_t>(1 + (g * 5 + m) % 5));
          }
        }
        const auto packed = pack_groups({.plan = {.capacity = 16}, .window_tokens = window, .threads = threads,
                                         .sync = false}, in, batch);
        REQUIRE_MESSAGE(packed.ok(), (packed ? "" : packed.error().detail));
        const NaiveFile file((*packed).image);
        std::size_t seen = 0;
        for (const NaivePack& pack : file.packs) {
          const auto& group = pack.columns.at("group");
          for (std::size_t s = 0; s < pack.sources.size(); ++s, ++seen) {
            const auto source = static_cast<std::size_t>(pack.sources[s]);
            CHECK(group[s] == bytes_of(std::vector<std::uint32_t>{static_cast<std::uint32_t>(1000 - in.keys[source])}));
            if (source > 0 && in.keys[source - 1] == in.keys[source]) {
              REQUIRE(s > 0);
              CHECK(pack.sources[s - 1] == pack.sources[s] - 1);
            }
          }
        }
        CHECK(seen == in.keys.size());
        CHECK(adds_up((*packed).summary.account));
      }
    }
  }
}

TEST_CASE("a pair whose sum just fits shares a pack; one token more is overlong as a whole") {
  const WriterOptions error{.plan = {.capacity = 10}, .sync = false};
  WriterOptions drop = error;
  drop.overlong = Overlong::kDrop;
  const auto fits = pack_groups(error, {{1, 1}, {6, 4}}, 2);
  REQUIRE(fits.ok());
  CHECK(sources((*fits).image) == std::vector<Numbers>{{0, 1}});

  const auto over = pack_groups(error, {{7, 1, 1}, {2, 6, 5}}, 1);
  REQUIRE(!over.ok());
  CHECK(over.error().code == Errc::kOverlong);
  CHECK(over.error().detail.find("1 of 2 groups") == 0);

  const auto dropped = pack_groups(drop, {{7, 1, 1}, {2, 6, 5}}, 1);
  REQUIRE(dropped.ok());
  CHECK(sources((*dropped).image) == std::vector<Numbers>{{0}});
  CHECK((*dropped).summary.account.samples_dropped == 2);
  CHECK((*dropped).summary.account.tokens_dropped == 11);
  CHECK(adds_up((*dropped).summary.account));
}

TEST_CASE("a group of more members than a pack may have is overlong") {
  const auto over = pack_groups({.plan = {.capacity = 10, .max_sequences = 2}, .sync = false}, {{1, 1, 1}, {1, 1, 1}}, 3);
  REQUIRE(!over.ok());
  CHECK(over.error().code == Errc::kOverlong);
}

TEST_CASE("a group that is too large takes no memory for what cannot be stored") {
  const auto resident_kib = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    }
    return 0L;
  };
  const TempDir folder;
  auto writer = Writer::create(
      folder.file("g.tpk"),
      {.plan = {.capacity = 4096}, .overlong = Overlong::kDrop, .groups = true, .sync = false});
  REQUIRE(writer.ok());
  const std::vector<std::uint16_t> tokens(1 << 20, 7);
  const std::vector<std::uint32_t> lengths(1 << 10, 1 << 10);
  const std::vector<std::uint64_t> keys(lengths.size(), 5);
  const Batch batch{.tokens = TokenInput(std::span(tokens)), .lengths = lengths, .groups = keys};
  REQUIRE(writer->add_batch(batch).ok());
  const long before = resident_kib();
  for (int i = 0; i < 64; ++i) REQUIRE(writer->add_batch(batch).ok());  // 128 MiB of ids
  CHECK(resident_kib() - before < 32 << 10);
  const auto done = std::move(*writer).finish();
  REQUIRE(done.ok());
  CHECK(done->packs == 0);
  CHECK(done->account.samples_dropped == 65 << 10);
  CHECK(done->account.tokens_dropped == 65 << 20);
  CHECK(adds_up(done->account));
}

TEST_CASE("a group key that comes back is refused and names the sample") {
  const auto back = pack_groups({.plan = {.capacity = 10}, .sync = false}, {{5, 5, 3, 5}, {1, 1, 1, 1}}, 1);
  REQUIRE(!back.ok());
  CHECK(back.error().code == Errc::kGroupReturned);
  CHECK(back.error().detail.find("sample 3: group 5") == 0);
  CHECK(pack_groups({.plan = {.capacity = 10}, .sync = false}, {{9, 2, 7, 1}, {1, 1, 1, 1}}, 2).ok());
}

TEST_CASE("a group keeps its other members when one is empty or has nothing to store") {
  const auto packed = pack_groups({.plan = {.capacity = 10}, .tail = Tail::kInputTarget, .sync = false},
                                  {{1, 1, 1, 2}, {3, 1, 0, 2}}, 4);
  REQUIRE(packed.ok());
  CHECK(sources((*packed).image) == std::vector<Numbers>{{0, 3}});
  const Account& account = (*packed).summary.account;
  CHECK(account.samples_empty == 1);
  CHECK(account.samples_dropped == 1);
  CHECK(adds_up(account));
}

TEST_CASE("add_group packs its batch as one group") {
  const TempDir folder;
  auto writer = Writer::create(folder.file("g.tpk"), {.plan = {.capacity = 8}, .groups = true, .sync = false});
  REQUIRE(writer.ok());
  const std::vector<std::uint32_t> tokens = {1, 2, 3, 4, 5, 6};
  const std::vector<std::uint32_t> lengths = {4, 2};
  const Batch batch{.tokens = TokenInput(std::span(tokens)), .lengths = lengths};
  REQUIRE(writer->add_group(batch).ok());
  REQUIRE(writer->add_group(batch).ok());
  REQUIRE(std::move(*writer).finish().ok());
  const NaiveFile file(read_file(folder.file("g.tpk")));
  REQUIRE(file.packs.size() == 2);
  CHECK(file.packs[0].sources == Numbers{0, 1});
  CHECK(file.packs[1].sources == Numbers{2, 3});
}
