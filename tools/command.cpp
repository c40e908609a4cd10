#include "command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "option_words.h"
#include "text.h"

namespace tokpack::tools {

namespace {

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(2, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody is left to be told
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void fail(int exit_code, std::string message) { throw Failure{exit_code, std::move(message), {}}; }

void fail(const Error& error, std::string_view path) {
  const bool in_file = static_cast<unsigned>(error.code) < static_cast<unsigned>(Errc::kIo);
  throw Failure{error.code == Errc::kOptions ? kUsage : kUnusable, describe(error, path),
                in_file ? std::string(errc_name(error.code)) : std::string()};
}

std::string describe(const Error& error, std::string_view path) {
  std::string text =
      error.detail.empty() ? std::string(errc_name(error.code)) : with_option_names(error.detail);
  const auto names = [&text](std::string_view name) { return text.find(name) != std::string::npos; };
  if (!path.empty() && !names(path) && !names(terminal_safe(path))) text = fmt::format("{}: {}", path, text);
  return text;
}

void warn(std::string_view message) {
  write_stderr(fmt::format("tokpack: warning: {}\n", terminal_safe(message)));
}

void print_error(std::string_view message, std::string_view name) {
  write_stderr(
      fmt::format("tokpack: error: {}{}{}\n", name, name.empty() ? "" : ": ", terminal_safe(message)));
}

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      buffer_.clear();
      if (error == EPIPE) throw Failure{kDone, {}, {}};
      fail(kUnusable, fmt::format("cannot write {}: {}", name_, std::strerror(error)));
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
}

void check_output_path(const std::string& path, std::string_view instead) {
  struct stat status {};
  bool is_name_of_open_file = false;
  std::filesystem::path link = path;
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::string text = link.string();
    if (text.starts_with("/dev/") || text.starts_with("/proc/")) is_name_of_open_file = true;
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(link, error);
    if (error) break;
    link = link.parent_path() / target;
  }
  // A memory file system may be mounted below /dev: its files are files.
  if (is_name_of_open_file && link.string().starts_with("/dev/shm/")) is_name_of_open_file = false;
  const bool other_kind = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (is_name_of_open_file || other_kind)
    fail(kUnusable, fmt::format("{} is not a regular file; {}", path, instead));
}

}  // namespace tokpack::tools
