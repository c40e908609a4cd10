// On a GPU: the loader's batches and masks equal the CPU's. Without one: errors that say so.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <doctest/doctest.h>

#include "packs.h"
#include "tokpack/torch/loader.h"
#include "tokpack/torch/masks.h"

using namespace tokpack;
using namespace tokpack::test;
namespace tl = tokpack::libtorch;

DOCTEST_TEST_CASE("without a GPU, asking for one is an error that says what to do") {
  if (at::hasCUDA()) {
    DOCTEST_MESSAGE("skipped: there is a GPU");
    return;
  }
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  try {
    tl::TensorLoader loader(reader, {.device = at::Device("cuda")});
    DOCTEST_FAIL("expected an exception");
  } catch (const tl::Exception& error) {
    DOCTEST_CHECK(error.code() == Errc::kCuda);
    DOCTEST_CHECK(std::string(error.what()).find("finds no CUDA device") != std::string::npos);
  }
}

DOCTEST_TEST_CASE("on a GPU, batches arrive as the CPU has them, however far the host runs ahead") {
  if (!at::hasCUDA()) {
    DOCTEST_MESSAGE("skipped: no GPU");
    return;
  }
  const TempDir folder;
  const Reader reader = open(write_packs(folder));
  const LoaderOptions options{
      .sampler = {.batch = 2}, .labels = true, .targets = true, .position_ids = true, .intervals = true};
  tl::TensorLoader there(reader, {.core = options, .device = at::Device("cuda")}),
      here(reader, {.core = options});
  std::vector<tl::TensorBatch> batches;
  for (int i = 0; i < 200; ++i) batches.push_back(there.next());
  DOCTEST_CHECK(there.blocks() <= 2 + 1 + 4);
  for (const tl::TensorBatch& batch : batches) {
    const tl::TensorBatch expected = here.next();
    DOCTEST_REQUIRE(batch.input_ids.is_cuda());
    DOCTEST_REQUIRE(at::equal(batch.input_ids.cpu(), expected.input_ids));
    DOCTEST_REQUIRE(at::equal(batch.labels.cpu(), expected.labels));
    DOCTEST_REQUIRE(at::equal(batch.targets.cpu(), expected.targets));
    DOCTEST_REQUIRE(at::equal(batch.position_ids.cpu(), expected.position_ids));
    DOCTEST_REQUIRE(at::equal(batch.lo.cpu(), expected.lo));
    DOCTEST_REQUIRE(at::equal(batch.lengths.cpu(), expected.lengths));
    DOCTEST_CHECK(batch.packs == expected.packs);
    if (tl::has_cuda_masks()) {
      DOCTEST_REQUIRE(at::equal(tl::attention_mask(batch).cpu(), tl::attention_mask(expected)));
    }
  }
}
