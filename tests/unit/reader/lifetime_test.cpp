// Who keeps what alive, many threads and processes, and nothing left behind.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "reader_fixtures.h"

using namespace tokpack;
using test::build;

namespace {

std::string write_rich(const test::TempDir& folder) {
  test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
  return folder.file("a.tpk");
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += entry.path().empty() ? 0U : 1U;
  return count;
}

/// Maps of this file in this process.
std::size_t maps_of(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(path) != std::string::npos ? 1U : 0U;
  return count;
}

/// Sums what every accessor shows of every pack.
std::uint64_t sum_of(const Reader& reader) {
  std::uint64_t sum = 0;
  for (std::uint64_t p = 0; p < reader.packs(); ++p) {
    auto pack = reader.pack(p);
    if (!pack) return 0;
    for (std::size_t i = 0; i < pack->tokens().size(); ++i) {
      sum = sum * 31 + pack->tokens()[i] + static_cast<std::uint64_t>(pack->stored_label(i));
    }
    for (std::size_t c = 0; c < reader.columns(); ++c) {
      auto column = pack->column(c);
      if (!column) return 0;
      for (const std::byte b : column->values) sum = sum * 31 + static_cast<std::uint64_t>(b);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("a view outlives its reader, and the mapping goes with the last view") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const std::size_t descriptors = open_descriptors();
    std::optional<PackView> view;
    {
      auto reader = Reader::open(path, {.mode = mode});
      view = std::move(reader->pack(0)).value();
    }
    CHECK(maps_of(path) == (mode == ReadMode::kMmap ? 1 : 0));
    CHECK(view->tokens()[6] == 21);
    CHECK(view->tail_labels()[0] == 15);
    auto column = view->column(4);
    REQUIRE(column.ok());
    std::optional<PackView> copy(*view);
    view.reset();
    CHECK(copy->cu_seqlens()[2] == 7);
    copy.reset();
    CHECK(column->name == "spans");  // columns hold on as well
    CHECK(column->values.size() == 2);
    column = ColumnView{};
    CHECK(maps_of(path) == 0);
    CHECK(open_descriptors() == descriptors);
  }
}

TEST_CASE("an owner taken from a view keeps its spans valid") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    std::shared_ptr<const void> owner;
    std::span<const std::int32_t> boundaries;
    {
      auto reader = Reader::open(path, {.mode = mode});
      auto view = reader->pack(1);
      boundaries = view->cu_seqlens();
      owner = view->owner();
    }
    CHECK(boundaries[3] == 6);
  }
}

TEST_CASE("a view is used from another thread after its reader has gone") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    std::uint64_t seen = 0;
    std::thread user;
    {
      auto reader = Reader::open(path, {.mode = mode});
      user = std::thread([view = std::move(reader->pack(2)).value(), &seen] { seen = view.tokens()[7]; });
    }
    user.join();
    CHECK(seen == 47);
  }
}

TEST_CASE("threads share one reader") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    auto reader = Reader::open(path, {.mode = mode});
    const std::uint64_t expected = sum_of(reader.value());
    REQUIRE(expected != 0);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, own = reader.value()] {
        for (int round = 0; round < 50; ++round) {
          if (sum_of(round % 2 == 0 ? own : reader.value()) != expected) ++wrong;
          if (own.locate(5).value().pack != 2) ++wrong;
          own.advise(AccessHint::kWillNeed, 0, 3);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("a child reads through a reader that its parent opened") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    auto reader = Reader::open(path, {.mode = mode});
    const std::uint64_t expected = sum_of(reader.value());
    const pid_t child = ::fork();
    if (child == 0) ::_exit(sum_of(reader.value()) == expected ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(sum_of(reader.value()) == expected);
  }
}

TEST_CASE("eight processes open one file at once") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  auto reader = Reader::open(path);
  const std::uint64_t expected = sum_of(reader.value());
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int round = 0; round < 50; ++round) {
        auto own = Reader::open(path, {.mode = round % 2 == 0 ? ReadMode::kMmap : ReadMode::kPread});
        if (!own || sum_of(own.value()) != expected) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a thousand opens and closes, refused ones too, leak no descriptor and no map") {
  const test::TempDir folder;
  const std::string path = write_rich(folder);
  test::write_file(folder.file("bad.tpk"), build(test::rich_spec()).bytes + "x");
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    const ReadMode mode = i % 2 == 0 ? ReadMode::kMmap : ReadMode::kPread;
    auto reader = Reader::open(path, {.mode = mode});
    REQUIRE(reader.ok());
    REQUIRE(reader->pack(static_cast<std::uint64_t>(i) % 3).ok());
    REQUIRE_FALSE(Reader::open(folder.file("bad.tpk"), {.mode = mode}).ok());
    REQUIRE_FALSE(Reader::open(folder.path().string(), {.mode = mode}).ok());
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(maps_of(folder.path().string()) == 0);
}

TEST_CASE("a reader is copied and moved like a value") {
  const test::TempDir folder;
  auto reader = Reader::open(write_rich(folder));
  Reader copy = reader.value();
  Reader moved = std::move(reader).value();
  CHECK(copy.pack(0).ok());
  CHECK(moved.pack(0).ok());
  copy = moved;
  CHECK(copy.packs() == 3);
}
