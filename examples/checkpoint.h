// A checkpoint of train.cpp as a file: torch's archive and a checksum behind it, since torch checks none.
// A file is there complete or not at all; the one before it stays until then.
#pragma once

#include <torch/serialize.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

#include "tokpack/core/output_file.h"
#include "tokpack/format/checksum.h"
#include "tokpack/torch/exception.h"

/// Behind the archive: the XXH3-128 of its bytes.
inline std::string checkpoint_trailer(const std::string& archive) {
  const auto hash = tokpack::format::xxh3_128(std::as_bytes(std::span(archive.data(), archive.size())));
  return "train.cpp " + tokpack::format::to_hex(hash) + "\n";
}

/// Made before training, so that a path that cannot be written is refused then.
class CheckpointFile {
 public:
  /// `dataset`: what must not be overwritten.
  CheckpointFile(const std::string& path, const std::string& dataset)
      : output_(tokpack::libtorch::value_or_throw(tokpack::OutputFile::create(path, /*force=*/true))) {
    std::error_code none;
    if (std::filesystem::equivalent(path, dataset, none)) {
      throw std::runtime_error("--save names the dataset, " + path + "; choose another file");
    }
  }

  void write(torch::serialize::OutputArchive& archive) {
    std::string bytes;
    archive.save_to([&bytes](const void* data, std::size_t count) {
      bytes.append(static_cast<const char*>(data), count);
      return count;
    });
    bytes += checkpoint_trailer(bytes);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(output_.descriptor(), bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno != EINTR) {
        throw std::runtime_error("cannot write the checkpoint " + output_.path() + ": " +
                                 std::strerror(errno));
      }
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    tokpack::libtorch::value_or_throw(output_.commit(/*sync=*/true));
  }

 private:
  tokpack::OutputFile output_;
};

inline void read_checkpoint(const std::string& path, torch::serialize::InputArchive& archive) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error("no checkpoint " + path);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t trailer = checkpoint_trailer({}).size();
  const std::size_t size = bytes.size() < trailer ? 0 : bytes.size() - trailer;
  const std::string found = bytes.substr(size);
  bytes.resize(size);
  if (found != checkpoint_trailer(bytes)) {
    throw std::runtime_error(path +
                             " is no checkpoint of this program, or damaged: its checksum does not fit; "
                             "take an older one");
  }
  archive.load_from(bytes.data(), bytes.size());
}
