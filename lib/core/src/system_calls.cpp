#include "system_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>

namespace tokpack::detail {
namespace {

constexpr SystemCalls kReal = {
    [](int folder, const char* name, int flags, mode_t mode) { return ::openat(folder, name, flags, mode); },
    [](int file, const void* bytes, std::size_t size, off_t offset) {
      return ::pwrite(file, bytes, size, offset);
    },
    [](int file, void* bytes, std::size_t size, off_t offset) { return ::pread(file, bytes, size, offset); },
    [](int file) { return ::fsync(file); },
    [](int file, int operation) { return ::flock(file, operation); },
    [](int old_folder, const char* old_name, int new_folder, const char* new_name, unsigned flags) {
      return ::renameat2(old_folder, old_name, new_folder, new_name, flags);
    },
    [](int old_folder, const char* old_name, int new_folder, const char* new_name, int flags) {
      return ::linkat(old_folder, old_name, new_folder, new_name, flags);
    },
};

std::atomic<const SystemCalls*> replaced{nullptr};

}  // namespace

const SystemCalls& system_calls() noexcept {
  const SystemCalls* calls = replaced.load(std::memory_order_acquire);
  return calls != nullptr ? *calls : kReal;
}
const SystemCalls& real_system_calls() noexcept { return kReal; }
void set_system_calls(const SystemCalls* calls) noexcept { replaced.store(calls, std::memory_order_release); }

}  // namespace tokpack::detail
