// A progress bar on standard error, shown on a terminal only, redrawn at most ten times a second.
//
// Threads: one. Ownership: none. The line is cleared by clear() and by the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tokpack::tools {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `total` 0 = unknown: rates are shown, but no bar and no time left.
  void update(std::uint64_t bytes, std::uint64_t total, std::uint64_t tokens);
  /// Replaces the bar by a word, such as "writing".
  void say(std::string_view what);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::string_view line);
  bool shown_ = false;
  bool on_ = false;
  Clock::time_point start_, last_{};
};

}  // namespace tokpack::tools
