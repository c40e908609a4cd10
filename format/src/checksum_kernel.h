// One instruction-set version of XXH3: a table of functions, so that a file compiled for another instruction
// set exports nothing else. Such a file must not include headers with inline functions or templates of the
// C++ library: the linker keeps one copy of each, and that copy could hold instructions the machine lacks.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tokpack::format::detail {

/// Room for a streaming state, whatever the version.
struct alignas(64) HashState {
  unsigned char bytes[576];
};

struct HashKernel {
  const char* name;
  uint64_t (*hash64)(const void* data, size_t size) noexcept;
  void (*hash128)(const void* data, size_t size, uint64_t* low, uint64_t* high) noexcept;
  // Streaming. A state is begun, fed and read with the functions of one kernel.
  void (*begin64)(HashState* state) noexcept;
  void (*update64)(HashState* state, const void* data, size_t size) noexcept;
  uint64_t (*digest64)(const HashState* state) noexcept;
  void (*begin128)(HashState* state) noexcept;
  void (*update128)(HashState* state, const void* data, size_t size) noexcept;
  void (*digest128)(const HashState* state, uint64_t* low, uint64_t* high) noexcept;
};

extern const HashKernel kBaselineKernel;
#if defined(__x86_64__)
extern const HashKernel kAvx2Kernel;
extern const HashKernel kAvx512Kernel;
#endif

}  // namespace tokpack::format::detail
