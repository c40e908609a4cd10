// The system calls by which the writer changes files, as a table, so that tests can make the n-th one fail.
//
// Not part of the interface. Threads: the table is read from the writer's threads; a test swaps it only while
// no writer lives.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tokpack::detail {

struct SystemCalls {
  int (*open_at)(int folder, const char* name, int flags, mode_t mode);
  ssize_t (*write_at)(int file, const void* bytes, std::size_t size, off_t offset);
  ssize_t (*read_at)(int file, void* bytes, std::size_t size, off_t offset);
  int (*sync)(int file);
  int (*lock)(int file, int operation);
  int (*rename_at)(int old_folder, const char* old_name, int new_folder, const char* new_name,
                   unsigned flags);
  int (*link_at)(int old_folder, const char* old_name, int new_folder, const char* new_name, int flags);
};

/// The table in use: the system's own unless a test has set another.
const SystemCalls& system_calls() noexcept;
/// The system's own calls.
const SystemCalls& real_system_calls() noexcept;
/// For tests alone. nullptr = the system's own. `calls` must outlive every writer made meanwhile.
void set_system_calls(const SystemCalls* calls) noexcept;

}  // namespace tokpack::detail
