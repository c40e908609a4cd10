#include "tokpack/core/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "reader_text.h"

namespace tokpack {
namespace {

Error bad_options(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

/// Memory for the ring of a loader with buffers of its own.
class AlignedBlock {
 public:
  explicit AlignedBlock(std::size_t bytes) : data_(std::aligned_alloc(64, (bytes + 63) / 64 * 64)) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  AlignedBlock(AlignedBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  AlignedBlock& operator=(AlignedBlock&&) = delete;
  ~AlignedBlock() { std::free(data_); }
  template <typename T>
  T* as() noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
};

}  // namespace

struct Loader::Impl {
  struct Slot {
    LoadedBatch batch;
    bool ready = false;
    std::optional<Error> error;
  };

  Reader reader;
  LoaderOptions options;
  std::uint32_t row_length;
  Sampler handed_out;  // the caller's thread alone
  std::vector<AlignedBlock> blocks;
  std::vector<Slot> slots;

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex. Batch n stands in slot n % slots.
  std::uint64_t claimed = 0;   // batches given to a worker
  std::uint64_t returned = 0;  // batches handed out
  Sampler::Position to_claim;
  bool stop = false;
  std::vector<std::thread> workers;

  Impl(const Reader& r, const LoaderOptions& o, const Sampler& sampler)
      : reader(r),
        options(o),
        row_length(o.rows.row_length != 0 ? o.rows.row_length : r.header().capacity),
        handed_out(sampler),
        to_claim(sampler.position()) {
    options.rows.row_length = row_length;
    if (o.rows.max_sequences == 0) options.rows.max_sequences = r.header().most_sequences_in_pack;
  }
  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void own_buffers();
  void work(Sampler order) noexcept;
  Slot& claim(const Sampler& order) noexcept;
  void fill_claimed(const Sampler& order, const Sampler::Position& following, Slot& slot,
                    std::optional<Error>& error) noexcept;
  Result<void> fill(const Sampler& order, LoadedBatch& batch);
  bool may_claim() const noexcept {
    // A slot is free once `kept` batches after its last one were handed out.
    const std::uint64_t held = std::min<std::uint64_t>(returned, options.kept);
    return claimed - (returned - held) < slots.size();
  }
};

void Loader::Impl::own_buffers() {
  const std::size_t rows = options.sampler.batch;
  std::size_t cells = 0, most_bytes = 0;
  if (__builtin_mul_overflow(rows, std::size_t{row_length}, &cells) ||
      __builtin_mul_overflow(cells, std::size_t{16}, &most_bytes)) {  // with room to round up
    throw std::bad_alloc();
  }
  std::size_t entries = 0;  // of boundaries
  if (options.boundaries &&
      (__builtin_mul_overflow(rows, std::size_t{options.rows.max_sequences} + 1, &entries) ||
       __builtin_mul_overflow(entries, std::size_t{8}, &most_bytes))) {
    throw std::bad_alloc();
  }
  const auto wide = [&](bool wanted) -> std::int64_t* {
    return wanted ? blocks.emplace_back(cells * 8).as<std::int64_t>() : nullptr;
  };
  const auto narrow = [&](bool wanted, std::size_t count) -> std::int32_t* {
    return wanted ? blocks.emplace_back(count * 4).as<std::int32_t>() : nullptr;
  };
  for (Slot& slot : slots) {
    RowOutputs& out = slot.batch.rows;
    out.input_ids = wide(true);
    out.labels = wide(options.labels);
    out.targets = wide(options.targets);
    out.position_ids = wide(options.position_ids);
    out.lengths = narrow(true, rows);
    out.lo = narrow(options.intervals, cells);
    out.hi = narrow(options.intervals && needs_hi(options.rows.intervals.family), cells);
    out.document_ids = narrow(options.document_ids, cells);
    out.boundaries = narrow(options.boundaries, entries);
  }
}

Result<void> Loader::Impl::fill(const Sampler& order, LoadedBatch& batch) {
  order.rows_at(batch.position, options.sampler.rank, batch.packs);
  auto counts = fill_rows(reader, batch.packs, options.rows, batch.rows);
  if (!counts) return counts.error();
  batch.counts = *counts;
  if (options.step_targets) {
    const auto targets = order.step_targets_at(reader, batch.position);
    if (!targets) return targets.error();
    batch.step_targets = targets->targets;
    batch.step_label_targets = targets->label_targets;
  }
  return {};
}

/// The next batch's slot. REQUIRES: the mutex, unless no thread works; may_claim().
Loader::Impl::Slot& Loader::Impl::claim(const Sampler& order) noexcept {
  Slot& slot = slots[static_cast<std::size_t>(claimed % slots.size())];
  ++claimed;
  slot.batch.position = to_claim;
  to_claim = order.after(to_claim);
  slot.ready = false;
  return slot;
}

void Loader::Impl::fill_claimed(const Sampler& order, const Sampler::Position& following, Slot& slot,
                                std::optional<Error>& error) noexcept {
  // The pages of the next step are asked for while this one is filled.
  order.rows_at(following, options.sampler.rank, slot.batch.packs);
  for (const std::uint64_t pack : slot.batch.packs) {
    if (pack != Sampler::kNoPack) reader.advise(AccessHint::kWillNeed, pack, 1);
  }
  try {
    if (auto done = fill(order, slot.batch); !done) error = std::move(done).error();
  } catch (const std::bad_alloc&) {
    error = detail::out_of_memory("for a batch");
  }
}

void Loader::Impl::work(Sampler order) noexcept {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stop || may_claim(); });
    if (stop) return;
    Slot& slot = claim(order);
    const Sampler::Position following = to_claim;
    lock.unlock();

