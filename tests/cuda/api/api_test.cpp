// The library itself: what it refuses before it launches anything, and what it says where there is no driver.
// What its kernels do is for cuda.shim and cuda.ptx, and on a GPU for run_on_gpu.sh.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "tokpack/cuda/masks.h"

using namespace tokpack;

namespace {

using Ints = std::vector<std::int32_t>;

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// Host memory stands in for a device's: nothing here is launched, or where it could be, not run.
Errc build_error(const Ints& cu_seqlens, std::int64_t batch, const IntervalOptions& options, std::size_t lo,
                 std::size_t hi) {
  Ints lo_array(lo, -7), hi_array(hi, -7);
  const auto built =
      cuda::build_row_intervals({.cu_seqlens = cu_seqlens, .batch = batch}, options, lo_array, hi_array, {});
  REQUIRE_FALSE(built.ok());
  CHECK_FALSE(built.error().detail.empty());
  return built.error().code;
}

Errc mask_error(std::size_t positions, std::int64_t batch, const MaskOptions& options, MaskBuffer out) {
  const Ints lo(positions * static_cast<std::size_t>(batch > 0 ? batch : 1));
  const auto written = cuda::write_mask({.lo = lo, .batch = batch}, options, out, {});
  REQUIRE_FALSE(written.ok());
  CHECK_FALSE(written.error().detail.empty());
  return written.error().code;
}

}  // namespace

TEST_CASE("boundaries, intervals and options that do not fit are refused before any launch") {
  const Ints two = {0, 3, 0, 2};
  CHECK(build_error(two, 0, {}, 8, 0) == Errc::kOptions);
  CHECK(build_error(two, 3, {}, 9, 0) == Errc::kOptions);  // 4 boundaries, 3 rows
  CHECK(build_error(two, 2, {}, 9, 0) == Errc::kOptions);  // 9 positions, 2 rows
  CHECK(build_error(two, 2, {}, 0, 0) == Errc::kOptions);
  CHECK(build_error({}, 2, {}, 8, 0) == Errc::kOptions);
  CHECK(build_error(two, 2, {}, 8, 4) == Errc::kOptions);  // hi of another length
  CHECK(build_error(two, 2, {.window = 1}, 8, 0) == Errc::kOptions);
  CHECK(build_error(two, 2, {.family = MaskFamily::kSlidingWindow}, 8, 0) == Errc::kOptions);
  CHECK(build_error(two, 2, {.family = MaskFamily::kBidirectional}, 8, 0) == Errc::kOptions);  // no hi
  CHECK(build_error(two, 2, {.family = static_cast<MaskFamily>(9)}, 8, 8) == Errc::kOptions);
  CHECK(build_error(two, 2, {.pads = static_cast<PadPolicy>(9)}, 8, 8) == Errc::kOptions);
  const Ints one = {1}, both = {1, 1};
  CHECK(build_error(two, 2, {.family = MaskFamily::kPrefixLm, .prefixes = one}, 8, 8) == Errc::kOptions);
  CHECK(build_error(two, 2, {.prefixes = both}, 8, 8) == Errc::kOptions);
}

TEST_CASE("masks that do not fit their buffer are refused before any launch") {
  std::vector<std::uint8_t> memory(1000);
  const MaskBuffer fits{.data = memory.data(), .bytes = 100};
  CHECK(mask_error(10, 0, {}, fits) == Errc::kOptions);
  CHECK(mask_error(11, 1, {}, fits) == Errc::kOptions);
  CHECK(mask_error(10, 2, {}, fits) == Errc::kOptions);
  CHECK(mask_error(10, 1, {.form = MaskForm::kAdditiveBf16}, fits) == Errc::kOptions);
  CHECK(mask_error(10, 1, {.form = static_cast<MaskForm>(9)}, fits) == Errc::kOptions);
  CHECK(mask_error(10, 1, {}, {.data = memory.data(), .bytes = 1000, .row_stride = 9}) == Errc::kOptions);
  CHECK(mask_error(10, 1, {}, {.data = nullptr, .bytes = 100}) == Errc::kOptions);
  CHECK(mask_error(5, 1, {.form = MaskForm::kAdditiveF32}, {.data = memory.data() + 1, .bytes = 900}) ==
        Errc::kOptions);
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  CHECK(mask_error(65'537, 1, {}, {.data = memory.data(), .bytes = all}) == Errc::kTooLarge);  // no force
}

TEST_CASE("block lists that do not fit their buffers are refused before any launch") {
  const Ints lo(8);
  Ints two(2), four(4), more(4), again(2), three(3);
  const auto code = [&](BlockSize size, const BlockLists& out) {
    const auto made = cuda::make_block_lists({.lo = lo}, size, out, {});
    REQUIRE_FALSE(made.ok());
    return made.error().code;
  };
  CHECK(code({0, 4}, {two, four, again, more}) == Errc::kOptions);
  CHECK(code({4, 4}, {three, four, again, more}) == Errc::kOptions);
  CHECK(code({4, 4}, {two, three, again, more}) == Errc::kOptions);
  CHECK(code({4, 4}, {two, four, again, three}) == Errc::kOptions);
}

TEST_CASE("a device that is no number of one is refused") {
  std::vector<std::uint8_t> memory(100);
  const Ints lo(10);
  const MaskBuffer out{.data = memory.data(), .bytes = 100};
  const auto written = cuda::write_mask({.lo = lo}, {}, out, {.device = -2});
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == Errc::kOptions);
  const auto far = cuda::write_mask({.lo = lo}, {}, out, {.device = 12'345});
  REQUIRE_FALSE(far.ok());
  CHECK(far.error().code == Errc::kCuda);
  CHECK(far.error().detail.starts_with("cudaSetDevice failed: "));
}

TEST_CASE(
    "without a driver every call is a kCuda error with the runtime's name and words, and writes nothing") {
  if (has_device()) {
    MESSAGE("there is a GPU here: not run");
    return;
  }
  std::vector<std::uint8_t> memory(100, 0x5a);
  const Ints lo(10);
  Ints built(10, -7), one(1, -7), index(1, -7), full(1, -7), full_index(1, -7);
  const auto check = [](const Result<void>& done, const std::string& call) {
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Errc::kCuda);
    const std::string& text = done.error().detail;
    CHECK_MESSAGE(text.starts_with(call + " failed: "), text);
    CHECK_MESSAGE(text.find("(cudaError") != std::string::npos, text);
  };
  const MaskBuffer out{.data = memory.data(), .bytes = 100};
  const BlockLists lists{one, index, full, full_index};
  for (const int device : {cuda::kCurrentDevice, 0}) {
    const cuda::Launch launch{.device = device};
    const bool first = device == 0;  // then the choice of a device is what fails
    check(cuda::build_row_intervals({.cu_seqlens = Ints{0, 3}}, {}, built, {}, launch),
          first ? "cudaSetDevice" : "the launch of build_row_intervals");
    check(cuda::write_mask({.lo = lo}, {.stores = MaskStores::kStreaming}, out, launch),
          first ? "cudaSetDevice" : "the launch of write_mask");
    check(cuda::make_block_lists({.lo = lo}, {}, lists, launch),
          first ? "cudaSetDevice" : "the launch of make_block_lists");
  }
  // kAuto asks for the size of the cache first.
  const auto written = cuda::write_mask({.lo = lo}, {}, out, {});
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == Errc::kCuda);
  CHECK(memory == std::vector<std::uint8_t>(100, 0x5a));
  CHECK(built == Ints(10, -7));
}
