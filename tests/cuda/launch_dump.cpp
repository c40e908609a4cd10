// What the library would launch, for the tests that are not C++: one line of JSON with the layout of each
// kernel's parameter, then for each line `mask B S ELEMENT_BYTES`, `intervals B S` or `blocks B Q` of
// standard input the shape of that launch: `grid_x grid_y lanes rows`.
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "jobs.h"
#include "launch_shape.h"

using namespace tokpack::cuda;

#define FIELD(job, name) \
  std::printf(", \"" #name "\": [%zu, %zu]", offsetof(job, name), sizeof(std::declval<job>().name))

int main() {
  std::printf("{\"MaskJob\": {\"\": [0, %zu]", sizeof(MaskJob));
  FIELD(MaskJob, lo);
  FIELD(MaskJob, hi);
  FIELD(MaskJob, cells);
  FIELD(MaskJob, batch);
  FIELD(MaskJob, positions);
  FIELD(MaskJob, row_stride);
  FIELD(MaskJob, batch_stride);
  FIELD(MaskJob, element_shift);
  FIELD(MaskJob, masked);
  FIELD(MaskJob, attended);
  std::printf("}, \"IntervalJob\": {\"\": [0, %zu]", sizeof(IntervalJob));
  FIELD(IntervalJob, cu_seqlens);
  FIELD(IntervalJob, prefixes);
  FIELD(IntervalJob, lo);
  FIELD(IntervalJob, hi);
  FIELD(IntervalJob, batch);
  FIELD(IntervalJob, positions);
  FIELD(IntervalJob, sequences);
  FIELD(IntervalJob, window);
  FIELD(IntervalJob, family);
  FIELD(IntervalJob, pads);
  std::printf("}, \"BlockJob\": {\"\": [0, %zu]", sizeof(BlockJob));
  FIELD(BlockJob, lo);
  FIELD(BlockJob, hi);
  FIELD(BlockJob, kv_num_blocks);
  FIELD(BlockJob, kv_indices);
  FIELD(BlockJob, full_kv_num_blocks);
  FIELD(BlockJob, full_kv_indices);
  FIELD(BlockJob, batch);
  FIELD(BlockJob, positions);
  FIELD(BlockJob, query_blocks);
  FIELD(BlockJob, key_blocks);
  FIELD(BlockJob, query_size);
  FIELD(BlockJob, key_size);
  std::printf("}}\n");
  std::fflush(stdout);

  std::string kernel;
  for (std::int64_t batch = 0, size = 0; std::cin >> kernel >> batch >> size;) {
    LaunchShape shape{};
    if (kernel == "mask") {
      std::uint32_t element = 1;
      std::cin >> element;
      shape = mask_shape(batch, size, element);
    } else {
      shape = kernel == "blocks" ? block_shape(batch, size) : interval_shape(batch, size);
    }
    std::printf("%u %u %u %u\n", shape.grid_x, shape.grid_y, shape.lanes, shape.rows);
    std::fflush(stdout);
  }
}
