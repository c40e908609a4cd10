// Digests that must not change while kPlannerVersion and the format stay: the same samples give the same
// content for ever, on any machine.
#include "model.h"
#include "tokpack/format/checksum.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

// Samples by arithmetic alone, so that no library's random numbers are in the digest.
Case golden(Strategy strategy, std::uint64_t window, Form form) {
  Case c;
  c.form = form;
  c.options.plan = {.capacity = 64, .strategy = strategy};
  c.options.overlong = Overlong::kSplit;
  c.options.window_tokens = window;
  std::uint64_t x = 1;
  for (int i = 0; i < 500; ++i) {
    Given& s = c.samples.emplace_back();
    x = x * 6364136223846793005u + 1442695040888963407u;
    const auto n = static_cast<std::int64_t>((x >> 33) % 90);
    for (std::int64_t t = 0; t < n; ++t) {
      s.tokens.push_back((i * 7 + t * 13) % 50000);
      s.labels.push_back(t % 3 == 0 ? 0 : 1);
    }
  }
  return c;
}

std::string digest(const Case& c) { return format::to_hex(pack_all(c, 9).summary.digest); }

}  // namespace

TEST_CASE("golden digests") {
  CHECK(digest(golden(Strategy::kBestFit, kWindowAll, Form::kNone)) == "8874cb03c4b559f18f5a919e5f7e02f2");
  CHECK(digest(golden(Strategy::kBestFit, 2000, Form::kMask)) == "475c74b0c7d9a3fa50276f2d5391e033");
  CHECK(digest(golden(Strategy::kNextFit, 2000, Form::kMask)) == "aefbb9f651f27d691ce2fbacbe1d535b");
  CHECK(digest(golden(Strategy::kConcat, 2000, Form::kMask)) == "10acabe1fd5761c94f25f941141a17d2");
}
