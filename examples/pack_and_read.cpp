// Packs three samples of JSON lines into a file and reads it back, pack by pack.
#include <cstdio>
#include <string_view>

#include "tokpack/core/reader.h"
#include "tokpack/core/writer.h"
#include "tokpack/input/jsonl.h"

constexpr std::string_view kSamples = R"({"input_ids": [10, 11, 12], "labels": [-100, 11, 12]}
{"input_ids": [20, 21], "labels": [20, 21]}
{"input_ids": [30, 31, 32, 33], "labels": [-100, -100, 32, 33]}
)";

tokpack::Result<tokpack::WriteSummary> write(const char* path) {
  auto source = tokpack::input::open_jsonl_text(kSamples, "samples", tokpack::input::make_jsonl_session({}));
  if (!source) return source.error();
  auto writer = tokpack::Writer::create(path, {.plan = {.capacity = 8}, .force = true});
  if (!writer) return writer.error();
  std::vector<tokpack::ColumnInput> storage;
  while (true) {
    auto batch = (*source)->next();
    if (!batch) return batch.error();
    if (*batch == nullptr) break;
    if (auto added = writer->add_batch((*batch)->view(storage)); !added) return added.error();
  }
  return std::move(*writer).finish();  // until here nothing stands under `path`
}

tokpack::Result<void> read(const char* path) {
  auto reader = tokpack::Reader::open(path);  // maps the file and checks page 0; reads nothing else
  if (!reader) return reader.error();
  for (std::uint64_t p = 0; p < reader->packs(); ++p) {
    auto pack = reader->pack(p);  // a view: no token is copied
    if (!pack) return pack.error();
    std::printf("pack %llu:", static_cast<unsigned long long>(p));
    for (std::size_t i = 0; i < pack->tokens().size(); ++i) {
      std::printf(" %llu/%d", static_cast<unsigned long long>(pack->tokens()[i]), pack->stored_label(i));
    }
    std::printf("  cu_seqlens:");
    for (const std::int32_t boundary : pack->cu_seqlens()) std::printf(" %d", boundary);
    std::printf("  targets: %u\n", pack->targets());
  }
  return {};
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "example.tpk";
  if (auto written = write(path); !written) return std::puts(written.error().detail.c_str()), 1;
  if (auto shown = read(path); !shown) return std::puts(shown.error().detail.c_str()), 1;
  return 0;
}
