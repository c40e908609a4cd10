// Writes a .tpk file of equal packs straight from a formula, for reader benchmarks: much faster than packing.
//
//   SyntheticFile file({.packs = 250'000, .sequences_per_pack = 8, .tokens_per_pack = 4096, .fill = false});
//   Reader::open(file.path());
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/format/checksum.h"
#include "tokpack/format/layout.h"

namespace tokpack::bench {

struct SyntheticOptions {
  std::uint64_t packs = 1000;
  std::uint32_t sequences_per_pack = 8;
  std::uint32_t tokens_per_pack = 4096;
  std::uint32_t vocab_size = 50257;
  bool fill = true;  ///< false: tokens and loss bits stay a hole, checksums are left out
  std::string folder = "/dev/shm";
};

class SyntheticFile {
 public:
  explicit SyntheticFile(const SyntheticOptions& o) : path_(o.folder + "/tokpack-bench-XXXXXX") {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("cannot create a file in " + o.folder);
    lay_out(o);
    if (::ftruncate(descriptor, static_cast<off_t>(header_.file_size)) != 0) fail("ftruncate");
    void* mapped = ::mmap(nullptr, header_.file_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (mapped == MAP_FAILED) fail("mmap");
    base_ = static_cast<char*>(mapped);
    write_body(o);
    seal(o);
    ::munmap(mapped, header_.file_size);
  }
  SyntheticFile(const SyntheticFile&) = delete;
  SyntheticFile& operator=(const SyntheticFile&) = delete;
  ~SyntheticFile() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return header_.file_size; }

