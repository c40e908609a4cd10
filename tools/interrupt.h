// Signals: a flag for SIGINT, SIGTERM and SIGHUP that a verb which writes looks at between batches, with a
// pipe to poll() on while it waits for data, a word instead of a crash when a mapped file shrinks, and no
// death by SIGPIPE or SIGXFSZ.
//
// The second one ends the process at once; a temporary that it leaves is removed by the next
// pack to the same output. Threads: install from the main thread; any thread may ask.
#pragma once

namespace tokpack::tools {

void install_signal_handlers();
/// Puts something that cannot be used where 0, 1 or 2 is closed, so that no file or pipe of ours gets that
/// number and is taken for standard input or output.
void occupy_standard_descriptors();

/// Makes SIGINT, SIGTERM and SIGHUP set the flag from now on. Until then they end the process, as usual.
void defer_interrupts();

/// Becomes readable when a signal came: for a poll() that waits for something else. -1 when there is none.
int interrupt_descriptor() noexcept;

/// The signal that came, or 0.
int interrupted() noexcept;

/// Throws Failure with 128 + the signal when one came.
void stop_if_interrupted();

}  // namespace tokpack::tools
