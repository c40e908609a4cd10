// Real samples: the counts that ../shared/data/README.md and the licence note state, and equal results for
// any number of threads.

#include <algorithm>
#include <filesystem>

#include "input_support.h"

namespace tokpack::input::test {
namespace {

namespace fs = std::filesystem;

struct RealSet {
  std::size_t samples, tokens, trained, longest;
};

void check_set(const fs::path& path, const RealSet& expected) {
  CAPTURE(path.string());
  Everything one;
  for (const unsigned threads : {1U, 2U}) {
    Everything read =
        read_all(open_jsonl(path.string(), make_jsonl_session({.threads = threads, .batch_bytes = 1 << 18})));
    CHECK_FALSE(read.error);
    CHECK(read.all.samples() == expected.samples);
    CHECK(read.all.tokens.size() == expected.tokens);
    CHECK(*std::ranges::max_element(read.all.lengths) == expected.longest);
    std::size_t trained = read.all.tokens.size();
    if (read.all.label_form == SampleBatch::Labels::kLabels) {
      REQUIRE(read.all.labels.size() == read.all.tokens.size());
      trained = 0;
      for (std::size_t i = 0; i < read.all.labels.size(); ++i) {
        if (read.all.labels[i] == -100) continue;
        ++trained;
        CHECK_MESSAGE(read.all.labels[i] == static_cast<std::int32_t>(read.all.tokens[i]), "token " << i);
      }
    }
    CHECK(trained == expected.trained);
    if (threads == 1) {
      one = std::move(read);
    } else {
      CHECK(read.all.tokens == one.all.tokens);
      CHECK(read.all.labels == one.all.labels);
      CHECK(read.batch_samples == one.batch_samples);
      CHECK(read.where == one.where);
    }
  }
}

TEST_CASE("the shipped samples have their stated counts") {
  const fs::path data = fs::path(TOKPACK_SOURCE_DIR) / "examples" / "data";
  check_set(data / "quickstart_sft.jsonl", {400, 59'897, 50'804, 1'327});
  check_set(data / "quickstart_docs.jsonl", {158, 83'589, 83'589, 19'598});
}

TEST_CASE("the larger samples have their stated counts") {
  const fs::path data = fs::path(TOKPACK_SOURCE_DIR).parent_path() / "shared" / "data" / "samples";
  if (!fs::exists(data)) {
    MESSAGE("skipped: no " << data);
    return;
  }
  check_set(data / "docs.jsonl.zst", {3'322, 1'003'050, 1'003'050, 55'969});
  check_set(data / "sft.jsonl.zst", {1'637, 659'928, 112'572, 7'195});
}

}  // namespace
}  // namespace tokpack::input::test