 private:
  [[noreturn]] void fail(const char* what) {
    ::unlink(path_.c_str());
    throw std::runtime_error(std::string(what) + " failed for " + path_);
  }
  void add(format::SectionKind kind, format::ElementType type, std::uint64_t length) {
    format::SectionEntry entry{};
    for (const auto& rule : format::kBuiltInKinds) {
      if (rule.kind != kind) continue;
      entry.scope = static_cast<std::uint8_t>(rule.scope);
      std::copy(rule.name.begin(), rule.name.end(), entry.name.begin());
    }
    entry.kind = static_cast<std::uint16_t>(kind);
    entry.element_type = static_cast<std::uint8_t>(type);
    entry.flags = entry.kind <= 8 ? 1 : 0;
    entry.width = 1;
    entry.offset =
        sections_.empty() ? 4096 : format::page_up(sections_.back().offset + sections_.back().length);
    entry.length = length;
    sections_.push_back(entry);
    if (kind != format::SectionKind::kChecksums) blocks_ += format::block_count(length);
  }
  void lay_out(const SyntheticOptions& o) {
    using enum format::SectionKind;
    using format::ElementType;
    header_.magic = format::kMagic;
    header_.version_minor = format::kVersionMinor;
    header_.header_bytes = 4096;
    header_.packs = o.packs;
    header_.sequences = header_.samples = o.packs * o.sequences_per_pack;
    header_.tokens = o.packs * o.tokens_per_pack;
    header_.targets = o.packs * (o.tokens_per_pack - o.sequences_per_pack);
    header_.capacity = o.tokens_per_pack;
    header_.alignment = 1;
    header_.token_type = static_cast<std::uint8_t>(ElementType::kU16);
    header_.label_kind = static_cast<std::uint8_t>(format::LabelKind::kLossMask);
    header_.ignore_index = -100;
    header_.vocab_size = o.vocab_size;
    header_.longest_sequence = length(o, o.sequences_per_pack - 1);
    header_.most_sequences_in_pack = o.sequences_per_pack;
    add(kTokens, ElementType::kU16, header_.tokens * 2);
    add(kPackTokenOffsets, ElementType::kU64, (o.packs + 1) * 8);
    add(kPackSequenceOffsets, ElementType::kU64, (o.packs + 1) * 8);
    add(kCuSeqlens, ElementType::kI32, (header_.sequences + o.packs) * 4);
    add(kLossBits, ElementType::kBytes, format::loss_bits_length(header_.tokens, o.packs));
    add(kTargets, ElementType::kU32, o.packs * 4);
    add(kSources, ElementType::kU32, header_.sequences * 4);
    add(kChecksums, ElementType::kU64, blocks_ * 8);
    header_.section_count = static_cast<std::uint16_t>(sections_.size());
    header_.file_size = sections_.back().offset + sections_.back().length;
  }
  /// All but the last sequence of a pack have the same length.
  static std::uint32_t length(const SyntheticOptions& o, std::uint32_t s) {
    const std::uint32_t each = o.tokens_per_pack / o.sequences_per_pack;
    return s + 1 < o.sequences_per_pack ? each : o.tokens_per_pack - each * s;
  }
  template <typename T>
  void put(std::size_t section, std::uint64_t index, T value) {
    std::memcpy(base_ + sections_[section].offset + index * sizeof(T), &value, sizeof(T));
  }
  void write_body(const SyntheticOptions& o) {
    std::uint64_t state = 1;
    const auto id = [&] {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::uint16_t>((state >> 33) % o.vocab_size);
    };
    for (std::uint64_t p = 0; p <= o.packs; ++p) {
      put(1, p, p * o.tokens_per_pack);
      put(2, p, p * o.sequences_per_pack);
      if (p == o.packs) break;
      std::int32_t end = 0;
      std::uint64_t entry = p * (o.sequences_per_pack + 1);
      put(3, entry++, end);
      for (std::uint32_t s = 0; s < o.sequences_per_pack; ++s) {
        put(3, entry++, end += static_cast<std::int32_t>(length(o, s)));
        const std::uint64_t sequence = p * o.sequences_per_pack + s;
        put(6, sequence, static_cast<std::uint32_t>(sequence));
      }
      put(5, p, o.tokens_per_pack - o.sequences_per_pack);
      if (!o.fill) continue;
      for (std::uint32_t i = 0; i < o.tokens_per_pack; ++i) put(0, p * o.tokens_per_pack + i, id());
      const std::uint64_t bits = format::loss_bits_begin(p * o.tokens_per_pack, p);
      for (std::uint32_t i = 0; i < o.tokens_per_pack; i += 8) {
        const std::uint32_t left = std::min<std::uint32_t>(8, o.tokens_per_pack - i);
        put(4, bits + i / 8, static_cast<std::uint8_t>((1U << left) - 1));
      }
    }
  }
  void seal(const SyntheticOptions& o) {
    std::uint64_t slot = 0;
    const std::size_t last = sections_.size() - 1;
    for (std::size_t i = 0; i < last && o.fill; ++i) {
      std::vector<std::uint64_t> sums;
      for (std::uint64_t at = 0; at < sections_[i].length; at += format::kBlockBytes) {
        const std::uint64_t size = std::min(format::kBlockBytes, sections_[i].length - at);
        sums.push_back(format::xxh3_64(std::as_bytes(std::span(base_ + sections_[i].offset + at, size))));
        put(last, slot++, sums.back());
      }
      sections_[i].hash = format::section_hash(sums);
    }
    sections_[last].hash =
        format::xxh3_128(std::as_bytes(std::span(base_ + sections_[last].offset, sections_[last].length)));
    header_.content_digest = format::content_digest(header_, sections_);
    std::memcpy(base_, &header_, sizeof(header_));
    std::memcpy(base_ + sizeof(header_), sections_.data(), sections_.size() * sizeof(format::SectionEntry));
    const std::uint64_t checksum = format::xxh3_64(std::as_bytes(std::span(base_, 4088)));
    std::memcpy(base_ + 4088, &checksum, 8);
  }

  std::string path_;
  char* base_ = nullptr;
  format::Header header_{};
  std::vector<format::SectionEntry> sections_;
  std::uint64_t blocks_ = 0;
};

}  // namespace tokpack::bench
