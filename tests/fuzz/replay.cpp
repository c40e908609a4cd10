// Runs a fuzz target over files and folders as a plain test, with any compiler and without libFuzzer.
//
//   parse_fuzz_replay corpus/parse build/vectors
//
// Each input is replayed whole, then cut after its first half and with one byte changed, so that a seed tests
// more than itself. The target aborts on a fault; 1 when a path is missing or holds no file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// A copy of exactly the input's size, so that a sanitizer sees a read past its end; never null, as
// libFuzzer's.
void run(const std::vector<char>& bytes, std::size_t size) {
  const auto copy = std::make_unique<std::uint8_t[]>(size);
  std::copy_n(bytes.begin(), size, copy.get());
  LLVMFuzzerTestOneInput(copy.get(), size);
}

void replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  run(bytes, bytes.size());
  if (bytes.empty()) return;
  run(bytes, bytes.size() / 2);
  bytes[bytes.size() / 3] ^= 0x40;
  run(bytes, bytes.size());
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path = argv[i];
    std::size_t here = 0;
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (!entry.is_regular_file()) continue;
        replay(entry.path());
        ++here;
      }
    } else if (std::filesystem::is_regular_file(path)) {
      replay(path);
      here = 1;
    }
    if (here == 0) {
      std::fprintf(stderr, "no input in %s\n", argv[i]);
      return 1;
    }
    files += here;
  }
  std::printf("replayed %zu inputs\n", files);
  return files > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
