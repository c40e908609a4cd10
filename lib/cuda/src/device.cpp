#include "device.h"

#include "error_text.h"

namespace tokpack::cuda {

Result<void> cuda_result(cudaError_t result, std::string_view call) {
  if (result == cudaSuccess) return {};
  // Returned here, so not left for the caller's next look at the last error.
  static_cast<void>(cudaGetLastError());
  return error_of(Errc::kCuda,
                  {call, " failed: ", cudaGetErrorString(result), " (", cudaGetErrorName(result), ")"});
}

Result<void> make_current(const Launch& launch) {
  if (launch.device == kCurrentDevice) return {};
  if (launch.device < 0) {
    return error_of(Errc::kOptions, {"the device is ", std::int64_t{launch.device},
                                     ", expected a device's number or kCurrentDevice (-1)"});
  }
  return cuda_result(cudaSetDevice(launch.device), "cudaSetDevice");
}

Result<std::uint64_t> l2_cache_bytes() {
  int device = 0, bytes = 0;
  cudaError_t result = cudaGetDevice(&device);
  std::string_view call = "cudaGetDevice";
  if (result == cudaSuccess) {
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
    call = "cudaDeviceGetAttribute";
  }
  if (result != cudaSuccess) return cuda_result(result, call).error();
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tokpack::cuda
