#include "window_pipeline.h"

#include <new>
#include <system_error>

#include "carry_over.h"
#include "reader_text.h"
#include "tokpack/core/window_defaults.h"

namespace tokpack::detail {

WindowPipeline::WindowPipeline(PackSink& sink, const WriterOptions& options)
    : writer_(sink, options),
      window_tokens_(effective_window(options.window_tokens, options.plan.capacity)),
      window_sequences_(window_sequences(window_tokens_)),
      capacity_(options.plan.capacity),
      windows_{Window(options.columns), Window(options.columns)} {
  if (options.threads < 2) return;
  try {
    worker_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    // No thread to be had: the same bytes, only later.
  }
}

WindowPipeline::~WindowPipeline() { stop(); }

void WindowPipeline::stop() noexcept {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

bool WindowPipeline::fits(std::uint64_t tokens, std::uint64_t sequences) {
  const Window& window = windows_[filling_];
  const auto room_for = [&](std::uint64_t carried_tokens, std::uint64_t carried_sequences) {
    const std::uint64_t had_tokens = window.tokens + carried_tokens;
    const std::uint64_t had_sequences = window.sequences() + carried_sequences;
    return had_tokens <= window_tokens_ && tokens <= window_tokens_ - had_tokens &&
           had_sequences <= window_sequences_ && sequences <= window_sequences_ - had_sequences;
  };
  if (worker_.joinable()) {
    if (room_for(most_carried_tokens(previous_tokens_, capacity_), previous_sequences_)) return true;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return carry_.has_value() || error_.has_value(); });
    // A worker that failed before it knew the carry: closing the window reports its error.
    return carry_ && room_for(carry_->tokens, carry_->sequences);
  }
  return room_for(carry_->tokens, carry_->sequences);
}

Result<Window*> WindowPipeline::window_for(std::uint64_t tokens, std::uint64_t sequences) {
  if (!windows_[filling_].empty() && !fits(tokens, sequences)) {
    if (auto ok = close(false); !ok) return ok.error();
  }
  return &windows_[filling_];
}

Result<void> WindowPipeline::write(Window& window, bool last) { return writer_.write(window, last, *this); }

void WindowPipeline::planned(Carry carry) {
  const std::lock_guard lock(mutex_);
  carry_ = carry;
  changed_.notify_all();
}

void WindowPipeline::offer(SharedBlocks& blocks) {
  const std::lock_guard lock(mutex_);
  offered_ = &blocks;
  changed_.notify_all();
}

void WindowPipeline::withdraw() noexcept {
  std::unique_lock lock(mutex_);
  offered_ = nullptr;
  changed_.wait(lock, [this] { return !helping_; });
}

Result<void> WindowPipeline::close(bool last) {
  Window& full = windows_[filling_];
  if (!worker_.joinable()) return write(full, last);
  if (auto ok = wait_until_idle(); !ok) return ok;
  {
    const std::lock_guard lock(mutex_);
    previous_tokens_ = full.tokens + carry_->tokens;
    previous_sequences_ = full.sequences() + carry_->sequences;
    carry_.reset();
    job_ = &full;
    job_is_last_ = last;
  }
  changed_.notify_all();
  filling_ ^= 1;
  return {};
}

Result<void> WindowPipeline::wait_until_idle() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return job_ == nullptr || offered_ != nullptr; });
    if (job_ == nullptr) break;
    SharedBlocks& blocks = *offered_;
    helping_ = true;
    lock.unlock();
    const bool more = blocks.write_one(scratch_);
    lock.lock();
    helping_ = false;
    if (!more) offered_ = nullptr;
    changed_.notify_all();
  }
  if (error_) return copied(*error_);
  return {};
}

Result<void> WindowPipeline::finish() {
  if (auto ok = close(true); !ok) return ok;
  if (!worker_.joinable()) return {};
  auto done = wait_until_idle();
  stop();
  return done;
}

void WindowPipeline::work() noexcept {
  while (true) {
    Window* job = nullptr;
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return job_ != nullptr || stop_; });
      if (stop_) return;
      job = job_;
      last = job_is_last_;
    }
    std::optional<Error> error;
    try {
      if (auto ok = write(*job, last); !ok) error = ok.error();
    } catch (const std::bad_alloc&) {
      error = out_of_memory("for the window; choose a smaller one");
    }
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      job_ = nullptr;
    }
    changed_.notify_all();
    if (error_) return;
  }
}

}  // namespace tokpack::detail
