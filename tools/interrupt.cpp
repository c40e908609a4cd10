#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "command.h"

namespace tokpack::tools {

namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void on_interrupt(int number) {
  caught_signal = number;
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

void defer_interrupts() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    // A parent that has these ignored (nohup, a shell's background job) keeps its way.
    if (current.sa_handler != SIG_IGN) install(number, on_interrupt);
  }
}

int interrupted() noexcept { return caught_signal; }

void stop_if_interrupted() {
  if (const int number = interrupted(); number != 0)
    throw Failure{128 + number, "interrupted; nothing was written", {}};
}

}  // namespace tokpack::tools
