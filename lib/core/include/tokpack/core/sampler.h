// Which packs each rank gets in each step, and a state from which any program goes on exactly.
//
// A Sampler holds no list: the order is a permutation computed per index. Rows are numbered over all ranks,
// so that ranks never meet, all take the same number of steps, and a state may be taken up with another
// number of ranks or another batch size.
//
// Spec: order.md, sections 3 and 4. Ownership: a value. Threads: const members from any thread; advance() and
// resume from one. Errors: kOptions, kSamplerState, kOutOfMemory.
//
//   auto sampler = Sampler::create(reader.packs(), reader.header().content_digest,
//                                  {.seed = 7, .batch = 8, .ranks = world, .rank = rank});
//   std::vector<std::uint64_t> packs(8);
//   for (auto step = sampler->steps_left(); step > 0; --step) {
//     sampler->rows(packs);  // kNoPack is an empty row
//     sampler->advance();
//   }
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "tokpack/core/permutation.h"
#include "tokpack/core/reader.h"

namespace tokpack {

/// What happens to the packs of an epoch that do not fill a step.
enum class Remainder : std::uint8_t {
  kDrop,  ///< they are not served in this epoch
  kPad,   ///< the missing rows are empty
  kWrap,  ///< the missing rows are the epoch's first ones again
};

struct SamplerOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;  ///< false: packs in the file's order, in every epoch
  Remainder remainder = Remainder::kDrop;
  std::uint32_t batch = 1;  ///< rows of a step for each rank, at least 1
  std::uint32_t ranks = 1;
  std::uint32_t rank = 0;  ///< below `ranks`
};

/// Where a training run stands. Ranks and batch size are no part of it.
struct SamplerState {
  Hash128 digest{};  ///< content digest of the file
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t cursor = 0;  ///< packs of this epoch handed out, over all ranks
  Remainder remainder = Remainder::kDrop;
  bool shuffle = true;
  std::uint64_t plan = 0;  ///< 0: the packs of the file

  bool operator==(const SamplerState&) const = default;
};

/// One line of text with a check, for checkpoints.
std::string to_text(const SamplerState& state);
/// kSamplerState: damaged, or of a version or algorithm that this library does not know.
Result<SamplerState> parse_sampler_state(std::string_view text);

/// Trained targets of a step over all ranks: the divisor of a mean that is right whatever each rank got.
struct StepTargets {
  std::uint64_t targets = 0;        ///< for `targets`, tail labels included
  std::uint64_t label_targets = 0;  ///< for `labels`, which cannot carry tail labels
};

class Sampler {
 public:
  /// An empty row.
  static constexpr std::uint64_t kNoPack = std::numeric_limits<std::uint64_t>::max();

  /// A place in training: between two steps.
  struct Position {
    std::uint64_t epoch = 0;
    std::uint64_t cursor = 0;
    bool operator==(const Position&) const = default;
  };

  /// kOptions: no packs, an epoch without a step, or options out of range.
  static Result<Sampler> create(std::uint64_t packs, const Hash128& digest, const SamplerOptions& options);
  /// Goes on at `state`: seed, remainder and shuffling are the state's; batch, ranks and rank are `options`'.
  /// kSamplerState: a state of another file, or beyond its end.
  static Result<Sampler> resume(std::uint64_t packs, const Hash128& digest, const SamplerOptions& options,
                                const SamplerState& state);

  const SamplerOptions& options() const noexcept { return options_; }
  std::uint64_t packs() const noexcept { return order_.size(); }
  /// Steps of a whole epoch.
  std::uint64_t steps() const noexcept { return steps_from(0); }
  /// Steps from here to the end of this epoch; at least 1.
  std::uint64_t steps_left() const noexcept { return steps_from(position_.cursor); }
  Position position() const noexcept { return position_; }
  SamplerState state() const noexcept;

  /// Packs of this rank in the step at this position. REQUIRES: out.size() == options().batch.
  void rows(std::span<std::uint64_t> out) const noexcept { rows_at(position_, options_.rank, out); }
  /// The same for any position and rank: a loader looks ahead.
  void rows_at(Position at, std::uint32_t rank, std::span<std::uint64_t> out) const noexcept;
  /// Where training stands after the step at `at`.
  Position after(Position at) const noexcept;
  /// The step at this position was handed to the caller.
  void advance() noexcept;

  /// Targets of the whole step at this position, without a reduction over ranks. Looks at `ranks * batch`
  /// packs. Errors of Reader::pack.
  Result<StepTargets> step_targets(const Reader& reader) const { return step_targets_at(reader, position_); }
  Result<StepTargets> step_targets_at(const Reader& reader, Position at) const;

 private:
  Sampler(std::uint64_t packs, const Hash128& digest, const SamplerOptions& options) noexcept;
  std::uint64_t steps_from(std::uint64_t cursor) const noexcept;
  std::uint64_t rows_of_step() const noexcept { return std::uint64_t{options_.ranks} * options_.batch; }

  SamplerOptions options_;
  Hash128 digest_{};
  Position position_;
  Permutation order_;  // of position_'s epoch
};

}  // namespace tokpack
