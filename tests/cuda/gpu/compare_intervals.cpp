// Row intervals and block lists of the GPU against those of the CPU.
#include <algorithm>

#include "device_memory.h"
#include "gpu_check.h"
#include "naive_masks.h"
#include "tokpack/core/block_lists.h"
#include "tokpack/cuda/masks.h"

namespace tokpack::test {
namespace {

using IntArray = DeviceArray<std::int32_t>;
const std::int32_t kPoisoned = static_cast<std::int32_t>(0xa5a5a5a5);

/// Rows that have family, pads and window in common.
std::vector<Case> rows_of(RandomCases& cases, std::int32_t positions, std::size_t batch) {
  std::vector<Case> rows;
  while (rows.size() < batch) {
    Case c = cases.next(positions);
    if (!rows.empty()) {
      c.family = rows.front().family, c.pads = rows.front().pads, c.window = rows.front().window;
      c.prefixes.clear();
      for (std::size_t s = 1; c.family == MaskFamily::kPrefixLm && s < c.cu_seqlens.size(); ++s) {
        c.prefixes.push_back(cases.number(0, c.cu_seqlens[s] - c.cu_seqlens[s - 1]));
      }
    }
    rows.push_back(std::move(c));
  }
  return rows;
}

bool intervals_agree(RandomCases& cases, std::int32_t positions, std::size_t batch) {
  const auto rows = rows_of(cases, positions, batch);
  std::size_t sequences = static_cast<std::size_t>(cases.number(0, 3));
  for (const Case& c : rows) sequences = std::max(sequences, c.cu_seqlens.size() - 1);
  Ints cu_seqlens, prefixes, expected_lo, expected_hi;
  for (const Case& c : rows) {
    cu_seqlens.insert(cu_seqlens.end(), c.cu_seqlens.begin(), c.cu_seqlens.end());
    cu_seqlens.resize(cu_seqlens.size() + sequences + 1 - c.cu_seqlens.size(), c.tokens());
    prefixes.insert(prefixes.end(), c.prefixes.begin(), c.prefixes.end());
    prefixes.resize(cu_seqlens.size() / (sequences + 1) * sequences, 5);
    const auto row = intervals_of(c);
    expected_lo.insert(expected_lo.end(), row.lo.begin(), row.lo.end());
    expected_hi.insert(expected_hi.end(), row.hi.begin(), row.hi.end());
  }
  const IntArray boundaries(cu_seqlens), of_prefixes(prefixes);
  const IntArray lo(expected_lo.size()), hi(expected_hi.size());
  IntervalOptions options = rows.front().options();
  options.prefixes = {};
  if (options.family == MaskFamily::kPrefixLm) options.prefixes = of_prefixes.span();
  const Stream stream;
  require(cuda::build_row_intervals({boundaries.span(), static_cast<std::int64_t>(batch)}, options, lo.span(),
                                    hi.span(), {.stream = stream.get()}));
  return lo.values() == expected_lo && hi.values() == expected_hi && lo.margins_kept() && hi.margins_kept();
}

struct HostLists {
  Ints kv_num, kv, full_num, full;
  bool operator==(const HostLists&) const = default;
};

bool lists_agree(RandomCases& cases, std::int32_t positions, std::size_t batch, BlockSize size, bool wild) {
  Ints lo, hi;
  for (std::size_t b = 0; b < batch; ++b) {
    const auto row = intervals_of(cases.next(positions));
    lo.insert(lo.end(), row.lo.begin(), row.lo.end());
    hi.insert(hi.end(), row.hi.begin(), row.hi.end());
  }
  if (wild) {
    for (Ints* values : {&lo, &hi}) {
      for (std::int32_t& value : *values) {
        if (cases.number(0, 4) == 0) value = cases.number(0, 1) == 0 ? -0x7fffffff - 1 : 0x7fffffff;
      }
    }
  }
  const auto counts = block_counts(positions, size).value();
  const std::size_t numbers = batch * static_cast<std::size_t>(counts.query),
                    indices = numbers * static_cast<std::size_t>(counts.key);
  const IntArray lo_array(lo), hi_array(hi), kv_num(numbers), kv(indices), full_num(numbers), full(indices);
  const RowIntervals on_device{lo_array.span(), hi_array.span(), static_cast<std::int64_t>(batch)};
  require(
      cuda::make_block_lists(on_device, size, {kv_num.span(), kv.span(), full_num.span(), full.span()}, {}));
  HostLists actual{kv_num.values(), kv.values(), full_num.values(), full.values()};
  const bool kept =
      kv_num.margins_kept() && kv.margins_kept() && full_num.margins_kept() && full.margins_kept();
  if (wild) return kept;  // the CPU refuses them
  HostLists expected{Ints(numbers, kPoisoned), Ints(indices, kPoisoned), Ints(numbers, kPoisoned),
                     Ints(indices, kPoisoned)};
  const auto made = make_block_lists({lo, hi, static_cast<std::int64_t>(batch)}, size,
                                     {expected.kv_num, expected.kv, expected.full_num, expected.full});
  require(made);
  return kept && actual == expected;
}

}  // namespace

void check_intervals(Report& report, bool quick) {
  RandomCases cases(1);
  std::string fault;
  std::int64_t count = 0;
  for (const std::int32_t positions : {1, 2, 7, 8, 31, 64, 255, 257, 1000, 1234, 8193}) {
    for (int round = 0; round < (quick ? 2 : 40) && fault.empty(); ++round, ++count) {
      const auto batch = static_cast<std::size_t>(cases.number(1, 5));
      if (!intervals_agree(cases, positions, batch)) fault = "S " + std::to_string(positions);
    }
  }
  report.check("row intervals equal the CPU's, every family and pad policy", count, fault);
}

void check_block_lists(Report& report, bool quick) {
  RandomCases cases(2);
  std::string fault;
  std::int64_t count = 0;
  for (const std::int32_t positions : {1, 7, 64, 200, 1000, 8193}) {
    for (int round = 0; round < (quick ? 2 : 40) && fault.empty(); ++round, ++count) {
      const std::int32_t least = positions > 1000 ? 32 : 1;
      const BlockSize size{cases.number(least, 140), cases.number(least, 140)};
      const auto batch = static_cast<std::size_t>(cases.number(1, 3));
      if (!lists_agree(cases, positions, batch, size, round % 4 == 3)) {
        fault = "S " + std::to_string(positions) + ", blocks of " + std::to_string(size.query) + " x " +
                std::to_string(size.key);
      }
    }
  }
  report.check("block lists equal the CPU's, and stay in their buffers for any numbers", count, fault);
}

}  // namespace tokpack::test
