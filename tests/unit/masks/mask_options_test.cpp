// What write_mask checks, the options that may not change a byte, and offsets past 32 bits.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "naive_masks.h"
#include "sparse_memory.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

constexpr std::uint8_t kPoison = 0xa5;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// The error of writing a mask of `batch` x `positions` into a buffer of 1000 poisoned bytes.
Error refusal(std::int64_t batch, std::size_t positions, const MaskOptions& options, MaskBuffer out) {
  const Ints lo(positions * static_cast<std::size_t>(std::max<std::int64_t>(batch, 1)), 0);
  std::vector<std::uint8_t> bytes(1000, kPoison);
  if (out.data == nullptr) out.data = bytes.data();
  const auto written = write_mask({.lo = lo, .batch = batch}, options, out);
  REQUIRE_FALSE(written.ok());
  CHECK(bytes == std::vector<std::uint8_t>(1000, kPoison));
  CHECK_FALSE(written.error().detail.empty());
  return written.error();
}

std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kib = 0; info >> key >> kib; std::getline(info, unit)) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return 0;
}

}  // namespace

TEST_CASE("a buffer that is too small, absent or misaligned is refused") {
  CHECK(refusal(1, 8, {}, {.bytes = 63}).code == Errc::kOptions);
  CHECK(refusal(2, 8, {}, {.bytes = 127}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {.form = MaskForm::kAdditiveBf16}, {.bytes = 127}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {.form = MaskForm::kAdditiveF32}, {.bytes = 255}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {}, {.bytes = 70, .row_stride = 9}).code == Errc::kOptions);       // 7 x 9 + 8 = 71
  CHECK(write_mask({.lo = Ints(8)}, {}, {.bytes = 64}).error().code == Errc::kOptions);  // no data
  alignas(8) std::uint8_t bytes[260];
  CHECK(refusal(1, 8, {.form = MaskForm::kAdditiveF32}, {.data = bytes + 2, .bytes = 256}).code ==
        Errc::kOptions);
  CHECK(refusal(1, 8, {.form = MaskForm::kAdditiveF16}, {.data = bytes + 1, .bytes = 128}).code ==
        Errc::kOptions);
}

TEST_CASE("a buffer of exactly the bytes up to the last cell is enough") {
  std::vector<std::uint8_t> bytes(8 + 2 * 100 + 7 * 9, kPoison);
  const Ints lo(24, 0);
  const MaskBuffer out{.data = bytes.data(), .bytes = bytes.size(), .row_stride = 9, .batch_stride = 100};
  CHECK(write_mask({.lo = lo, .batch = 3}, {}, out).ok());
  CHECK(bytes.back() == 1);
  CHECK_FALSE(write_mask({.lo = lo, .batch = 3}, {}, {out.data, out.bytes - 1, 9, 100}).ok());
}

TEST_CASE("strides that would put two cells in one place are refused") {
  CHECK(refusal(1, 8, {}, {.bytes = 1000, .row_stride = 7}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {}, {.bytes = 1000, .row_stride = -8}).code == Errc::kOptions);
  CHECK(refusal(2, 8, {}, {.bytes = 1000, .batch_stride = -64}).code == Errc::kOptions);
  CHECK(refusal(2, 8, {}, {.bytes = 1000, .batch_stride = 63}).code == Errc::kOptions);
  CHECK(refusal(2, 8, {}, {.bytes = 1000, .row_stride = 10, .batch_stride = 77}).code == Errc::kOptions);
}

TEST_CASE("sizes that wrap are refused as too large") {
  CHECK(refusal(1, 8, {}, {.bytes = 1000, .row_stride = kHuge}).code == Errc::kTooLarge);
  CHECK(refusal(3, 8, {}, {.bytes = 1000, .batch_stride = kHuge}).code == Errc::kTooLarge);
  CHECK(refusal(2, 8, {.form = MaskForm::kAdditiveF32}, {.bytes = 1000, .batch_stride = kHuge / 2}).code ==
        Errc::kTooLarge);
  CHECK(refusal(2, 8, {.force = true}, {.bytes = 1000, .row_stride = kHuge / 4}).code == Errc::kTooLarge);
}

