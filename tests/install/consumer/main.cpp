// Packs three samples of JSON lines and reads the file back: what the README shows, built outside.
#include <cstdio>

#include "tokpack/core/reader.h"
#include "tokpack/input/jsonl.h"

namespace {

int fail(const tokpack::Error& error) {
  std::fprintf(stderr, "%s\n", error.detail.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* path = argv[1];

  auto writer = tokpack::Writer::create(path, {.plan = {.capacity = 8}, .force = true});
  if (!writer) return fail(writer.error());
  auto source = tokpack::input::open_jsonl_text(
      "{\"input_ids\":[10,11,12]}\n{\"input_ids\":[20,21]}\n{\"input_ids\":[30,31,32,33]}\n", "three.jsonl",
      tokpack::input::make_jsonl_session({}));
  if (!source) return fail(source.error());
  while (true) {
    auto batch = (*source)->next();
    if (!batch) return fail(batch.error());
    if (*batch == nullptr) break;
    std::vector<tokpack::ColumnInput> storage;
    if (auto added = writer->add_batch((*batch)->view(storage)); !added) return fail(added.error());
  }
  auto summary = std::move(*writer).finish();
  if (!summary) return fail(summary.error());

  auto reader = tokpack::Reader::open(path);
  if (!reader) return fail(reader.error());
  std::uint64_t tokens = 0, targets = 0;
  for (std::uint64_t p = 0; p < reader->packs(); ++p) {
    auto pack = reader->pack(p);
    if (!pack) return fail(pack.error());
    tokens += pack->tokens().size();
    targets += pack->targets();
  }
  std::printf("%llu packs, %llu tokens, %llu targets\n", static_cast<unsigned long long>(reader->packs()),
              static_cast<unsigned long long>(tokens), static_cast<unsigned long long>(targets));
  return 0;
}
