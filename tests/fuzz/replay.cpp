// Runs a fuzz target over files and folders as a plain test, with any compiler and without libFuzzer.
//
//   parse_fuzz_replay corpus/parse build/vectors
//
// Each input is replayed whole, then cut after its first half and with one byte changed, so that a seed tests
// more than itself. The target aborts on a fault; 1 when a path is missing or holds no file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  if (bytes.empty()) return;
  // A vector of its own size, so that a sanitizer sees a read past the cut.
  const std::vector<std::uint8_t> half(bytes.begin(),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2));
  LLVMFuzzerTestOneInput(half.data(), half.size());
  bytes[bytes.size() / 3] ^= 0x40;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
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
