// Trains a small GPT in LibTorch on a packed dataset: batches of the loader, the mask of each from its row
// intervals, attention by scaled_dot_product_attention. Stopped and resumed, it goes on to the same losses.
//
//   train FILE.tpk [--steps N] [--batch B] [--width D] [--layers L] [--heads H] [--rate R] [--seed X]
//         [--device cpu|cuda|cuda:I] [--every K] [--save CHECKPOINT] [--resume CHECKPOINT]
//
// --steps counts from the beginning, over stops as well. --save writes model, optimizer and the sampler's
// state at the end, complete or not at all (checkpoint.h); --resume takes them up, and the model's shape, the
// learning rate and the order with them. Without --device it uses CUDA where torch finds it. Equal numbers of
// threads give equal losses, bit for bit, on the CPU; on a GPU some of torch's own kernels add in varying
// order.
#include <torch/torch.h>

#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint.h"
#include "tokpack/core/reader.h"
#include "tokpack/torch/loader.h"
#include "tokpack/torch/masks.h"
#include "tokpack/torch/tensors.h"

namespace tl = tokpack::libtorch;
namespace nn = torch::nn;

struct Settings {
  std::string file, save, resume;
  std::int64_t steps = 200, batch = 2, width = 64, layers = 2, heads = 4, seed = 1, every = 10;
  double rate = 3e-3;
  std::optional<torch::Device> device;
};

struct BlockImpl : nn::Module {
  BlockImpl(std::int64_t width, std::int64_t head_count)
      : heads(head_count),
        norm_1(register_module("norm_1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        norm_2(register_module("norm_2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        out(register_module("out", nn::Linear(width, width))),
        up(register_module("up", nn::Linear(width, 4 * width))),
        down(register_module("down", nn::Linear(4 * width, width))) {}

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask) {
    const auto parts = qkv(norm_1(x)).unflatten(-1, {3, heads, -1}).permute({2, 0, 3, 1, 4}).unbind();
    const auto seen = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], mask);
    x = x + out(seen.transpose(1, 2).flatten(2));
    return x + down(torch::gelu(up(norm_2(x))));
  }

  std::int64_t heads;
  nn::LayerNorm norm_1, norm_2;
  nn::Linear qkv, out, up, down;
};
TORCH_MODULE(Block);

struct GptImpl : nn::Module {
  /// `ids`: [V] int64, ascending: the token ids that it knows, by its own numbers. `ignored`: the target of
  /// what is not trained.
  GptImpl(const torch::Tensor& ids, std::int64_t ignored, std::int64_t positions, const Settings& settings)
      : ignored_target(ignored),
        known(register_buffer("known", ids)),
        tokens(register_module("tokens", nn::Embedding(ids.size(0), settings.width))),
        places(register_module("places", nn::Embedding(positions, settings.width))),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({settings.width})))) {
    for (std::int64_t i = 0; i < settings.layers; ++i) {
      blocks.push_back(register_module("block_" + std::to_string(i), Block(settings.width, settings.heads)));
    }
    const torch::NoGradGuard guard;
    for (const torch::Tensor& weight : {tokens->weight, places->weight}) weight.normal_(0, 0.02);
  }

  /// The mean over what is trained; only there are logits computed.
  torch::Tensor loss(const tl::TensorBatch& batch) {
    const torch::Tensor mask = tl::attention_mask(batch);  // [B,1,S,S], True = attend
    torch::Tensor x = tokens(number(batch.input_ids)) + places(batch.position_ids);
    for (Block& block : blocks) x = block(x, mask);
    const torch::Tensor trained = (batch.targets != ignored_target).flatten().nonzero().squeeze(1);
    const torch::Tensor logits =
        torch::linear(norm(x.flatten(0, 1).index_select(0, trained)), tokens->weight);
    const torch::Tensor targets = number(batch.targets.flatten().index_select(0, trained));
    return torch::nn::functional::cross_entropy(
               logits, targets, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)) /
           static_cast<double>(batch.counts.targets);
  }

  /// Of ids; a pad, or an id that stands nowhere in the file but as a target, has that of a neighbour.
  torch::Tensor number(const torch::Tensor& token_ids) const {
    return torch::searchsorted(known, token_ids).clamp_max(known.size(0) - 1);
  }

  std::int64_t ignored_target;
  torch::Tensor known;
  nn::Embedding tokens, places;
  nn::LayerNorm norm;
  std::vector<Block> blocks;
};
TORCH_MODULE(Gpt);

