// Any text as a sampler's state: no crash; what is accepted is written back the same, byte for byte; and a
// sampler that resumes from it stays within its packs, always has a step left, and never repeats a pack
// within an epoch, wrapped rows aside.
//
// An input is 8 bytes that choose packs, batch and ranks, then the state; without its check, a right one is
// put behind it, so that what follows the check is reached.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../support/fuzz_file.h"
#include "tokpack/core/sampler.h"
#include "tokpack/format/checksum.h"

namespace {

using namespace tokpack;

std::string with_check(std::string text) {
  if (text.find(" check=") != std::string::npos) return text;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(format::xxh3_64(std::as_bytes(std::span(text)))));
  return text + " check=" + digits;
}

void walk(Sampler sampler, std::uint64_t packs) {
  std::vector<std::uint64_t> rows(sampler.options().batch);
  std::set<std::uint64_t> seen;
  std::uint64_t epoch = sampler.position().epoch;
  for (int step = 0; step < 40; ++step) {
    TOKPACK_FUZZ_CHECK(sampler.steps_left() >= 1);
    if (sampler.position().epoch != epoch) {
      seen.clear();
      epoch = sampler.position().epoch;
    }
    sampler.rows(rows);
    for (const std::uint64_t pack : rows) {
      if (pack == Sampler::kNoPack) {
        TOKPACK_FUZZ_CHECK(sampler.options().remainder == Remainder::kPad);
        continue;
      }
      TOKPACK_FUZZ_CHECK(pack < packs);
      TOKPACK_FUZZ_CHECK(seen.insert(pack).second || sampler.options().remainder == Remainder::kWrap);
    }
    sampler.advance();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  std::uint32_t packs = 0;
  std::memcpy(&packs, data, sizeof packs);
  const std::uint64_t count = std::uint64_t{packs} + 1;
  const std::string text = with_check(std::string(reinterpret_cast<const char*>(data) + 8, size - 8));
  const auto state = parse_sampler_state(text);
  if (!state) {
    TOKPACK_FUZZ_CHECK(state.error().code == Errc::kSamplerState && !state.error().detail.empty());
    for (const char c : state.error().detail) TOKPACK_FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20);
    return 0;
  }
  const std::string line = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  TOKPACK_FUZZ_CHECK(to_text(*state) == line);
  const std::uint32_t ranks = 1 + data[5] % 9;
  const SamplerOptions options{.batch = 1u + data[4] % 16, .ranks = ranks, .rank = data[6] % ranks};
  const auto sampler = Sampler::resume(count, state->digest, options, *state);
  if (!sampler) {
    TOKPACK_FUZZ_CHECK(!sampler.error().detail.empty());
    return 0;
  }
  walk(*sampler, count);
  return 0;
}
