// Memory, streams and graphs of a GPU for gpu_check. Failures of the runtime throw: the program then ends
// with what it has.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tokpack/format/result.h"

namespace tokpack::test {

inline void require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}
inline void require(const Result<void>& done) {
  if (!done.ok()) throw std::runtime_error(done.error().detail);
}

/// `count` elements of the device that was current, `offset` elements after an allocation's beginning, with
/// poison around them and in them.
template <typename T>
class DeviceArray {
 public:
  static constexpr int kPoisonByte = 0xa5;
  static constexpr std::size_t kMargin = 256;  // bytes on either side

  explicit DeviceArray(std::size_t count, std::size_t offset = 0)
      : count_(count), first_(kMargin + offset * sizeof(T)), bytes_(first_ + count * sizeof(T) + kMargin) {
    require(cudaMalloc(&memory_, bytes_), "cudaMalloc");
    poison();
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { set(values); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  T* data() const { return reinterpret_cast<T*>(static_cast<unsigned char*>(memory_) + first_); }
  std::span<T> span() const { return {data(), count_}; }
  std::size_t bytes() const { return count_ * sizeof(T); }

  // Both wait: streams that do not block take no notice of what the default stream has still to do.
  void poison() {
    require(cudaMemset(memory_, kPoisonByte, bytes_), "cudaMemset");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  void set(const std::vector<T>& values) {
    require(cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  /// Everything, the margins too. Waits for the device.
  std::vector<unsigned char> all() const {
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<unsigned char> out(bytes_);
    require(cudaMemcpy(out.data(), memory_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out;
  }
  std::vector<T> values() const { return some(0, count_); }
  std::vector<T> some(std::size_t first, std::size_t count) const {
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<T> out(count);
    require(cudaMemcpy(out.data(), data() + first, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out;
  }
  /// What lies around the elements is as it was.
  bool margins_kept() const {
    for (const std::size_t at : {std::size_t{0}, bytes_ - kMargin}) {
      std::vector<unsigned char> margin(kMargin);
      require(cudaMemcpy(margin.data(), static_cast<unsigned char*>(memory_) + at, kMargin,
                         cudaMemcpyDeviceToHost),
              "cudaMemcpy");
      for (const unsigned char byte : margin) {
        if (byte != kPoisonByte) return false;
      }
    }
    return true;
  }
  /// The bytes before the first element.
  std::size_t first() const { return first_; }

 private:
  std::size_t count_, first_, bytes_;
  void* memory_ = nullptr;
};

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }
  void wait() const { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// What `work` launches on the stream, captured. Throws where it cannot be.
class Graph {
 public:
  template <typename Work>
  Graph(const Stream& stream, Work work) {
    require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    std::string failure;
    try {
      work();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream.get(), &graph);
    if (!failure.empty()) throw std::runtime_error("in capture: " + failure);
    require(ended, "cudaStreamEndCapture");
    require(cudaGraphGetNodes(graph, nullptr, &nodes_), "cudaGraphGetNodes");
    require(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(graph_); }
  void launch(const Stream& stream) const {
    require(cudaGraphLaunch(graph_, stream.get()), "cudaGraphLaunch");
  }
  std::size_t nodes() const { return nodes_; }

 private:
  cudaGraphExec_t graph_ = nullptr;
  std::size_t nodes_ = 0;
};

}  // namespace tokpack::test
