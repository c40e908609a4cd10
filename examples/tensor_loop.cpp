// One epoch of batches as tensors on a device, with the mask of each made from its row intervals.
// examples/train.cpp is a whole trainer.
//
//   tensor_loop FILE.tpk    trains nothing: prints what each batch holds and the state at the end
#include <ATen/ATen.h>

#include <cstdio>
#include <string>

#include "tokpack/torch/loader.h"
#include "tokpack/torch/masks.h"

namespace {

void train(const tokpack::libtorch::TensorBatch& batch, const at::Tensor& mask) {
  std::printf("%lld rows of %lld, %lld attended cells, %llu targets\n",
              static_cast<long long>(batch.input_ids.size(0)),
              static_cast<long long>(batch.input_ids.size(1)),
              static_cast<long long>(mask.sum().item<std::int64_t>()),
              static_cast<unsigned long long>(batch.counts.targets));
}

// In the README from here
std::string train_epoch(const tokpack::Reader& reader, c10::Device device,
                        const tokpack::SamplerState* resume = nullptr) {
  tokpack::libtorch::TensorLoader loader(
      reader,
      {.core = {.sampler = {.seed = 7, .batch = 8}, .targets = true, .intervals = true}, .device = device},
      resume);
  for (auto left = loader.steps_left(); left > 0; --left) {
    const tokpack::libtorch::TensorBatch batch = loader.next();  // input_ids, targets: int64 [8, S], padded
    const at::Tensor mask = tokpack::libtorch::attention_mask(batch);  // bool [8, 1, S, S], True = attend
    train(batch, mask);                                                // divide the loss by counts.targets
  }
  return to_text(loader.state());  // a line for the checkpoint; parse_sampler_state() gives `resume` back
}
// to here.

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: tensor_loop FILE.tpk\n", stderr), 2;
  const tokpack::Reader reader = tokpack::libtorch::value_or_throw(tokpack::Reader::open(argv[1]));
  std::puts(train_epoch(reader, at::kCPU).c_str());
  return 0;
} catch (const std::exception& error) {
  return std::fprintf(stderr, "tensor_loop: %s\n", error.what()), 1;
}