template <typename T>
T number(std::string_view name, std::string_view text, T least) {
  constexpr T kMost = std::is_floating_point_v<T> ? T{1000} : T{std::numeric_limits<std::int32_t>::max()};
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= kMost)) {
    throw std::invalid_argument(std::string(name) + " takes a number of " + std::to_string(least) + " to " +
                                std::to_string(kMost) + ", and not '" + std::string(text) + "'");
  }
  return value;
}

torch::Device device_of(std::string_view text) {
  try {
    return torch::Device(std::string(text));
  } catch (const c10::Error&) {
    throw std::invalid_argument("--device takes cpu, cuda or cuda:I, and not '" + std::string(text) + "'");
  }
}

struct Help {};

Settings parse(int argc, char** argv) {
  Settings settings;
  std::string_view shape;  // an option that a checkpoint decides
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "-h" || name == "--help") throw Help();
    if (!name.starts_with("--")) {
      if (!settings.file.empty()) throw std::invalid_argument("two files are given; expected one");
      settings.file = name;
      continue;
    }
    if (++i == argc) throw std::invalid_argument(std::string(name) + " needs a value");
    const std::string_view value = argv[i];
    for (const std::string_view own : {"--width", "--layers", "--heads", "--rate", "--seed"}) {
      if (name == own) shape = name;
    }
    if (value.empty()) throw std::invalid_argument(std::string(name) + " needs a value");
    if (name == "--steps")
      settings.steps = number<std::int64_t>(name, value, 1);
    else if (name == "--batch")
      settings.batch = number<std::int64_t>(name, value, 1);
    else if (name == "--width")
      settings.width = number<std::int64_t>(name, value, 1);
    else if (name == "--layers")
      settings.layers = number<std::int64_t>(name, value, 1);
    else if (name == "--heads")
      settings.heads = number<std::int64_t>(name, value, 1);
    else if (name == "--seed")
      settings.seed = number<std::int64_t>(name, value, 0);
    else if (name == "--every")
      settings.every = number<std::int64_t>(name, value, 1);
    else if (name == "--rate")
      settings.rate = number<double>(name, value, 0);
    else if (name == "--device")
      settings.device = device_of(value);
    else if (name == "--save")
      settings.save = value;
    else if (name == "--resume")
      settings.resume = value;
    else
      throw std::invalid_argument("unknown option " + std::string(name));
  }
  if (settings.file.empty()) throw std::invalid_argument("no file is given");
  if (!settings.resume.empty() && !shape.empty()) {
    throw std::invalid_argument(std::string(shape) +
                                " is the checkpoint's own; leave it out beside --resume");
  }
  return settings;
}

std::int64_t integer(torch::serialize::InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value.toInt();
}

void save(CheckpointFile& file, const Settings& settings, std::int64_t step, const Gpt& model,
          const torch::optim::AdamW& optimizer, const tl::TensorLoader& loader) {
  torch::serialize::OutputArchive archive, model_part, optimizer_part;
  model->save(model_part);
  optimizer.save(optimizer_part);
  archive.write("model", model_part);
  archive.write("optimizer", optimizer_part);
  archive.write("sampler", c10::IValue(to_text(loader.state())));
  archive.write("step", c10::IValue(step));
  archive.write("width", c10::IValue(settings.width));
  archive.write("layers", c10::IValue(settings.layers));
  archive.write("heads", c10::IValue(settings.heads));
  file.write(archive);
}