TEST_CASE("a mask above 4 GiB needs force, by its cells and not by its strides") {
  // 4 GiB is 65536 x 65536; nothing is read or written before the sizes are checked.
  CHECK(refusal(1, 65537, {}, {.bytes = ~std::size_t{0}}).code == Errc::kTooLarge);
  CHECK(refusal(2, 32769, {.form = MaskForm::kAdditiveBf16}, {.bytes = ~std::size_t{0}}).code ==
        Errc::kTooLarge);
  CHECK(refusal(1, 65536, {}, {.bytes = 1000}).code ==
        Errc::kOptions);  // 4 GiB to the byte: only the buffer is short
  CHECK(refusal(1, 65537, {.force = true}, {.bytes = 1000}).code == Errc::kOptions);
  CHECK(refusal(1, 65537, {}, {.bytes = 1000}).detail.find("force") != std::string::npos);
}

TEST_CASE("interval arrays that do not fit the batch are refused") {
  std::uint8_t bytes[64];
  const MaskBuffer out{.data = bytes, .bytes = sizeof(bytes)};
  const Ints lo(8), hi(7);
  CHECK(write_mask({.lo = lo, .batch = 3}, {}, out).error().code == Errc::kOptions);
  CHECK(write_mask({.lo = lo, .batch = 0}, {}, out).error().code == Errc::kOptions);
  CHECK(write_mask({.lo = lo, .batch = -1}, {}, out).error().code == Errc::kOptions);
  CHECK(write_mask({.lo = lo, .hi = hi}, {}, out).error().code == Errc::kOptions);
  CHECK(write_mask({.lo = {}}, {}, out).error().code == Errc::kOptions);
}

TEST_CASE("unknown forms, values and stores are refused") {
  CHECK(refusal(1, 8, {.form = static_cast<MaskForm>(5)}, {.bytes = 64}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {.masked = static_cast<MaskedValue>(2)}, {.bytes = 64}).code == Errc::kOptions);
  CHECK(refusal(1, 8, {.stores = static_cast<MaskStores>(3)}, {.bytes = 64}).code == Errc::kOptions);
}

TEST_CASE("1 to 9 threads and every kind of store give equal bytes, and leave the gaps alone") {
  RandomCases cases(10);
  for (const std::size_t positions : {1U, 7U, 64U, 201U}) {
    for (const MaskForm form :
         {MaskForm::kBool, MaskForm::kInvertedBool, MaskForm::kAdditiveBf16, MaskForm::kAdditiveF32}) {
      Ints lo, hi;
      for (int b = 0; b < 3; ++b) {
        const auto row = intervals_of(cases.next(static_cast<std::int32_t>(positions)));
        lo.insert(lo.end(), row.lo.begin(), row.lo.end());
        hi.insert(hi.end(), row.hi.begin(), row.hi.end());
      }
      const std::size_t gap = positions == 64 ? 0 : 3, stride = positions + gap,
                        element = mask_element_bytes(form);
      std::vector<std::uint8_t> first;
      for (const MaskStores stores : {MaskStores::kOrdinary, MaskStores::kStreaming, MaskStores::kAuto}) {
        for (unsigned threads = 0; threads <= 9; ++threads) {
          std::vector<std::uint8_t> bytes((3 * positions * stride + 5) * element, kPoison);
          const MaskBuffer out{
              .data = bytes.data(), .bytes = bytes.size(), .row_stride = static_cast<std::int64_t>(stride)};
          REQUIRE(write_mask({.lo = lo, .hi = hi, .batch = 3},
                             {.form = form, .stores = stores, .threads = threads}, out)
                      .ok());
          if (first.empty()) {
            first = bytes;
            for (std::size_t r = 0; r < 3 * positions; ++r) {
              for (std::size_t c = positions * element; c < stride * element; ++c) {
                CHECK(bytes[r * stride * element + c] == kPoison);
              }
            }
          } else {
            CHECK(bytes == first);
          }
        }
      }
    }
  }
}

