// Packing from memory to a file, beside write() of the same bytes.
//
//   bench_write [--tokens N] [--mean N] [--folder PATH] [--sync] [--rounds N] [--json OUT]
//
// Default: 500 Mi tokens (1 GB) of u16 with a loss mask, samples of mean 500, capacity 4096, to /dev/shm,
// without fsync. Contenders: plain write() in calls of 1 MiB, the writer with one thread and with two, and
// planning the same lengths alone.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "plan_windows.h"
#include "side_by_side.h"
#include "tokpack/core/writer.h"

namespace {

using namespace tokpack;

struct Settings {
  std::uint64_t tokens = std::uint64_t{500} << 20;
  std::uint32_t mean = 500;
  std::string folder = "/dev/shm", json;
  bool sync = false;
  int rounds = 7;
};

struct Data {
  std::vector<std::uint16_t> tokens;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint32_t> lengths;
};

Data make(const Settings& settings) {
  Data data;
  std::mt19937_64 random(1);
  std::gamma_distribution<double> length(2.0, settings.mean / 2.0);
  std::uint64_t total = 0;
  while (total < settings.tokens) {
    const auto n = static_cast<std::uint32_t>(std::clamp(length(random), 1.0, 4096.0));
    data.lengths.push_back(n);
    total += n;
  }
  data.tokens.resize(total);
  for (std::size_t i = 0; i + 4 <= total; i += 4) {
    const std::uint64_t r = random();
    std::memcpy(&data.tokens[i], &r, 8);
  }
  data.mask.resize(total);
  std::size_t t = 0;
  for (const std::uint32_t n : data.lengths) {  // a prompt, then what is trained on
    const std::size_t prompt = n / 3;
    std::memset(data.mask.data() + t + prompt, 1, n - prompt);
    t += n;
  }
  return data;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "bench_write: %s\n", what.c_str());
  std::exit(1);
}

void plain_write(const std::string& path, const Data& data, bool sync) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail("cannot open " + path);
  const auto bytes = std::as_bytes(std::span(data.tokens));
  // The bits of the mask take an eighth of a byte per token: the same bytes as the writer's two sections.
  const std::uint64_t bits = data.mask.size() / 8;
  const auto put = [&](const void* from, std::size_t size) {
    const char* p = static_cast<const char*>(from);
    for (std::size_t done = 0; done < size;) {
      const ssize_t n = ::write(file, p + done, std::min<std::size_t>(size - done, 1 << 20));
      if (n <= 0) fail("write failed");
      done += static_cast<std::size_t>(n);
    }
  };
  put(bytes.data(), bytes.size());
  put(data.mask.data(), bits);
  if (sync) ::fsync(file);
  ::close(file);
  ::unlink(path.c_str());
}

WriteSummary pack(const std::string& path, const Data& data, unsigned threads, bool sync) {
  auto writer = Writer::create(path, {.plan = {.capacity = 4096},
                                      .overlong = Overlong::kSplit,
                                      .threads = threads,
                                      .force = true,
                                      .sync = sync});
  if (!writer) fail(writer.error().detail);
  constexpr std::size_t kBatch = 256;
  std::size_t token = 0;
  for (std::size_t i = 0; i < data.lengths.size(); i += kBatch) {
    const std::size_t n = std::min(kBatch, data.lengths.size() - i);
    std::size_t count = 0;
    for (std::size_t k = 0; k < n; ++k) count += data.lengths[i + k];
    const Batch batch{.tokens = TokenInput(std::span(data.tokens).subspan(token, count)),
                      .lengths = std::span(data.lengths).subspan(i, n),
                      .loss_mask = std::span(data.mask).subspan(token, count)};
    if (auto ok = writer->add_batch(batch); !ok) fail(ok.error().detail);
    token += count;
  }
  auto done = std::move(*writer).finish();
  if (!done) fail(done.error().detail);
  ::unlink(path.c_str());
  return *done;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&] { return std::string(++i < argc ? argv[i] : ""); };
    if (arg == "--tokens") settings.tokens = std::strtoull(value().c_str(), nullptr, 10);
    if (arg == "--mean")
      settings.mean = static_cast<std::uint32_t>(std::strtoul(value().c_str(), nullptr, 10));
    if (arg == "--folder") settings.folder = value();
    if (arg == "--json") settings.json = value();
    if (arg == "--rounds") settings.rounds = std::atoi(value().c_str());
    if (arg == "--sync") settings.sync = true;
  }
  const Data data = make(settings);
  const std::string path = settings.folder + "/tokpack_bench_write.tpk";
  const WriteSummary summary = pack(path, data, 1, false);
  std::printf("%zu samples, %zu tokens, %llu packs (lower bound %llu), %llu bytes\n", data.lengths.size(),
              data.tokens.size(), static_cast<unsigned long long>(summary.packs),
              static_cast<unsigned long long>(summary.lower_bound_packs),
              static_cast<unsigned long long>(summary.file_size));
  bench::SideBySide run("write, mean " + std::to_string(settings.mean), settings.rounds);
  run.contender("write()", [&] { plain_write(path, data, settings.sync); });
  run.contender("writer, 1 thread", [&] { pack(path, data, 1, settings.sync); });
  run.contender("writer, 2 threads", [&] { pack(path, data, 2, settings.sync); });
  volatile std::size_t sink = 0;
  run.contender("planning alone", [&] { sink = bench::plan_windows(data.lengths, 4096); });
  nlohmann::json out = run.measure();
  const double base = out["contenders"][0]["min_s"];
  const double planning = out["contenders"][3]["min_s"], whole = out["contenders"][1]["min_s"];
  out["planning_share_of_one_thread"] = planning / whole;
  std::printf("planning is %.1f %% of the writer's time with one thread\n", planning / whole * 100);
  for (auto& contender : out["contenders"]) {
    if (contender["name"] == "planning alone") continue;
    contender["speed_of_write"] = base / contender["min_s"].get<double>();
    std::printf("%-28s %.3f x the speed of write()\n", contender["name"].get<std::string>().c_str(),
                contender["speed_of_write"].get<double>());
  }
  if (!settings.json.empty()) std::ofstream(settings.json) << out.dump(2) << "\n";
  return 0;
}
