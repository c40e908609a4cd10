// Masks for the C++ trainer, and the dataset for torch's own loaders.
#include "tokpack/torch/masks.h"

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>
#include <torch/data/dataloader.h>
#include <torch/data/samplers/sequential.h>

#include <algorithm>

#include "packs.h"
#include "tokpack/torch/dataset.h"

using namespace tokpack;
using namespace tokpack::test;
namespace tl = tokpack::libtorch;

namespace {

at::Tensor int32(std::vector<std::int32_t> row) {
  const auto size = static_cast<std::int64_t>(row.size());
  return at::from_blob(row.data(), {1, size}, at::kInt).clone();
}

const at::Tensor kLo = int32({0, 0, 0, 3, 3, 5, 5, 5});  // the conventions' running example

template <typename Call>
std::string refused(Call&& call) {
  try {
    call();
  } catch (const tl::Exception& error) {
    return error.what();
  }
  DOCTEST_FAIL("expected an exception");
  return {};
}

bool holds(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}  // namespace

DOCTEST_TEST_CASE("masks of every form, from the running example") {
  const at::Tensor mask = tl::attention_mask(kLo);
  DOCTEST_CHECK((mask.sizes() == at::IntArrayRef{1, 1, 8, 8}));
  DOCTEST_CHECK((mask.scalar_type() == at::kBool));
  const at::Tensor rows = mask[0][0].to(at::kLong);
  DOCTEST_CHECK(values(rows[2]) == I64{1, 1, 1, 0, 0, 0, 0, 0});
  DOCTEST_CHECK(values(rows[4]) == I64{0, 0, 0, 1, 1, 0, 0, 0});
  DOCTEST_CHECK(values(rows[7]) == I64{0, 0, 0, 0, 0, 1, 1, 1});
  DOCTEST_CHECK(at::equal(tl::attention_mask(kLo, at::Tensor(), {.form = MaskForm::kInvertedBool}),
                          mask.logical_not()));
  for (const auto& [form, type] : {std::pair(MaskForm::kAdditiveF32, at::kFloat),
                                   {MaskForm::kAdditiveBf16, at::kBFloat16},
                                   {MaskForm::kAdditiveF16, at::kHalf}}) {
    const at::Tensor added = tl::attention_mask(kLo, at::Tensor(), {.form = form});
    DOCTEST_CHECK((added.scalar_type() == type));
    DOCTEST_CHECK(at::equal(added.eq(0), mask));
    DOCTEST_CHECK(at::equal(added.isinf(), mask.logical_not()));
    const at::Tensor finite =
        tl::attention_mask(kLo, at::Tensor(), {.form = form, .masked = MaskedValue::kLowestFinite});
    DOCTEST_CHECK(finite.isfinite().all().item<bool>());
  }
}

DOCTEST_TEST_CASE(
    "a mask written into a strided tensor leaves what is between its rows, and counts as a change") {
  at::Tensor memory = at::full({1, 10, 12}, 7.0f);
  const at::Tensor out = memory.slice(1, 1, 9).slice(2, 2, 10);
  tl::write_attention_mask(kLo, at::Tensor(), {.form = MaskForm::kAdditiveF32}, out);
  DOCTEST_CHECK(out._version() > 0);
  DOCTEST_CHECK(at::equal(out, tl::attention_mask(kLo, at::Tensor(), {.form = MaskForm::kAdditiveF32})[0]));
  out.fill_(7.0f);
  DOCTEST_CHECK(memory.eq(7.0f).all().item<bool>());
}

DOCTEST_TEST_CASE("tensors that are no intervals, and outs that do not fit, are refused with what they are") {
  DOCTEST_CHECK(
      holds(refused([] { tl::attention_mask(kLo.to(at::kLong)); }), "expected a contiguous int32 [B,S]"));
  DOCTEST_CHECK(holds(refused([] { tl::attention_mask(at::Tensor()); }), "lo is undefined"));
  DOCTEST_CHECK(holds(refused([] { tl::attention_mask(kLo.slice(0, 0, 0)); }), "at least 1 row"));
  DOCTEST_CHECK(holds(refused([] { tl::attention_mask(kLo.repeat({8, 1}).t()); }), "contiguous"));
  DOCTEST_CHECK(
      holds(refused([] { tl::attention_mask(kLo, kLo.slice(1, 0, 4).contiguous()); }), "one shape"));
  DOCTEST_CHECK(holds(refused([] { tl::attention_mask(at::zeros({1, 70000}, at::kInt)); }), "set force"));
  const auto into = [](const at::Tensor& out, MaskForm form = MaskForm::kBool) {
    return refused([&] { tl::write_attention_mask(kLo, at::Tensor(), {.form = form}, out); });
  };
  DOCTEST_CHECK(holds(into(at::empty({1, 8, 8})), "of the type of the form"));
  DOCTEST_CHECK(holds(into(at::empty({1, 8, 7}, at::kBool)), "[B,1,S,S] or [B,S,S]"));
  DOCTEST_CHECK(holds(into(at::empty({1, 8, 8}, at::kBool).transpose(1, 2)), "do not follow each other"));
  DOCTEST_CHECK(holds(into(at::empty({1, 1, 8}, at::kBool).expand({1, 8, 8})), "lie in one place"));
  const at::Tensor memory = at::zeros({72}, at::kInt);
  DOCTEST_CHECK(holds(refused([&] {
                        tl::write_attention_mask(memory.slice(0, 0, 8).view({1, 8}), at::Tensor(),
                                                 {.form = MaskForm::kAdditiveF32},
                                                 memory.view(at::kFloat).slice(0, 7, 71).view({1, 8, 8}));
                      }),
                      "overlap"));
}

DOCTEST_TEST_CASE("outs that torch would not see change are refused before anything is written") {
  const at::Tensor lo = at::zeros({1, 8}, at::kInt);
  const tl::AttentionMaskOptions additive{.form = MaskForm::kAdditiveF32};
  const at::Tensor weight = at::zeros({1, 1, 8, 8}).requires_grad_(true);
  DOCTEST_CHECK_THROWS_AS(tl::write_attention_mask(lo, at::Tensor(), additive, weight), tl::Exception);
  DOCTEST_CHECK_THROWS_AS(tl::write_attention_mask(lo, at::Tensor(), additive, weight * 3), tl::Exception);
  at::Tensor made;
  {
    const c10::InferenceMode guard;
    made = at::zeros({1, 1, 8, 8});
  }
  DOCTEST_CHECK_THROWS_AS(tl::write_attention_mask(lo, at::Tensor(), additive, made), tl::Exception);
  DOCTEST_CHECK(made.sum().item<double>() == 0);
  DOCTEST_CHECK(weight.sum().item<double>() == 0);
  const at::Tensor meta = at::empty({1, 8}, at::TensorOptions().dtype(at::kInt).device(at::kMeta));
  DOCTEST_CHECK_THROWS_AS(tl::attention_mask(meta), tl::Exception);
  DOCTEST_CHECK_THROWS_AS(tl::attention_mask(lo, meta), tl::Exception);
}

DOCTEST_TEST_CASE("a batch without intervals has no mask; one with them has the mask of its packs") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  tl::TensorLoader without(reader, {});
  DOCTEST_CHECK(holds(refused([&] { tl::attention_mask(without.next()); }), "set `intervals`"));
  tl::TensorLoader with(reader, {.core = {.sampler = {.shuffle = false, .batch = 2}, .intervals = true}});
  const at::Tensor mask = tl::attention_mask(with.next());
  DOCTEST_CHECK(values(mask[1][0].to(at::kLong)) == I64{1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0,
                                                        0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0,
                                                        0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1});
}

