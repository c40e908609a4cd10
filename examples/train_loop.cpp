// Batches of a packed dataset for a trainer: shuffled, padded, filled ahead by a thread, resumed exactly.
//
//   train_loop FILE.tpk    trains nothing: prints the counts of each batch and the state at the end
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "tokpack/core/loader.h"
#include "tokpack/core/reader.h"
#include "tokpack/core/sampler.h"

void train(const tokpack::LoadedBatch& batch) {
  std::printf("batch of %zu rows, %llu tokens, %llu targets\n", batch.packs.size(),
              static_cast<unsigned long long>(batch.counts.tokens),
              static_cast<unsigned long long>(batch.counts.label_targets));
}

// In the README from here
tokpack::Result<std::string> train_epoch(const tokpack::Reader& reader, std::uint32_t rank,
                                         std::uint32_t ranks, const tokpack::SamplerState* resume = nullptr) {
  auto loader = tokpack::Loader::create(
      reader, {.sampler = {.seed = 7, .batch = 8, .ranks = ranks, .rank = rank}, .labels = true}, resume);
  if (!loader) return loader.error();
  for (auto step = loader->steps_left(); step > 0; --step) {
    auto batch = loader->next();  // rows.input_ids and rows.labels: int64 [8, capacity], padded
    if (!batch) return batch.error();
    train(**batch);  // divide the loss by counts.label_targets
  }
  return to_text(loader->state());  // a line for the checkpoint; parse_sampler_state() gives `resume` back
}
// to here.

int main(int argc, char** argv) {
  auto reader = tokpack::Reader::open(argc > 1 ? argv[1] : "train.tpk");
  if (!reader) return std::puts(reader.error().detail.c_str()), 1;
  std::optional<tokpack::SamplerState> state;
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto text = train_epoch(*reader, 0, 1, state ? &*state : nullptr);
    if (!text) return std::puts(text.error().detail.c_str()), 1;
    auto parsed = tokpack::parse_sampler_state(*text);
    if (!parsed) return std::puts(parsed.error().detail.c_str()), 1;
    state = *parsed;
    std::printf("epoch %llu is next\n", static_cast<unsigned long long>(state->epoch));
  }
  return 0;
}
