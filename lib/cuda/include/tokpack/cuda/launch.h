// Where a kernel runs. No CUDA header is needed to include this one.
#pragma once

struct CUstream_st;  // what a cudaStream_t points to

namespace tokpack::cuda {

inline constexpr int kCurrentDevice = -1;

struct Launch {
  CUstream_st* stream = nullptr;  ///< a cudaStream_t of `device`; null: the default stream
  /// Made current in the calling thread before the launch, and left so: the CUDA runtime of this library may
  /// be another one than the caller's, with a current device of its own. kCurrentDevice: as it is. Another
  /// negative number is kOptions, a device that is not there kCuda.
  int device = kCurrentDevice;
};

}  // namespace tokpack::cuda
