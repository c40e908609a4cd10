// Reads the text form of a test vector (spec/vectors/README.md): the bytes and what is expected of them.
//
// Throws std::runtime_error on a vector that is not well formed: a mistake in the tests, not in a file under
// test.
//
//   const VectorFile vector = read_vector(path);
//   CHECK(errc_name(parse_page0(vector.bytes(), vector.data.size()).error().code) == vector.open);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tokpack::test {

struct VectorFile {
  std::string name;  ///< file name without extension
  std::vector<std::byte> data;
  std::string open = "ok";                           ///< "ok" or an error name
  std::vector<std::string> verify;                   ///< {"ok"} or error names that verify must report
  std::map<std::uint64_t, std::string> pack_errors;  ///< pack number -> error name
  std::string dump;                                  ///< JSON text, empty when not given
  std::map<std::uint64_t, std::string> packs;        ///< pack number -> JSON text

  std::span<const std::byte> bytes() const& noexcept { return data; }
  std::span<const std::byte> bytes() const&& = delete;
};

namespace vector_detail {

[[noreturn]] inline void fail(const std::filesystem::path& path, const std::string& line) {
  throw std::runtime_error(path.string() + ": not understood: " + line);
}

/// Appends what one line of hex means.
inline void decode_line(const std::filesystem::path& path, const std::string& line,
                        std::vector<std::byte>& data) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return;
  const bool fill = word[0] == '@';
  if (fill) word.erase(0, 1);
  if (std::strtoull(word.c_str(), nullptr, 16) != data.size()) fail(path, line);
  if (fill) {
    std::string what;
    std::size_t count = 0;
    if (!(words >> what >> count) || what != "zero") fail(path, line);
    data.resize(data.size() + count);
    return;
  }
  while (words >> word) {
    if (word.size() != 2) fail(path, line);
    data.push_back(static_cast<std::byte>(std::strtoul(word.c_str(), nullptr, 16)));
  }
}

inline std::string after_colon(const std::string& line) {
  std::size_t at = line.find(':') + 1;
  while (at < line.size() && line[at] == ' ') ++at;
  return line.substr(at);
}

}  // namespace vector_detail

inline VectorFile read_vector(const std::filesystem::path& path) {
  using namespace vector_detail;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  VectorFile vector;
  vector.name = path.stem().string();
  bool in_bytes = false;
  std::string* block = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (in_bytes) {
      if (line.rfind("end ", 0) == 0) {
        in_bytes = false;
        if (std::stoull(line.substr(4)) != vector.data.size()) fail(path, line);
      } else {
        decode_line(path, line, vector.data);
      }
    } else if (line == "bytes") {
      in_bytes = true;
    } else if (line.rfind("expect-open:", 0) == 0) {
      block = nullptr;
      vector.open = after_colon(line);
    } else if (line.rfind("expect-verify:", 0) == 0) {
      block = nullptr;
      std::istringstream words(after_colon(line));
      for (std::string word; words >> word;) vector.verify.push_back(word);
    } else if (line.rfind("expect-pack-error:", 0) == 0) {
      block = nullptr;
      std::istringstream words(after_colon(line));
      std::uint64_t pack = 0;
      std::string error;
      if (!(words >> pack >> error)) fail(path, line);
      vector.pack_errors[pack] = error;
    } else if (line.rfind("expect-dump:", 0) == 0) {
      block = &vector.dump;
    } else if (line.rfind("expect-pack:", 0) == 0) {
      block = &vector.packs[std::stoull(after_colon(line))];
    } else if (block != nullptr) {
      *block += line + '\n';
    } else if (!line.empty() && line[0] != '#') {
      fail(path, line);
    }
  }
  if (in_bytes) fail(path, "no end line");
  return vector;
}

/// Every vector of a folder, by name.
inline std::vector<VectorFile> read_vectors(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<VectorFile> vectors;
  for (const auto& path : paths) vectors.push_back(read_vector(path));
  return vectors;
}

}  // namespace tokpack::test
