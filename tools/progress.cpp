#include "progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "text.h"

namespace tokpack::tools {

namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80u;
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, 3.6e6)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M tokens/s", per_second / 1e6);
  return fmt::format("{:.0f} k tokens/s", per_second / 1e3);
}

}  // namespace

ProgressBar::ProgressBar() : start_(Clock::now()) {
  const char* term = std::getenv("TERM");
  on_ = ::isatty(2) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

void ProgressBar::update(std::uint64_t bytes, std::uint64_t total, std::uint64_t tokens) {
  if (!on_) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
  if (total == 0) {
    draw(fmt::format("packing  {}  {}  {}", human_bytes(bytes), rate_text(rate), clock_time(seconds)));
    return;
  }
  const double done = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total));
  const std::string left = done > 0 ? clock_time(seconds / done - seconds) : "-:--";
  draw(fmt::format("packing  [{}] {:3.0f} %  {} of {}  {}  {} left", bar(done, 16), done * 100.0,
                   human_bytes(bytes), human_bytes(total), rate_text(rate), left));
}

void ProgressBar::say(std::string_view what) {
  if (on_) draw(what);
}

void ProgressBar::draw(std::string_view line) {
  const std::string text =
      fmt::format("\r\x1b[K{}", line.substr(0, std::min(line.size(), terminal_columns() - 1)));
  [[maybe_unused]] const ssize_t ignored = ::write(2, text.data(), text.size());
  shown_ = true;
}

void ProgressBar::clear() {
  if (!shown_) return;
  constexpr std::string_view kClear = "\r\x1b[K";
  [[maybe_unused]] const ssize_t ignored = ::write(2, kClear.data(), kClear.size());
  shown_ = false;
}

}  // namespace tokpack::tools
