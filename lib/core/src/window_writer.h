// Plans one window after another and writes its packs; carries sequences over from one to the next.
//
// Best-fit dissolves under-filled packs into the next window (carry_over.h). Next-fit and concat keep their
// last pack open, so that their files do not depend on where windows end.
//
// With help at hand, the arrays that grow with the tokens are written as blocks by whoever is free.
//
// Errors: kIo and the planner's. Throws std::bad_alloc. Threads: one at a time; the watcher is called from
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack_sink.h"
#include "planned_packs.h"
#include "shared_blocks.h"

namespace tokpack::detail {

/// What a window leaves to the next one.
struct Carry {
  std::uint64_t tokens = 0, sequences = 0;
};

/// Learns how far a window is, from the thread that writes it.
class WindowWatcher {
 public:
  virtual ~WindowWatcher() = default;
  /// The plan stands, and nothing is written yet.
  virtual void planned(Carry carry) = 0;
  /// Whether another thread may help: then blocks are offered, and withdrawn once all are begun.
  virtual bool can_help() const noexcept = 0;
  virtual void offer(SharedBlocks& blocks) = 0;
  /// Returns when no other thread writes a block any more.
  virtual void withdraw() noexcept = 0;
};

class WindowWriter {
 public:
  WindowWriter(PackSink& sink, const WriterOptions& options);

  /// Plans and writes `fresh` behind what was carried; `last` carries nothing.
  Result<void> write(Window& fresh, bool last, WindowWatcher& watcher);

  std::uint64_t samples_split() const noexcept { return samples_split_; }  ///< by concat

 private:
  Result<PlannedPacks> plan(const WindowPair& pair);
  /// Numbers of the packs that are not written now, ascending.
  std::vector<std::uint32_t> choose_carried(const WindowPair& pair, const PlannedPacks& packs) const;
  Carry extract(const WindowPair& pair, const PlannedPacks& packs, std::span<const std::uint32_t> carried);
  Result<void> write_packs(const WindowPair& pair, const PlannedPacks& packs);
  /// The same with help.
  Result<void> write_shared(const WindowPair& pair, const PlannedPacks& packs, WindowWatcher& watcher);

  PackSink* sink_;
  PlanOptions plan_options_;
  bool groups_;
  std::int32_t ignore_index_;
  Window carried_, next_;
  std::uint64_t samples_split_ = 0;
  std::vector<std::uint32_t> lengths_;
  GrowArray<std::uint64_t> starts_;
  SharedBlocks blocks_;
  GrowArray<std::byte> scratch_;
};

}  // namespace tokpack::detail
