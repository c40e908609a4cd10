#include "interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "command.h"

namespace tokpack::tools {

namespace {

volatile std::sig_atomic_t caught_signal = 0;
std::array<int, 2> wake_pipe = {-1, -1};  // set before the handlers are

extern "C" void on_interrupt(int number) {
  const int error = errno;
  caught_signal = number;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_pipe[1], "", 1);
  errno = error;
  std::signal(number, SIG_DFL);  // a second one is meant
}

extern "C" void on_bus_error(int) {
  constexpr std::string_view kText =
      "tokpack: error: a file became shorter while it was read, or its disk failed\n";
  [[maybe_unused]] const ssize_t ignored = ::write(2, kText.data(), kText.size());
  ::_exit(kUnusable);
}

void install(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  install(SIGBUS, on_bus_error);
  install(SIGPIPE, SIG_IGN);
  install(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of write(), like a full disk
}

void occupy_standard_descriptors() {
  for (const int number : {0, 1, 2}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // Opened for the wrong direction: reading standard input, or writing the others, fails as on a closed
    // one. The lowest free number is this one: those below are open.
    (void)::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
  }
}

void defer_interrupts() {
  // Without it a wait for data ends with the data, as it did.
  if (wake_pipe[0] < 0 && ::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe = {-1, -1};
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    // A parent that has these ignored (nohup, a shell's background job) keeps its way.
    if (current.sa_handler != SIG_IGN) install(number, on_interrupt);
  }
}

int interrupt_descriptor() noexcept { return wake_pipe[0]; }

int interrupted() noexcept { return caught_signal; }

void stop_if_interrupted() {
  if (const int number = interrupted(); number != 0)
    throw Failure{128 + number, "interrupted; nothing was written", {}};
}

}  // namespace tokpack::tools
