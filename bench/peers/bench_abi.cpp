// The loader behind a few C functions, so that one Python process can time it beside libraries of Python. For
// the benchmarks alone; every pointer is the caller's.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokpack/core/loader.h"
#include "tokpack/core/reader.h"

using namespace tokpack;

namespace {

struct Handle {
  Reader reader;
  Loader loader;
};

thread_local std::string last_error;

}  // namespace

extern "C" {

const char* tokpack_bench_error() { return last_error.c_str(); }

/// A loader over the file. `ring` has 4 x slots pointers: to ids, labels and positions, int64 [rows, S], and
/// to row starts, int32 [rows, S], or null where they are not wanted. Null on failure.
void* tokpack_bench_open(const char* path, std::uint32_t rows, int shuffle, unsigned threads,
                         void* const* ring, std::size_t slots) {
  auto reader = Reader::open(path);
  if (!reader) {
    last_error = reader.error().detail;
    return nullptr;
  }
  std::vector<RowOutputs> outputs(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    outputs[i].input_ids = static_cast<std::int64_t*>(ring[4 * i]);
    outputs[i].labels = static_cast<std::int64_t*>(ring[4 * i + 1]);
    outputs[i].position_ids = static_cast<std::int64_t*>(ring[4 * i + 2]);
    outputs[i].lo = static_cast<std::int32_t*>(ring[4 * i + 3]);
  }
  auto loader = Loader::create(*reader,
                               {.sampler = {.seed = 7, .shuffle = shuffle != 0, .batch = rows},
                                .threads = threads,
                                .ahead = slots - 1},
                               outputs);
  if (!loader) {
    last_error = loader.error().detail;
    return nullptr;
  }
  return std::make_unique<Handle>(Handle{std::move(*reader), std::move(*loader)}).release();
}

std::uint64_t tokpack_bench_packs(void* handle) { return static_cast<Handle*>(handle)->reader.packs(); }

/// The slot of the next batch, or -1; `packs` [rows], when not null, gets its pack numbers.
int tokpack_bench_next(void* handle, std::uint64_t* packs) {
  const auto batch = static_cast<Handle*>(handle)->loader.next();
  if (!batch) {
    last_error = batch.error().detail;
    return -1;
  }
  if (packs != nullptr) std::copy((*batch)->packs.begin(), (*batch)->packs.end(), packs);
  return static_cast<int>((*batch)->slot);
}

/// cu_seqlens of a pack: at most `room` entries are written, the number of entries returned; -1 on failure.
std::int64_t tokpack_bench_boundaries(void* handle, std::uint64_t pack, std::int32_t* out,
                                      std::int64_t room) {
  const auto view = static_cast<Handle*>(handle)->reader.pack(pack);
  if (!view) {
    last_error = view.error().detail;
    return -1;
  }
  const auto entries = view->cu_seqlens();
  std::copy_n(entries.begin(), std::min<std::size_t>(entries.size(), static_cast<std::size_t>(room)), out);
  return static_cast<std::int64_t>(entries.size());
}

void tokpack_bench_close(void* handle) { delete static_cast<Handle*>(handle); }
}