TEST_CASE("more threads than rows write each row once") {
  const Ints lo(5, 0);
  std::vector<std::uint8_t> bytes(25, kPoison);
  CHECK(write_mask({.lo = lo}, {.threads = 0xffffffff}, {.data = bytes.data(), .bytes = bytes.size()}).ok());
  CHECK(bytes ==
        std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("where threads cannot be had, the caller writes their rows") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  MESSAGE("sanitizers need the address space: not run");
#else
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Ints lo(3000, 0);
    std::vector<std::uint8_t> bytes(3000 * 3000, kPoison);
    const rlimit space{.rlim_cur = std::size_t{400} << 20, .rlim_max = std::size_t{400} << 20};
    if (setrlimit(RLIMIT_AS, &space) != 0) _exit(2);
    // 3000 threads want 24 GiB for their stacks.
    if (!write_mask({.lo = lo}, {.threads = 3000}, {.data = bytes.data(), .bytes = bytes.size()})) _exit(3);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != (i % 3000 <= i / 3000 ? 1 : 0)) _exit(4);
    }
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
#endif
}

TEST_CASE("the streaming threshold is an eighth of some cache") {
  CHECK(kStreamingCacheShare == 8);
  CHECK(streaming_threshold() >= 16 << 10);
  CHECK(streaming_threshold() <= std::uint64_t{16} << 30);
}

TEST_CASE("cells past 2^31 and 2^32 bytes stand at their offsets, by strides over sparse memory") {
  // 3 batches of 100 rows, 6 GiB apart; rows 40 MB apart: 100 of them span 4 GB.
  const std::size_t row = 40'000'003, batch = std::size_t{6} << 30, positions = 100;
  const SparseMemory memory(3 * batch);
  if (memory.data() == nullptr) {
    MESSAGE("no address space of 18 GiB here: not run");
    return;
  }
  const Ints lo(3 * positions, 7);
  for (const MaskStores stores : {MaskStores::kOrdinary, MaskStores::kStreaming}) {
    const MaskBuffer out{.data = memory.data(),
                         .bytes = 3 * batch,
                         .row_stride = static_cast<std::int64_t>(row),
                         .batch_stride = static_cast<std::int64_t>(batch)};
    CHECK(write_mask({.lo = lo, .batch = 3}, {.form = MaskForm::kInvertedBool, .stores = stores}, out).ok());
    bool same = true;
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t r = 0; r < positions; ++r) {
        std::uint8_t* cells = memory.data() + b * batch + r * row;
        for (std::size_t c = 0; c < positions; ++c) same = same && cells[c] == (c >= 7 && c <= r ? 0 : 1);
        same = same && cells[positions] == 0;  // never touched
        std::memset(cells, 0, positions);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("masks of just above 2^31 and 2^32 cells are right at sampled cells") {
  for (const std::size_t positions : {46'341U, 65'537U}) {
    const std::size_t bytes = positions * positions;
    if (available_memory() < bytes + bytes / 4) {
      MESSAGE("less than " << bytes << " bytes of memory here: not run");
      continue;
    }
    const SparseMemory memory(bytes);
    REQUIRE(memory.data() != nullptr);
    const auto count = static_cast<std::int32_t>(positions);
    const auto [lo, hi] = intervals_of({.cu_seqlens = {0, 1000, count - 500}, .positions = count});
    CHECK(write_mask({.lo = lo, .hi = hi}, {.threads = 2, .force = true},
                     {.data = memory.data(), .bytes = bytes})
              .ok());
    bool same = true;
    for (std::size_t r = 0; r < positions; r += r < positions - 600 ? 499 : 1) {
      const std::size_t start = r < 1000 ? 0 : r < positions - 500 ? 1000 : positions - 500;
      const auto at = [&](std::size_t c) { return memory.data()[r * positions + c]; };
      same = same && at(start) == 1 && at(r) == 1 && (start == 0 || at(start - 1) == 0);
      same = same && (r + 1 == positions || (at(r + 1) == 0 && at(positions - 1) == 0));
    }
    CHECK(same);
  }
}
