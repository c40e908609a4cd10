#include "tokpack/torch/loader.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "batch_block.h"

namespace tokpack::libtorch {
namespace {

/// Pinned blocks beyond ahead + 1 before a copy is waited for: the host may run this far in front of the GPU.
constexpr std::size_t kSparePinnedBlocks = 4;

c10::Device usable(c10::Device device) {
  if (device.is_cpu()) return device;
  if (!device.is_cuda()) {
    throw Exception({Errc::kOptions, Error::kNoOffset,
                     "batches for the device '" + device.str() + "', expected cpu or cuda"});
  }
  if (!at::hasCUDA()) {
    throw Exception({Errc::kCuda, Error::kNoOffset,
                     "batches for the device '" + device.str() +
                         "', but this PyTorch finds no CUDA device; use the CPU, or a build and a driver for "
                         "CUDA"});
  }
  const c10::impl::VirtualGuardImpl devices(device.type());
  if (!device.has_index()) return devices.getDevice();  // the current one
  if (device.index() >= devices.deviceCount()) {
    throw Exception({Errc::kOptions, Error::kNoOffset,
                     "batches for the device '" + device.str() + "', and there are " +
                         std::to_string(devices.deviceCount()) + " CUDA devices, from 0"});
  }
  return device;
}

}  // namespace

struct TensorLoader::Impl {
  struct Block {
    at::Tensor memory;  // [bytes] uint8
    std::optional<c10::Event> copied;
    bool in_ring = false;

    bool copying() const { return copied && !copied->query(); }
    bool busy() const { return in_ring || is_held(memory) || copying(); }
  };

  c10::Device device;
  BatchLayout layout;
  std::size_t ring_size;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Block*> ring;      // by slot
  Block* handed_out = nullptr;   // the last batch's: what the next call takes back
  std::optional<Loader> loader;  // stops before the blocks go

  Impl(c10::Device on, const Reader& reader, const LoaderOptions& options)
      : device(on), layout(reader, options), ring_size(options.ahead + options.kept) {}

  Block& new_block() {
    const c10::OptionalDeviceGuard guard(device.is_cpu() ? std::nullopt : std::optional(device));
    auto block = std::make_unique<Block>();
    block->memory =
        at::empty({layout.bytes()}, at::TensorOptions().dtype(at::kByte).pinned_memory(!device.is_cpu()));
    // A tensor of a batch that is resized would take the memory from under the ring: torch refuses it.
    block->memory.storage().unsafeGetStorageImpl()->set_resizable(false);
    return *blocks.emplace_back(std::move(block));
  }

  /// A block that nothing refers to.
  Block& free_block() {
    for (const auto& block : blocks) {
      if (!block->busy()) return *block;
    }
    if (!device.is_cpu() && blocks.size() >= ring_size + kSparePinnedBlocks) {
      const auto copying = std::find_if(blocks.begin(), blocks.end(), [](const auto& block) {
        return !block->in_ring && !is_held(block->memory);
      });
      if (copying != blocks.end()) {
        (*copying)->copied->synchronize();
        return **copying;
      }
    }
    return new_block();
  }

  const LoadedBatch& next_filled() {
    Block* const last = handed_out;
    if (last == nullptr || !(is_held(last->memory) || last->copying())) {
      return *value_or_throw(loader->next());
    }
    Block& instead = free_block();
    const std::size_t slot =
        static_cast<std::size_t>(std::find(ring.begin(), ring.end(), last) - ring.begin());
    const LoadedBatch& batch = *value_or_throw(loader->next(layout.outputs(instead.memory)));
    last->in_ring = false;
    instead.in_ring = true;
    ring[slot] = &instead;
    return batch;
  }

  /// The block on the device, after a copy on its current stream.
  at::Tensor on_device(Block& block) {
    const c10::DeviceGuard guard(device);
    const at::Tensor there = at::empty({layout.bytes()}, at::TensorOptions().dtype(at::kByte).device(device));
    there.copy_(block.memory, /*non_blocking=*/true);
    if (!block.copied) block.copied.emplace(device.type());
    block.copied->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
    return there;
  }
};

TensorLoader::TensorLoader(const Reader& reader, const TensorLoaderOptions& options,
                           const SamplerState* resume) {
  LoaderOptions core = options.core;
  core.kept = 1;  // what is kept for longer, is_held() says
  // Refused before any memory is taken; with its own buffers, core would check the same.
  if (core.ahead == 0 || core.ahead > (1U << 16) || core.sampler.batch == 0) {
    throw Exception({Errc::kOptions, Error::kNoOffset,
                     "a loader needs ahead of 1 to 65536 and a batch of at least 1; these are " +
                         std::to_string(core.ahead) + " and " + std::to_string(core.sampler.batch)});
  }
  impl_ = std::make_unique<Impl>(usable(options.device), reader, core);
  std::vector<RowOutputs> outputs;
  for (std::size_t slot = 0; slot < impl_->ring_size; ++slot) {
    Impl::Block& block = impl_->new_block();
    block.in_ring = true;
    impl_->ring.push_back(&block);
    outputs.push_back(impl_->layout.outputs(block.memory));
  }
  impl_->loader = value_or_throw(Loader::create(reader, core, outputs, resume));
}

TensorLoader::TensorLoader(TensorLoader&&) noexcept = default;
TensorLoader& TensorLoader::operator=(TensorLoader&&) noexcept = default;
TensorLoader::~TensorLoader() = default;

TensorBatch TensorLoader::next() {
  const LoadedBatch& filled = impl_->next_filled();
  Impl::Block& block = *impl_->ring[filled.slot];
  impl_->handed_out = &block;
  TensorBatch batch;
  batch.packs = filled.packs;
  batch.position = filled.position;
  batch.counts = filled.counts;
  batch.step_targets = filled.step_targets;
  batch.step_label_targets = filled.step_label_targets;
  impl_->layout.give(impl_->device.is_cpu() ? block.memory : impl_->on_device(block), batch);
  return batch;
}

std::uint64_t TensorLoader::steps_left() const noexcept { return impl_->loader->steps_left(); }
std::uint64_t TensorLoader::steps() const noexcept { return impl_->loader->steps(); }
SamplerState TensorLoader::state() const noexcept { return impl_->loader->state(); }
std::uint32_t TensorLoader::row_length() const noexcept { return impl_->loader->row_length(); }
std::size_t TensorLoader::blocks() const noexcept { return impl_->blocks.size(); }

}  // namespace tokpack::libtorch
