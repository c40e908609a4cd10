// JSON lines into batches and into a .tpk file, against simdjson parsing line by line and reading every id.
//
//   bench_jsonl [--data DIR] [--rounds N] [--threads T] [--json OUT]
//
// Text: docs.jsonl.zst from DIR (default ../shared/data/samples beside the source) repeated to about 200 MB,
// else the shipped examples/data/quickstart_docs.jsonl.
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "plan_windows.h"
#include "side_by_side.h"
#include "tokpack/input/jsonl.h"

namespace {

using tokpack::input::JsonlOptions;
using tokpack::input::SampleBatch;

constexpr std::size_t kTextBytes = 200'000'000;
constexpr std::uint32_t kCapacity = 4096;

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "bench_jsonl: %s\n", message.c_str());
  std::exit(3);
}

/// The ids of a file as lines of text again: decompressed, and repeated to about kTextBytes.
std::string load_text(const std::string& path) {
  auto source = tokpack::input::open_jsonl(path, tokpack::input::make_jsonl_session({}));
  if (!source) stop(source.error().detail);
  std::string once;
  while (true) {
    auto batch = (*source)->next();
    if (!batch) stop(batch.error().detail);
    if (*batch == nullptr) break;
    std::size_t at = 0;
    for (const std::uint32_t length : (*batch)->lengths) {
      once += "{\"input_ids\":[";
      for (std::uint32_t i = 0; i < length; ++i) {
        if (i > 0) once += ',';
        once += std::to_string((*batch)->tokens[at + i]);
      }
      at += length;
      once += "]}\n";
    }
  }
  std::string text;
  while (text.size() < kTextBytes) text += once;
  text.append(simdjson::SIMDJSON_PADDING, '\0');
  text.resize(text.size() - simdjson::SIMDJSON_PADDING);
  return text;
}

/// The baseline: one thread, one line at a time, every id read and summed.
std::uint64_t sum_with_simdjson(const std::string& text) {
  simdjson::dom::parser parser;
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    simdjson::dom::element document;
    if (parser.parse(text.data() + begin, end - begin, false).get(document) != simdjson::SUCCESS)
      stop("bad line");
    simdjson::dom::array ids;
    if (document["input_ids"].get_array().get(ids) != simdjson::SUCCESS) stop("no ids");
    for (const simdjson::dom::element id : ids) {
      std::int64_t value = 0;
      if (id.get_int64().get(value) != simdjson::SUCCESS) stop("bad id");
      sum += static_cast<std::uint64_t>(value);
    }
    begin = end + 1;
  }
  return sum;
}

std::uint64_t read_batches(tokpack::Result<std::unique_ptr<tokpack::input::Source>> source,
                           std::vector<std::uint32_t>* lengths = nullptr) {
  if (!source) stop(source.error().detail);
  std::uint64_t tokens = 0;
  while (true) {
    auto batch = (*source)->next();
    if (!batch) stop(batch.error().detail);
    if (*batch == nullptr) return tokens;
    tokens += (*batch)->tokens.size();
    if (lengths != nullptr)
      lengths->insert(lengths->end(), (*batch)->lengths.begin(), (*batch)->lengths.end());
  }
}

/// What `tokpack pack` does with one input and one thread, without fsync: the file's bytes count, not the
/// disk.
std::uint64_t pack_file(tokpack::Result<std::unique_ptr<tokpack::input::Source>> source,
                        const std::string& output) {
  if (!source) stop(source.error().detail);
  tokpack::WriterOptions options;
  options.plan.capacity = kCapacity;
  options.overlong = tokpack::Overlong::kSplit;
  options.force = true;
  options.sync = false;
  auto writer = tokpack::Writer::create(output, options);
  if (!writer) stop(writer.error().detail);
  std::vector<tokpack::ColumnInput> storage;
  while (true) {
    auto batch = (*source)->next();
    if (!batch) stop(batch.error().detail);
    if (*batch == nullptr) break;
    if (auto added = writer->add_batch((*batch)->view(storage)); !added) stop(added.error().detail);
  }
  auto summary = std::move(*writer).finish();
  if (!summary) stop(summary.error().detail);
  return summary->tokens;
}

}  // namespace

int main(int argc, char** argv) {
  std::string data = std::string(TOKPACK_SOURCE_DIR) + "/../shared/data/samples", json_path;
  int rounds = 7;
  unsigned threads = 2;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--data")
      data = argv[i + 1];
    else if (option == "--json")
      json_path = argv[i + 1];
    else if (option == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else if (option == "--threads")
      threads = static_cast<unsigned>(std::atoi(argv[i + 1]));
    else
      stop("unknown option " + std::string(option));
  }
  std::string path = data + "/docs.jsonl.zst";
  if (!std::filesystem::exists(path))
    path = std::string(TOKPACK_SOURCE_DIR) + "/examples/data/quickstart_docs.jsonl";
  const std::string text = load_text(path);
  std::printf("%zu bytes of text from %s\n", text.size(), std::filesystem::path(path).filename().c_str());

  const auto from_memory = [&text](unsigned workers) {
    return read_batches(tokpack::input::open_jsonl_text(
        text, "memory", tokpack::input::make_jsonl_session({.threads = workers})));
  };
  // A memory file system where there is one, so that the disk is not measured.
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path copy =
      (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
      "tokpack-bench-jsonl.jsonl";
  std::ofstream(copy, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));

  nlohmann::json results = nlohmann::json::array();
  volatile std::uint64_t sink = 0;
  tokpack::bench::SideBySide parse("jsonl to batches", rounds);
  parse.contender("simdjson line by line", [&] { sink = sum_with_simdjson(text); });
  parse.contender("tokpack, from memory", [&] { sink = from_memory(1); });
  parse.contender("tokpack, from a cached file", [&] {
    sink = read_batches(tokpack::input::open_jsonl(copy.string(), tokpack::input::make_jsonl_session({})));
  });
  parse.contender("tokpack, memory, " + std::to_string(threads) + " threads",
                  [&] { sink = from_memory(threads); });
  results.push_back(parse.measure());

  const std::string output = copy.string() + ".tpk";
  tokpack::bench::SideBySide end_to_end("jsonl to file, one thread", rounds);
  end_to_end.contender("simdjson line by line", [&] { sink = sum_with_simdjson(text); });
  end_to_end.contender("tokpack, cached file to file", [&] {
    sink =
        pack_file(tokpack::input::open_jsonl(copy.string(), tokpack::input::make_jsonl_session({})), output);
  });
  end_to_end.contender("tokpack, memory to file", [&] {
    sink = pack_file(tokpack::input::open_jsonl_text(text, "memory", tokpack::input::make_jsonl_session({})),
                     output);
  });
  std::vector<std::uint32_t> lengths;
  read_batches(tokpack::input::open_jsonl_text(text, "memory", tokpack::input::make_jsonl_session({})),
               &lengths);
  end_to_end.contender("planning alone", [&] { sink = tokpack::bench::plan_windows(lengths, kCapacity); });
  nlohmann::json measured = end_to_end.measure();
  const double share =
      measured["contenders"][3]["min_s"].get<double>() / measured["contenders"][1]["min_s"].get<double>();
  measured["planning_share"] = share;
  std::printf("planning is %.2f %% of the time from file to file\n", share * 100);
  results.push_back(measured);
  std::filesystem::remove(output);
  std::filesystem::remove(copy);

  if (!json_path.empty()) std::ofstream(json_path) << results.dump(2) << "\n";
  return 0;
}
