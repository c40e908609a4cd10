// Plans one window after another and writes its packs; carries sequences over from one to the next.
//
// Best-fit dissolves under-filled packs into the next window (carry_over.h). Next-fit and concat keep their
// last pack open, so that their files do not depend on where windows end.
//
// Errors: kIo and the planner's. Throws std::bad_alloc. Threads: one at a time; `on_carry` is called from the
// calling thread, between planning and writing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pack_sink.h"
#include "tokpack/core/planner.h"
#include "window.h"

namespace tokpack::detail {

/// What a window leaves to the next one.
struct Carry {
  std::uint64_t tokens = 0, sequences = 0;
};

class WindowWriter {
 public:
  WindowWriter(PackSink& sink, const WriterOptions& options);

  /// Plans and writes `fresh` behind what was carried; `last` carries nothing. `on_carry` learns the carry
  /// before anything is written.
  Result<void> write(Window& fresh, bool last, const std::function<void(Carry)>& on_carry);

  std::uint64_t samples_split() const noexcept { return samples_split_; }  ///< by concat

 private:
  struct Packs {
    std::vector<std::uint32_t> order;  ///< best-fit and next-fit
    std::vector<Fragment> fragments;   ///< concat
    std::vector<std::uint32_t> first;
    std::size_t count() const noexcept { return first.size() - 1; }
  };
  Result<Packs> plan(const WindowPair& pair);
  /// Numbers of the packs that are not written now, ascending.
  std::vector<std::uint32_t> choose_carried(const WindowPair& pair, const Packs& packs) const;
  Carry extract(const WindowPair& pair, const Packs& packs, std::span<const std::uint32_t> carried);
  std::span<const Fragment> pack(const Packs& packs, std::size_t p);

  PackSink* sink_;
  PlanOptions plan_options_;
  bool groups_;
  std::int32_t ignore_index_;
  Window carried_, next_;
  std::uint64_t samples_split_ = 0;
  std::vector<std::uint32_t> lengths_;
  GrowArray<std::uint64_t> starts_;
  std::vector<Fragment> scratch_;
};

}  // namespace tokpack::detail
