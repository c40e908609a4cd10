// Dense masks: a few lanes write a row as three runs, masked, attended, masked, of 16-byte stores of
// constants, and the two vectors in which one run ends and the next begins.
//
// Everything here is in bytes. A cell is aligned to its size and its value is repeated to 4 bytes, so that
// byte k of memory holds byte k % 4 of the value, whatever the size of a cell: only lo and hi need it.
//
// A row may begin and end anywhere. What stands before its first and past its last multiple of 16 is stored
// byte by byte: wider stores there would touch what is not the row's. Every byte of a row is stored exactly
// once.
#pragma once

#include <cstdint>

#include "jobs.h"
#include "launch_shape.h"

namespace tokpack::cuda {

/// The bytes [begin, end) of a row are attended, begin <= end <= its length.
struct AttendedRun {
  std::uint64_t begin, end;
};

/// lo and hi may be any int32: what lies outside the row is cut off.
__device__ inline AttendedRun attended_run(const MaskJob& job, std::int64_t b, std::int64_t r) {
  const std::int64_t i = b * job.positions + r;
  std::int64_t end = (job.hi == nullptr ? r : std::int64_t{job.hi[i]}) + 1;
  end = end < 0 ? 0 : end > job.positions ? job.positions : end;
  std::int64_t begin = job.lo[i];
  begin = begin < 0 ? 0 : begin > end ? end : begin;
  return {static_cast<std::uint64_t>(begin) << job.element_shift, static_cast<std::uint64_t>(end)
                                                                      << job.element_shift};
}

/// The lowest n bytes set; any n.
__device__ inline std::uint32_t low_bytes(int n) {
  return n <= 0 ? 0U : n >= 4 ? 0xffffffffU : (1U << (8 * n)) - 1;
}

/// 4 bytes of which [begin, end) are attended; both may lie outside.
__device__ inline std::uint32_t edge_word(const MaskJob& job, int begin, int end) {
  const std::uint32_t attended = low_bytes(end) & ~low_bytes(begin);
  return (job.attended & attended) | (job.masked & ~attended);
}

/// 16 bytes, likewise.
__device__ inline uint4 edge_vector(const MaskJob& job, int begin, int end) {
  return make_uint4(edge_word(job, begin, end), edge_word(job, begin - 4, end - 4),
                    edge_word(job, begin - 8, end - 8), edge_word(job, begin - 12, end - 12));
}

/// A streaming store does not displace what others keep in the L2 cache. REQUIRES: `to` is a multiple of 16.
template <bool kStreams>
__device__ inline void store_vector(unsigned char* to, uint4 value) {
  if constexpr (kStreams) {
    __stcs(reinterpret_cast<uint4*>(to), value);
  } else {
    *reinterpret_cast<uint4*>(to) = value;
  }
}

/// The vectors [first, last) from `to` on, every lane its own.
template <bool kStreams>
__device__ inline void store_run(unsigned char* to, std::uint32_t first, std::uint32_t last,
                                 std::uint32_t pattern) {
  const uint4 value = make_uint4(pattern, pattern, pattern, pattern);
#pragma unroll 4
  for (std::uint32_t v = first + threadIdx.x; v < last; v += blockDim.x) {
    store_vector<kStreams>(to + std::uint64_t{v} * kVectorBytes, value);
  }
}

/// The bytes [first, last) of a row, fewer than 16.
__device__ inline void store_bytes(const MaskJob& job, unsigned char* row, std::uint64_t first,
                                   std::uint64_t last, AttendedRun run) {
  for (std::uint64_t k = first + threadIdx.x; k < last; k += blockDim.x) {
    const std::uint32_t pattern = run.begin <= k && k < run.end ? job.attended : job.masked;
    row[k] = static_cast<unsigned char>(pattern >> (reinterpret_cast<std::uintptr_t>(row + k) % 4 * 8));
  }
}

/// An offset in a row as one among its vectors, which begin at `head`.
__device__ inline std::uint64_t among_vectors(std::uint64_t offset, std::uint32_t head,
                                              std::uint64_t vector_bytes) {
  const std::uint64_t from_head = offset < head ? 0 : offset - head;
  return from_head > vector_bytes ? vector_bytes : from_head;
}

template <bool kStreams>
__device__ inline void write_row(const MaskJob& job, std::int64_t b, std::int64_t r) {
  const AttendedRun run = attended_run(job, b, r);
  unsigned char* const row = job.cells + static_cast<std::uint64_t>(b) * job.batch_stride +
                             static_cast<std::uint64_t>(r) * job.row_stride;
  const std::uint64_t bytes = static_cast<std::uint64_t>(job.positions) << job.element_shift;
  std::uint32_t head = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(row) % kVectorBytes);
  if (head > bytes) head = static_cast<std::uint32_t>(bytes);
  // At most 2^33 bytes: as many vectors as 32 bits can count.
  const auto vectors = static_cast<std::uint32_t>((bytes - head) / kVectorBytes);
  const std::uint64_t vector_bytes = std::uint64_t{vectors} * kVectorBytes;
  unsigned char* const to = row + head;

  const std::uint64_t begin = among_vectors(run.begin, head, vector_bytes),
                      end = among_vectors(run.end, head, vector_bytes);
  const auto begin_vector = static_cast<std::uint32_t>(begin / kVectorBytes),
             end_vector = static_cast<std::uint32_t>(end / kVectorBytes);
  const auto begin_byte = static_cast<std::uint32_t>(begin % kVectorBytes),
             end_byte = static_cast<std::uint32_t>(end % kVectorBytes);
  store_run<kStreams>(to, 0, begin_vector, job.masked);
  store_run<kStreams>(to, begin_vector + (begin_byte != 0), end_vector, job.attended);
  store_run<kStreams>(to, end_vector + (end_byte != 0), vectors, job.masked);

  const bool ends_where_it_begins = begin_byte != 0 && begin_vector == end_vector;
  // Lane 0 the vector in which the attended run begins, lane 1 the one in which it ends, at once.
  const bool begins = threadIdx.x == 0 && begin_byte != 0;
  const bool ends = threadIdx.x == 1 && end_byte != 0 && !ends_where_it_begins;
  if (begins || ends) {
    const std::uint32_t vector = begins ? begin_vector : end_vector;
    const std::uint64_t first = std::uint64_t{vector} * kVectorBytes;
    const int from = begin <= first ? 0 : static_cast<int>(begin_byte);
    const int until = end_vector > vector ? static_cast<int>(kVectorBytes) : static_cast<int>(end_byte);
    store_vector<kStreams>(to + first, edge_vector(job, from, until));
  }
  if (head + vector_bytes != bytes || head != 0) {
    store_bytes(job, row, 0, head, run);
    store_bytes(job, row, head + vector_bytes, bytes, run);
  }
}

/// REQUIRES: at least 2 lanes.
template <bool kStreams>
__global__ void __launch_bounds__(kThreads) write_mask_rows(const MaskJob job) {
  for (std::int64_t b = blockIdx.y; b < job.batch; b += gridDim.y) {
    const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
    for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < job.positions; r += step) {
      write_row<kStreams>(job, b, r);
    }
  }
}

}  // namespace tokpack::cuda