    std::optional<Error> error;
    fill_claimed(order, following, slot, error);

    lock.lock();
    slot.error = std::move(error);
    slot.ready = true;
    changed.notify_all();
  }
}

Loader::Loader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

Result<Loader> Loader::create(const Reader& reader, const LoaderOptions& options,
                              const SamplerState* resume) {
  return start(reader, options, {}, resume, true);
}

Result<Loader> Loader::create(const Reader& reader, const LoaderOptions& options,
                              std::span<const RowOutputs> ring, const SamplerState* resume) {
  return start(reader, options, ring, resume, false);
}

Result<Loader> Loader::start(const Reader& reader, const LoaderOptions& options,
                             std::span<const RowOutputs> ring, const SamplerState* resume, bool own) try {
  constexpr std::size_t kMost = 1 << 16;
  if (options.ahead == 0 || options.kept == 0 || options.threads > kMost || options.ahead > kMost ||
      options.kept > kMost) {
    return bad_options(fmt::format(
        "a loader needs threads of 0 to 65536, ahead and kept of 1 to 65536; these are {}, {} and {}",
        options.threads, options.ahead, options.kept));
  }
  const std::size_t slots = options.ahead + options.kept;
  if (!own && ring.size() != slots) {
    return bad_options(fmt::format("a ring of {} buffers, expected ahead + kept = {}", ring.size(), slots));
  }
  const Hash128& digest = reader.header().content_digest;
  auto sampler = resume != nullptr ? Sampler::resume(reader.packs(), digest, options.sampler, *resume)
                                   : Sampler::create(reader.packs(), digest, options.sampler);
  if (!sampler) return std::move(sampler).error();
  auto impl = std::make_unique<Impl>(reader, options, *sampler);
  impl->slots.resize(slots);
  if (own) impl->own_buffers();
  for (std::size_t i = 0; i < slots; ++i) {
    Impl::Slot& slot = impl->slots[i];
    if (!own) slot.batch.rows = ring[i];
    slot.batch.slot = i;
    slot.batch.packs.resize(options.sampler.batch);
  }
  Impl* const shared = impl.get();
  impl->workers.reserve(options.threads);
  try {
    for (unsigned t = 0; t < options.threads; ++t) {
      impl->workers.emplace_back([shared, order = *sampler] { shared->work(order); });
    }
  } catch (const std::system_error& refused) {
    if (impl->workers.empty()) {
      return Error{Errc::kIo, Error::kNoOffset,
                   fmt::format("cannot start a thread that fills batches: {}", refused.what())};
    }  // fewer threads give the same batches
  }
  return Loader(std::move(impl));
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for the loader's buffers");
}

Result<const LoadedBatch*> Loader::next() { return take(nullptr); }
Result<const LoadedBatch*> Loader::next(const RowOutputs& instead) { return take(&instead); }

Result<const LoadedBatch*> Loader::take(const RowOutputs* instead) {
  Impl& impl = *impl_;
  if (impl.options.threads == 0 && impl.claimed == impl.returned) {
    Impl::Slot& filled = impl.claim(impl.handed_out);
    impl.fill_claimed(impl.handed_out, impl.to_claim, filled, filled.error);
    filled.ready = true;
  }
  std::unique_lock lock(impl.mutex);
  Impl::Slot& slot = impl.slots[static_cast<std::size_t>(impl.returned % impl.slots.size())];
  impl.changed.wait(lock, [&] { return impl.claimed > impl.returned && slot.ready; });
  if (slot.error) return detail::copied(*slot.error);
  if (instead != nullptr &&
      impl.returned >= impl.options.kept) {  // no worker may claim that slot before this
    impl.slots[static_cast<std::size_t>((impl.returned - impl.options.kept) % impl.slots.size())].batch.rows =
        *instead;
  }
  ++impl.returned;
  lock.unlock();
  impl.changed.notify_all();
  impl.handed_out.advance();
  return &slot.batch;
}

std::uint64_t Loader::steps_left() const noexcept { return impl_->handed_out.steps_left(); }
std::uint64_t Loader::steps() const noexcept { return impl_->handed_out.steps(); }
SamplerState Loader::state() const noexcept { return impl_->handed_out.state(); }
std::uint32_t Loader::row_length() const noexcept { return impl_->row_length; }
std::uint32_t Loader::max_sequences() const noexcept { return impl_->options.rows.max_sequences; }

}  // namespace tokpack