void train(Settings settings) {
  const tokpack::Reader reader = tl::value_or_throw(tokpack::Reader::open(settings.file));
  const torch::Device device = settings.device.value_or(
      torch::cuda::is_available() && tl::has_cuda_masks() ? torch::Device(torch::kCUDA) : torch::kCPU);

  std::int64_t step = 0;
  std::optional<tokpack::SamplerState> state;
  torch::serialize::InputArchive archive;
  if (!settings.resume.empty()) {
    read_checkpoint(settings.resume, archive);
    c10::IValue text;
    archive.read("sampler", text);
    state = tl::value_or_throw(tokpack::parse_sampler_state(text.toStringRef()));
    step = integer(archive, "step");
    settings.width = integer(archive, "width");
    settings.layers = integer(archive, "layers");
    settings.heads = integer(archive, "heads");
  }
  std::optional<CheckpointFile> checkpoint;
  if (!settings.save.empty()) checkpoint.emplace(settings.save, settings.file);
  if (settings.width % settings.heads != 0) throw std::invalid_argument("--width is no multiple of --heads");
  tl::TensorLoader loader(reader,
                          {.core = {.sampler = {.seed = static_cast<std::uint64_t>(settings.seed),
                                                .batch = static_cast<std::uint32_t>(settings.batch)},
                                    .targets = true,
                                    .position_ids = true,
                                    .intervals = true},
                           .device = device},
                          state ? &*state : nullptr);

  torch::manual_seed(static_cast<std::uint64_t>(settings.seed));
  // A view of the mapped file; what is made of it are copies.
  const torch::Tensor ids = std::get<0>(at::_unique(tl::view_all_tokens(reader).to(torch::kLong)));
  Gpt model(ids, reader.header().ignore_index, loader.row_length(), settings);
  model->to(device);
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(settings.rate).weight_decay(0.1));
  if (state) {
    torch::serialize::InputArchive part;
    archive.read("model", part);
    model->load(part);
    archive.read("optimizer", part);
    optimizer.load(part);
  }
  std::fprintf(stderr, "%" PRIu64 " packs of up to %u tokens, steps of %" PRId64 " packs, on %s\n",
               reader.packs(), loader.row_length(), settings.batch, device.str().c_str());

  if (step >= settings.steps) {
    std::fprintf(stderr,
                 "the checkpoint has %" PRId64 " steps; --steps %" PRId64 " leaves nothing to train\n", step,
                 settings.steps);
  }
  for (; step < settings.steps; ++step) {
    const tl::TensorBatch batch = loader.next();
    const bool trains = batch.counts.targets != 0;
    if (trains) {
      const torch::Tensor loss = model->loss(batch);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      if (step == 0 || (step + 1) % settings.every == 0 || step + 1 == settings.steps) {
        std::printf("step %" PRId64 " epoch %" PRIu64 " loss %.9g\n", step + 1, batch.position.epoch,
                    loss.item<double>());
        std::fflush(stdout);
      }
    }
  }
  if (checkpoint) {
    save(*checkpoint, settings, step, model, optimizer, loader);
    std::fprintf(stderr, "saved %s\n", settings.save.c_str());
  }
}

constexpr const char* kUsage =
    "usage: train FILE.tpk [--steps N] [--batch B] [--width D] [--layers L] [--heads H] [--rate R] [--seed "
    "X]\n"
    "             [--device cpu|cuda|cuda:I] [--every K] [--save CHECKPOINT] [--resume CHECKPOINT]\n";

int main(int argc, char** argv) {
  try {
    train(parse(argc, argv));
    return 0;
  } catch (const Help&) {
    std::fputs(kUsage, stdout);
    return 0;
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "train: %s\n%s", wrong.what(), kUsage);
    return 2;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "train: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
  }
  return 3;
}
