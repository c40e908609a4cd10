// What every verb shares: exit codes, the way to fail, standard output and warnings.
//
// A verb fails by throwing Failure, which main() prints as one line; objects on the way clean up behind
// themselves. All text passes through terminal_safe(), whatever file it came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tokpack/format/error.h"
#include "tokpack/format/result.h"

namespace tokpack::tools {

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;  ///< verify found something wrong
inline constexpr int kUsage = 2;
inline constexpr int kUnusable = 3;  ///< an input, a file or the environment cannot be used

struct Failure {
  int exit_code = kUnusable;
  std::string message;  ///< empty: nothing to say
  std::string name;     ///< of an error in a file's bytes, as the spec writes it: the line begins with it
};

[[noreturn]] void fail(int exit_code, std::string message);
/// Refuses what is there and no regular file, and names of open files such as /dev/stdout, which a finished
/// output would replace instead of writing through them.
void check_output_path(const std::string& path, std::string_view instead);
/// `path` is named unless the error's own text names it.
[[noreturn]] void fail(const Error& error, std::string_view path);

/// The text of an error, with the command's spelling of options: "PATH: DETAIL".
std::string describe(const Error& error, std::string_view path);

/// The value, or the end of the verb.
template <typename T>
T take(Result<T> result, std::string_view path) {
  if (!result) fail(result.error(), path);
  return std::move(result).value();
}

/// One line on standard error: "tokpack: warning: ...".
void warn(std::string_view message);
void print_error(std::string_view message, std::string_view name = {});

/// A descriptor written through a buffer, standard output by default. A reader that went away ends the
/// command quietly with 0: it has what it wanted. Any other failure is kUnusable.
class Output {
 public:
  explicit Output(int descriptor = 1, std::string name = "standard output")
      : descriptor_(descriptor), name_(std::move(name)) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFlushBytes) flush();
    return *this;
  }
  /// The buffer, to append to; call flush_if_full() now and then.
  std::string& buffer() noexcept { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void flush();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 16;
  int descriptor_;
  std::string name_;
  std::string buffer_;
};

}  // namespace tokpack::tools
