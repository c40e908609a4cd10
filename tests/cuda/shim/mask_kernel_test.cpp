// The mask kernel against the library's CPU implementation, byte for byte, gaps and surroundings included.
#include <doctest/doctest.h>

#include <limits>

#include "naive_masks.h"
#include "poisoned.h"
#include "shim_kernels.h"

using namespace tokpack;
using namespace tokpack::test;

namespace {

/// Gaps and offset are in elements.
struct Buffer {
  std::size_t batch = 1, positions = 1;
  MaskForm form = MaskForm::kBool;
  std::size_t row_gap = 0, batch_gap = 0, offset = 0;
};

/// A form of each size of cell.
constexpr std::array kForms = {MaskForm::kBool, MaskForm::kAdditiveF16, MaskForm::kAdditiveF32};

/// Cells that `write` leaves in poisoned memory, 64 bytes on either side included.
template <typename Write>
std::vector<unsigned char> written(const Buffer& buffer, Write write) {
  const std::size_t element = mask_element_bytes(buffer.form);
  const std::size_t row = buffer.positions + buffer.row_gap,
                    batch = buffer.positions * row + buffer.batch_gap;
  const std::size_t bytes = buffer.batch * batch * element;
  Poisoned memory(buffer.offset * element, bytes);
  const MaskBuffer out{.data = memory.cells(),
                       .bytes = bytes,
                       .row_stride = static_cast<std::int64_t>(row),
                       .batch_stride = static_cast<std::int64_t>(batch)};
  const Result<void> done = write(out);
  if (!done.ok()) FAIL(done.error().detail);
  const auto first = memory.all().begin() + static_cast<std::ptrdiff_t>(memory.first());
  return {first - 64, first + static_cast<std::ptrdiff_t>(bytes) + 64};
}

bool agrees(const Buffer& buffer, const Ints& lo, const Ints& hi, MaskStores stores) {
  const RowIntervals intervals{.lo = lo, .hi = hi, .batch = static_cast<std::int64_t>(buffer.batch)};
  const MaskOptions options{.form = buffer.form, .masked = MaskedValue::kLowestFinite, .stores = stores};
  return written(buffer, [&](const MaskBuffer& out) { return shim_write(intervals, options, out); }) ==
         written(buffer, [&](const MaskBuffer& out) { return write_mask(intervals, options, out); });
}

void check(const Buffer& buffer, const Ints& lo, const Ints& hi, MaskStores stores = MaskStores::kStreaming) {
  CHECK_MESSAGE(agrees(buffer, lo, hi, stores), "batch " << buffer.batch << ", S " << buffer.positions
                                                         << ", form " << static_cast<int>(buffer.form)
                                                         << ", row gap " << buffer.row_gap << ", batch gap "
                                                         << buffer.batch_gap << ", offset " << buffer.offset);
}

Intervals random_intervals(RandomCases& cases, const Buffer& buffer) {
  Intervals out;
  for (std::size_t b = 0; b < buffer.batch; ++b) {
    const auto [lo, hi] = intervals_of(cases.next(static_cast<std::int32_t>(buffer.positions)));
    out.lo.insert(out.lo.end(), lo.begin(), lo.end());
    out.hi.insert(out.hi.end(), hi.begin(), hi.end());
  }
  return out;
}

}  // namespace

TEST_CASE("masks of 1 to 300 positions equal those of the CPU, in every size of cell and kind of store") {
  RandomCases cases(21);
  for (std::size_t positions = 1; positions <= 300; ++positions) {
    for (const MaskForm form : kForms) {
      const Buffer buffer{.positions = positions, .form = form};
      const auto [lo, hi] = random_intervals(cases, buffer);
      check(buffer, lo, hi, positions % 2 == 0 ? MaskStores::kStreaming : MaskStores::kOrdinary);
    }
  }
}

TEST_CASE("masks of every number of positions modulo 64 equal those of the CPU, from any element on") {
  RandomCases cases(22);
  for (std::size_t rest = 0; rest < 64; ++rest) {
    Buffer buffer{.positions = 512 + rest, .form = kForms[rest % 3]};
    buffer.offset = static_cast<std::size_t>(cases.number(0, 63)) / mask_element_bytes(buffer.form);
    const auto [lo, hi] = random_intervals(cases, buffer);
    check(buffer, lo, hi, rest % 2 == 0 ? MaskStores::kOrdinary : MaskStores::kStreaming);
  }
}

TEST_CASE("masks of 1234 and 8193 positions equal those of the CPU, with and without hi") {
  RandomCases cases(23);
  for (const std::size_t positions : {1234U, 8193U}) {
    const Buffer buffer{.positions = positions, .offset = 3};
    const auto [lo, hi] = random_intervals(cases, buffer);
    check(buffer, lo, hi);
    check(buffer, lo, {});
  }
}

