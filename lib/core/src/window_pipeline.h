// Hands full windows to the window writer: at once with one thread; with more, a worker writes one window
// while the next is filled, and a caller who would wait for it writes blocks as well.
//
// Where a window ends depends on the samples alone: it holds W tokens and W / 16 sequences at most, carried
// ones included, and at least one unit (a sample, or a group). While the worker still plans, the carry is not
// known; then a unit is let in only if it fits whatever the carry will be, and otherwise the answer is waited
// for.
//
// Errors: those of WindowWriter; with a worker they appear at a later call. Threads: one calls.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "window_writer.h"

namespace tokpack::detail {

class WindowPipeline : private WindowWatcher {
 public:
  WindowPipeline(PackSink& sink, const WriterOptions& options);
  ~WindowPipeline() override;
  WindowPipeline(const WindowPipeline&) = delete;
  WindowPipeline& operator=(const WindowPipeline&) = delete;

  /// The window to append a unit of this size to; closes the one before when it does not fit.
  Result<Window*> window_for(std::uint64_t tokens, std::uint64_t sequences);
  /// Writes everything.
  Result<void> finish();
  /// Stops the worker; what it has in hand is completed or not.
  void stop() noexcept;

  std::uint64_t samples_split() const noexcept { return writer_.samples_split(); }

 private:
  bool fits(std::uint64_t tokens, std::uint64_t sequences);
  Result<void> close(bool last);
  Result<void> write(Window& window, bool last);
  Result<void> wait_until_idle();
  void work() noexcept;

  void planned(Carry carry) override;
  bool can_help() const noexcept override { return worker_.joinable(); }
  void offer(SharedBlocks& blocks) override;
  void withdraw() noexcept override;

  WindowWriter writer_;
  std::uint64_t window_tokens_, window_sequences_;
  std::uint32_t capacity_;
  Window windows_[2];
  std::size_t filling_ = 0;

  // Of the window handed over last.
  std::uint64_t previous_tokens_ = 0, previous_sequences_ = 0;

  // With a worker, all of the following is guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Carry> carry_ = Carry{};  // none while the worker plans
  Window* job_ = nullptr;
  bool job_is_last_ = false, stop_ = false;
  std::optional<Error> error_;
  SharedBlocks* offered_ = nullptr;
  bool helping_ = false;  // the caller writes a block
  std::thread worker_;

  GrowArray<std::byte> scratch_;  // the caller's
};

}  // namespace tokpack::detail
