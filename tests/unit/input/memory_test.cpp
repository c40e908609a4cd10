// What happens when there is no memory.
#include <doctest/doctest.h>

#include "heap_watch.h"
#include "input_support.h"
#include "temp_dir.h"

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
    const auto counted = [&] {
      const tokpack::test::NoMemoryAfter limit(n);
      return count_samples(open());
    }();
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
        JsonlOptions copy = tokpack::test::without_limit([&] { return options; });  // the caller's own
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
  const RawOptions by_id{.type = ArrayType::kU16, .document_end = 2, .loss_mask_path = mask};
  const RawOptions by_lengths{.type = ArrayType::kU16, .lengths_path = lengths};
  for (const RawOptions* options : {&by_id, &by_lengths}) {
    check_every_failure(2, [&] { return open_raw(path, *options); });
  }
}

}  // namespace
}  // namespace tokpack::input::test
