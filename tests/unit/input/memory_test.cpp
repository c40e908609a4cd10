// What happens when there is no memory. This program's operator new can be made to fail.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "input_support.h"
#include "temp_dir.h"

namespace {

constexpr long kAll = std::numeric_limits<long>::max();
std::atomic<long> allowed{kAll};  // allocations of all threads until they fail, all of them

void* allocate(std::size_t bytes) noexcept {
  if (allowed.load() != kAll && allowed.fetch_sub(1) <= 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate_or_throw(std::size_t bytes) {
  void* const p = allocate(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace tokpack::input::test {
namespace {

bool came_behind_error = false;  // checked when there is memory for it again

/// Reads to the end and returns how many samples came, or the error.
Result<std::size_t> count_samples(Result<std::unique_ptr<Source>> source) {
  if (!source) return std::move(source).error();
  std::size_t samples = 0;
  while (true) {
    auto batch = (*source)->next();
    if (!batch) {
      came_behind_error |= (*source)->next().ok();
      return std::move(batch).error();
    }
    if (*batch == nullptr) return samples;
    samples += (*batch)->samples();
  }
}

/// Lets 0, 1, 2... allocations succeed until the work does.
template <typename Open>
void check_every_failure(std::size_t samples, Open open) {
  for (long n = 0;; ++n) {
    CAPTURE(n);
    allowed = n;
    const auto counted = count_samples(open());
    allowed = kAll;
    CHECK_FALSE(came_behind_error);
    if (counted.ok()) {
      CHECK(n > 0);
      CHECK(counted.value() == samples);
      return;
    }
    REQUIRE(counted.error().code == Errc::kOutOfMemory);
  }
}

const std::string kText =
    "{\"tokens\":[1,2,3],\"labels\":[1,2,3],\"group\":\"a\",\"role\":\"chosen\",\"weight\":1}\n"
    "{\"tokens\":[4,5],\"role\":\"rejected\",\"weight\":0.5}\n"
    "{\"tokens\":[6],\"loss_mask\":[1],\"group\":7,\"role\":\"third\",\"weight\":2}\n";

TEST_CASE("memory that runs out while JSON lines are read is an error, with any number of threads") {
  for (const unsigned threads : {1U, 3U}) {
    for (const std::uint64_t batch_bytes : Sizes{64, 1 << 20}) {
      const JsonlOptions options{
          .missing_labels = MissingLabels::kTrain, .threads = threads, .batch_bytes = batch_bytes};
      check_every_failure(3, [&] {
        const long left = allowed.exchange(kAll);
        JsonlOptions copy = options;  // the caller's own
        allowed = left;
        return open_jsonl_text(kText, "in.jsonl", make_jsonl_session(std::move(copy)));
      });
    }
  }
}

TEST_CASE("memory that runs out while raw arrays are read is an error") {
  const tokpack::test::TempDir dir;
  const std::string path = dir.file("tokens.bin"), mask = dir.file("mask.bin"), lengths = dir.file("lengths");
  tokpack::test::write_file(path, std::string("\1\0\2\0\3\0\2\0", 8));
  tokpack::test::write_file(mask, std::string("\0\1\1\0", 4));
  tokpack::test::write_file(lengths, "3\n1\n");
  check_every_failure(2, [&] {
    const long left = allowed.exchange(kAll);
    const RawOptions options{.type = ArrayType::kU16, .document_end = 2, .loss_mask_path = mask};
    allowed = left;
    return open_raw(path, options);
  });
  check_every_failure(2, [&] {
    const long left = allowed.exchange(kAll);
    const RawOptions options{.type = ArrayType::kU16, .lengths_path = lengths};
    allowed = left;
    return open_raw(path, options);
  });
}

}  // namespace
}  // namespace tokpack::input::test
