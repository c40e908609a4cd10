// A small file of packs, and its batches filled by hand, for the tests of tokpack::torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "file_builder.h"
#include "temp_dir.h"
#include "tokpack/core/loader.h"
#include "tokpack/core/reader.h"

namespace tokpack::test {

inline constexpr std::uint32_t kLength = 6;
using I64 = std::vector<std::int64_t>;

/// 23 packs: pack p holds p % 3 + 1 sequences of two tokens that name it.
inline FileSpec some_packs() {
  FileSpec spec{.capacity = kLength};
  std::uint64_t source = 0;
  for (std::uint32_t p = 0; p < 23; ++p) {
    auto& pack = spec.packs.emplace_back();
    for (std::uint32_t s = 0; s <= p % 3; ++s)
      pack.push_back({.tokens = {100 + p, 200 + s}, .source = source++});
  }
  return spec;
}

inline std::string write_packs(const TempDir& folder, const FileSpec& spec = some_packs(),
                               const char* name = "a.tpk") {
  write_file(folder.file(name), build(spec).bytes);
  return folder.file(name);
}

inline Reader open(const std::string& path, ReadMode mode = ReadMode::kAuto) {
  auto reader = Reader::open(path, {.mode = mode});
  DOCTEST_REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
  return *reader;
}

/// Elements of any integer tensor.
inline I64 values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kCPU).to(at::kLong).contiguous();
  const std::int64_t* data = flat.const_data_ptr<std::int64_t>();
  return {data, data + flat.numel()};
}

/// What core fills for the next `count` steps: input_ids, labels, targets, position_ids, lo, hi one after
/// another.
inline std::vector<I64> by_hand(const Reader& reader, const LoaderOptions& options, std::size_t count,
                                const SamplerState* resume = nullptr) {
  const auto& digest = reader.header().content_digest;
  auto sampler = resume ? Sampler::resume(reader.packs(), digest, options.sampler, *resume)
                        : Sampler::create(reader.packs(), digest, options.sampler);
  DOCTEST_REQUIRE(sampler.ok());
  std::vector<I64> out;
  std::vector<std::uint64_t> packs(options.sampler.batch);
  const std::size_t cells = packs.size() * kLength;
  for (std::size_t i = 0; i < count; ++i, sampler->advance()) {
    sampler->rows(packs);
    I64 ids(cells), labels(cells), targets(cells), positions(cells);
    std::vector<std::int32_t> lo(cells), hi(cells);
    RowOptions rows = options.rows;
    rows.row_length = kLength;
    DOCTEST_REQUIRE(fill_rows(reader, packs, rows,
                              {.input_ids = ids.data(),
                               .labels = labels.data(),
                               .targets = targets.data(),
                               .position_ids = positions.data(),
                               .lo = lo.data(),
                               .hi = hi.data()})
                        .ok());
    I64& all = out.emplace_back(ids);
    for (const I64* part : {&labels, &targets, &positions}) all.insert(all.end(), part->begin(), part->end());
    all.insert(all.end(), lo.begin(), lo.end());
    all.insert(all.end(), hi.begin(), hi.end());
  }
  return out;
}

}  // namespace tokpack::test