TEST_CASE("what lies between rows and batches stays as it was, by any stride") {
  RandomCases cases(24);
  for (int round = 0; round < 400; ++round) {
    Buffer buffer{.batch = static_cast<std::size_t>(cases.number(1, 3)),
                  .positions = static_cast<std::size_t>(cases.number(1, 200)),
                  .form = kForms[static_cast<std::size_t>(round % 3)],
                  .row_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100)),
                  .batch_gap = static_cast<std::size_t>(cases.number(0, 1) * cases.number(1, 100))};
    buffer.offset = static_cast<std::size_t>(cases.number(0, 63)) / mask_element_bytes(buffer.form);
    const auto [lo, hi] = random_intervals(cases, buffer);
    check(buffer, lo, hi, round % 2 == 0 ? MaskStores::kOrdinary : MaskStores::kStreaming);
  }
}

TEST_CASE("every interval of a row is right: empty, of one key, to the ends, across every vector's edge") {
  for (const std::size_t positions : {1U, 15U, 16U, 17U, 48U, 67U}) {
    Ints lo, hi;
    const auto last = static_cast<std::int32_t>(positions);
    for (std::int32_t begin = 0; begin <= last; ++begin) {
      for (std::int32_t end = begin - 1; end < last; ++end) lo.push_back(begin), hi.push_back(end);
    }
    while (lo.size() % positions != 0) lo.push_back(lo.back()), hi.push_back(hi.back());
    for (const MaskForm form : kForms) {
      for (const std::size_t offset : {0U, 1U, 3U}) {
        check({.batch = lo.size() / positions, .positions = positions, .form = form, .offset = offset}, lo,
              hi);
      }
    }
  }
}

TEST_CASE("any int32 in lo and hi is cut to the row") {
  RandomCases cases(25);
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  const Ints extremes = {least, least + 1, -1000, -1, 0, 1, most - 1, most};
  for (int round = 0; round < 200; ++round) {
    const Buffer buffer{.batch = 2,
                        .positions = static_cast<std::size_t>(cases.number(1, 150)),
                        .form = kForms[static_cast<std::size_t>(round % 3)]};
    Ints lo, hi;
    const auto any = [&] {
      const std::int32_t at = cases.number(-20, static_cast<std::int32_t>(extremes.size()) - 1);
      return at >= 0 ? extremes[static_cast<std::size_t>(at)]
                     : cases.number(-5, static_cast<std::int32_t>(buffer.positions) + 5);
    };
    for (std::size_t i = 0; i < 2 * buffer.positions; ++i) lo.push_back(any()), hi.push_back(any());
    check(buffer, lo, round % 4 == 0 ? Ints{} : hi);
  }
}

TEST_CASE("more batches than a grid has blocks in y are all written") {
  RandomCases cases(26);
  Buffer buffer{.batch = 65'535 + 1000, .positions = 2, .offset = 1};
  Ints lo, hi;
  for (std::size_t i = 0; i < 2 * buffer.batch; ++i) {
    lo.push_back(cases.number(0, 2)), hi.push_back(cases.number(-1, 1));
  }
  check(buffer, lo, hi);
}

TEST_CASE("any grid and block gives the bytes of the launch's") {
  RandomCases cases(27);
  const Buffer buffer{.batch = 5, .positions = 130, .offset = 5};
  const auto intervals = random_intervals(cases, buffer);
  const RowIntervals rows{.lo = intervals.lo, .hi = intervals.hi, .batch = 5};
  const auto expected = written(buffer, [&](const MaskBuffer& out) { return write_mask(rows, {}, out); });
  for (const cuda::LaunchShape shape : {cuda::LaunchShape{1, 1, 2, 1},
                                        {1, 1, 32, 8},
                                        {3, 2, 8, 32},
                                        {1000, 7, 64, 1},
                                        {2, 65'535, 16, 16},
                                        {1, 1, 256, 1}}) {
    const auto actual = written(buffer, [&](const MaskBuffer& out) -> Result<void> {
      const auto job = cuda::mask_job(rows, {}, out);
      if (!job) return job.error();
      run(*job, true, shape);
      return {};
    });
    CHECK(actual == expected);
  }
}

TEST_CASE("all but the ends of a row goes in 16-byte stores, each vector once") {
  RandomCases cases(28);
  for (const std::size_t positions : {16U, 64U, 128U, 1024U}) {
    const Buffer buffer{.positions = positions};
    const auto [lo, hi] = random_intervals(cases, buffer);
    take_streaming_stores();
    check(buffer, lo, hi);
    CHECK(take_streaming_stores() == positions * positions / 16);
    check(buffer, lo, hi, MaskStores::kOrdinary);
    CHECK(take_streaming_stores() == 0);
  }
}
