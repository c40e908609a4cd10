// Borrowed packs: the same as views, in both modes, without a share and without an allocation.
#include "heap_watch.h"
#include "reader_fixtures.h"

using namespace tokpack;

namespace {

template <typename Span>
bool same(const Span& a, const Span& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

void check_same(const PackRef& ref, const PackView& view) {
  CHECK(ref.pack() == view.pack());
  CHECK(ref.first_token() == view.first_token());
  CHECK(ref.first_sequence() == view.first_sequence());
  CHECK(ref.targets() == view.targets());
  CHECK(ref.label_kind() == view.label_kind());
  CHECK(same(ref.tokens(), view.tokens()));
  CHECK(same(ref.cu_seqlens(), view.cu_seqlens()));
  CHECK(same(ref.loss_bits(), view.loss_bits()));
  CHECK(same(ref.labels(), view.labels()));
  CHECK(same(ref.sources(), view.sources()));
  CHECK(same(ref.tail_labels(), view.tail_labels()));
  CHECK(same(ref.first_token_positions(), view.first_token_positions()));
  REQUIRE(ref.sequences() == view.sequences());
  for (std::size_t s = 0; s < ref.sequences(); ++s) {
    const SequenceRef a = ref.sequence(s);
    const SequenceView b = view.sequence(s);
    CHECK(same(a.tokens(), b.tokens()));
    CHECK(a.source() == b.source());
    CHECK(a.tail_label() == b.tail_label());
    CHECK(a.number() == b.number());
  }
}

}  // namespace

TEST_CASE("a borrowed pack shows what a view shows, also out of a buffer that held another") {
  const test::TempDir folder;
  for (const bool is_explicit : {false, true}) {
    const std::string path = folder.file(is_explicit ? "explicit.tpk" : "bits.tpk");
    test::write_file(path, test::build(is_explicit ? test::explicit_spec() : test::rich_spec()).bytes);
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      const auto reader = Reader::open(path, {.mode = mode});
      PackBuffer buffer;
      for (const std::uint64_t p : {2u, 1u, 0u, 2u}) {
        CAPTURE(p);
        const auto ref = reader->pack(p, buffer);
        REQUIRE(ref.ok());
        const auto view = reader->pack(p);
        check_same(*ref, *view);
        for (std::size_t c = 0; c < reader->columns(); ++c) {
          const auto borrowed = ref->column(c), owned = view->column(c);
          REQUIRE(borrowed.ok());
          CHECK(same(borrowed->values, owned->values));
          CHECK(same(borrowed->offsets, owned->offsets));
          CHECK((borrowed->owner == nullptr) == (mode == ReadMode::kMmap));
        }
      }
    }
  }
}

TEST_CASE("a borrowed pack that does not exist is the same error") {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), test::build(test::rich_spec()).bytes);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const auto reader = Reader::open(folder.file("a.tpk"), {.mode = mode});
    PackBuffer buffer;
    const auto ref = reader->pack(3, buffer);
    REQUIRE_FALSE(ref.ok());
    CHECK(ref.error().code == Errc::kPackRange);
    CHECK(ref.error().detail == reader->pack(3).error().detail);
    CHECK(reader->pack(0, buffer).ok());
  }
}

TEST_CASE(
    "pack() allocates nothing in mmap mode, and in pread mode nothing once its buffer is large enough") {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), test::build(test::rich_spec()).bytes);
  const auto mapped = Reader::open(folder.file("a.tpk"), {.mode = ReadMode::kMmap});
  const auto read = Reader::open(folder.file("a.tpk"), {.mode = ReadMode::kPread});
  PackBuffer buffer;
  std::uint64_t sum = 0;
  const auto borrow_all = [&](const Reader& reader) {
    for (std::uint64_t p = 0; p < 3; ++p) sum += (*reader.pack(p, buffer)).targets();
  };
  CHECK(test::allocations_of([&] { borrow_all(*mapped); }) == 0);
  CHECK(test::allocations_of([&] {
          for (std::uint64_t p = 0; p < 3; ++p) sum += (*mapped->pack(p)).targets();
        }) == 0);
  CHECK(test::allocations_of([&] { borrow_all(*read); }) > 0);
  CHECK(test::allocations_of([&] { borrow_all(*read); }) == 0);
  CHECK(test::allocations_of([&] { sum += (*read->pack(0)).targets(); }) > 0);
  CHECK(sum > 0);
}
