#include "tokpack/core/sampler.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "reader_text.h"
#include "tokpack/format/checksum.h"

namespace tokpack {
namespace {

Error bad_options(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

Error bad_state(std::string detail) { return {Errc::kSamplerState, Error::kNoOffset, std::move(detail)}; }

}  // namespace

Sampler::Sampler(std::uint64_t packs, const Hash128& digest, const SamplerOptions& options) noexcept
    : options_(options), digest_(digest), order_(packs, options.seed, 0) {}

Result<Sampler> Sampler::create(std::uint64_t packs, const Hash128& digest,
                                const SamplerOptions& options) try {
  if (options.batch == 0 || options.ranks == 0 || options.rank >= options.ranks) {
    return bad_options(
        fmt::format("a sampler needs a batch and ranks of at least 1 and a rank below the number of ranks; "
                    "these are batch {}, ranks {}, rank {}",
                    options.batch, options.ranks, options.rank));
  }
  if (options.remainder > Remainder::kWrap) return bad_options("a remainder is drop, pad or wrap");
  if (packs == 0) return bad_options("the file has no packs, so there is no order to train in");
  const std::uint64_t rows = std::uint64_t{options.ranks} * options.batch;
  if (packs > Permutation::kMostPacks || rows > Permutation::kMostPacks) {
    return bad_options(
        fmt::format("{} packs in steps of {} rows, expected at most 2^62 of each", packs, rows));
  }
  if (options.remainder == Remainder::kDrop && packs < rows) {
    return bad_options(fmt::format(
        "{} packs do not fill one step of {} rows ({} ranks x batch {}), so `drop` leaves no step: "
        "choose `pad` (empty rows) or `wrap` (packs again), a smaller batch or fewer ranks",
        packs, rows, options.ranks, options.batch));
  }
  return Sampler(packs, digest, options);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a message");
}

Result<Sampler> Sampler::resume(std::uint64_t packs, const Hash128& digest, const SamplerOptions& options,
                                const SamplerState& state) try {
  SamplerOptions kept = options;
  kept.seed = state.seed;
  kept.shuffle = state.shuffle;
  kept.remainder = state.remainder;
  if (state.digest != digest) {
    return bad_state(
        fmt::format("the state is of another dataset, or of these samples packed otherwise: its digest is "
                    "{}, this file's is "
                    "{}; open the file that the run was started with, or start a new run",
                    to_hex(state.digest), to_hex(digest)));
  }
  if (state.plan != 0) {
    return bad_state(
        fmt::format("the state is of plan {:016x}, not of the packs of the file (plan 0)", state.plan));
  }
  auto sampler = create(packs, digest, kept);
  if (!sampler) return sampler;
  if (state.cursor >= packs) {
    return bad_state(fmt::format("the state has handed out {} packs of an epoch of {}", state.cursor, packs));
  }
  Position at{state.epoch, state.cursor};
  if (sampler->steps_from(at.cursor) == 0) at = {state.epoch + 1, 0};
  sampler->position_ = at;
  sampler->order_ = Permutation(packs, kept.seed, at.epoch);
  return sampler;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a message");
}

SamplerState Sampler::state() const noexcept {
  return {.digest = digest_,
          .seed = options_.seed,
          .epoch = position_.epoch,
          .cursor = position_.cursor,
          .remainder = options_.remainder,
          .shuffle = options_.shuffle,
          .plan = 0};
}

std::uint64_t Sampler::steps_from(std::uint64_t cursor) const noexcept {
  const std::uint64_t left = packs() - cursor, rows = rows_of_step();
  return left / rows + (options_.remainder != Remainder::kDrop && left % rows != 0 ? 1 : 0);
}

void Sampler::rows_at(Position at, std::uint32_t rank, std::span<std::uint64_t> out) const noexcept {
  const Permutation order =
      at.epoch == position_.epoch ? order_ : Permutation(packs(), options_.seed, at.epoch);
  std::uint64_t j = at.cursor + std::uint64_t{rank} * options_.batch;
  for (std::uint64_t& row : out) {
    std::uint64_t place = j++;
    if (place >= packs()) {
      if (options_.remainder == Remainder::kPad) {
        row = kNoPack;
        continue;
      }
      place = (place - packs()) % packs();
    }
    row = options_.shuffle ? order(place) : place;
  }
}

Sampler::Position Sampler::after(Position at) const noexcept {
  at.cursor = std::min(packs(), at.cursor + rows_of_step());
  if (steps_from(at.cursor) == 0) at = {at.epoch + 1, 0};
  return at;
}

void Sampler::advance() noexcept {
  const std::uint64_t epoch = position_.epoch;
  position_ = after(position_);
  if (position_.epoch != epoch) order_ = Permutation(packs(), options_.seed, position_.epoch);
}

Result<StepTargets> Sampler::step_targets_at(const Reader& reader, Position at) const try {
  std::vector<std::uint64_t> rows(options_.batch);
  PackBuffer buffer;
  StepTargets total;
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
    rows_at(at, rank, rows);
    for (const std::uint64_t row : rows) {
      if (row == kNoPack) continue;
      const auto pack = reader.pack(row, buffer);
      if (!pack) return pack.error();
      std::uint64_t tails = 0;
      for (const std::int32_t tail : pack->tail_labels()) tails += tail != pack->ignore_index() ? 1u : 0u;
      total.targets += pack->targets();
      total.label_targets += pack->targets() - std::min<std::uint64_t>(tails, pack->targets());
    }
  }
  return total;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for the rows of a step");
}

}  // namespace tokpack