DOCTEST_TEST_CASE("torch's data loader serves the dataset's packs, with any number of workers") {
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options{.sampler = {.shuffle = false, .batch = 4},
                              .rows = {.intervals = {.family = MaskFamily::kBidirectional}},
                              .labels = true,
                              .targets = true,
                              .position_ids = true,
                              .intervals = true};
  const auto expected = by_hand(reader, options, 5);
  DOCTEST_CHECK(*tl::PackDataset(reader).size() == 23);
  for (const std::size_t workers : {0u, 2u}) {
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        tl::PackDataset(reader, options),
        torch::data::DataLoaderOptions().batch_size(4).workers(workers).drop_last(true));
    std::size_t batches = 0;
    for (const tl::TensorBatch& batch : *loader) {
      DOCTEST_REQUIRE(batches < expected.size());
      I64 ids = values(batch.input_ids);
      DOCTEST_CHECK(std::equal(ids.begin(), ids.end(), expected[batches].begin()));
      const I64 hi = values(batch.hi);
      DOCTEST_CHECK(std::equal(hi.rbegin(), hi.rend(), expected[batches].rbegin()));
      DOCTEST_CHECK(batch.packs.size() == 4);
      ++batches;
    }
    DOCTEST_CHECK(batches == 5);
  }
  tl::PackDataset dataset(reader);
  const std::vector<std::size_t> beyond{23};
  DOCTEST_CHECK(holds(refused([&] { dataset.get_batch(beyond); }), "23"));
}
