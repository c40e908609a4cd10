// For fuzz targets that read files: bytes as a file in memory, and checksums made to fit, so that mutations
// get past page 0 and past the hashes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tokpack/format/checksum.h"
#include "tokpack/format/layout.h"

#define TOKPACK_FUZZ_CHECK(condition)                                              \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace tokpack::test {

/// Page 0 with the right magic, version, size, checksum and digest, and section hashes that fit, as far as
/// the bytes have the places for them. Bytes shorter than a page stay as they are.
inline std::string sealed(std::string bytes) {
  using namespace tokpack::format;
  if (bytes.size() < kPageBytes) return bytes;
  Header header = load<Header>(std::as_bytes(std::span(bytes)), 0);
  header.magic = kMagic;
  header.version_major = kVersionMajor;
  header.version_minor = kVersionMinor;
  if (header.header_bytes < kPageBytes || header.header_bytes % kPageBytes != 0 ||
      header.header_bytes > std::min<std::uint64_t>(bytes.size(), kMaxHeaderBytes)) {
    header.header_bytes = static_cast<std::uint32_t>(kPageBytes);
  }
  header.file_size = bytes.size();
  const Bytes all = std::as_bytes(std::span(bytes));
  std::vector<SectionEntry> entries(
      std::min<std::uint64_t>(header.section_count, max_sections(header.header_bytes)));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = load<SectionEntry>(all, sizeof(Header) + i * sizeof(SectionEntry));
  }
  if (!entries.empty() && in_bounds(entries.back().offset, entries.back().length, bytes.size()) &&
      entries.back().offset >= header.header_bytes) {
    SectionEntry& checksums = entries.back();
    std::uint64_t slot = 0;
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
      if (!in_bounds(entries[i].offset, entries[i].length, bytes.size())) break;
      std::vector<std::uint64_t> sums;
      for (std::uint64_t at = 0; at < entries[i].length; at += kBlockBytes) {
        sums.push_back(
            xxh3_64(all.subspan(entries[i].offset + at, std::min(kBlockBytes, entries[i].length - at))));
      }
      if (sums.size() > checksums.length / 8 - slot) break;
      if (!sums.empty())
        std::memcpy(bytes.data() + checksums.offset + slot * 8, sums.data(), sums.size() * 8);
      slot += sums.size();
      entries[i].hash = section_hash(sums);
    }
    checksums.hash = xxh3_128(all.subspan(checksums.offset, checksums.length));
  }
  header.content_digest = content_digest(header, entries);
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (!entries.empty()) {
    std::memcpy(bytes.data() + sizeof(header), entries.data(), entries.size() * sizeof(SectionEntry));
  }
  const std::uint64_t checksum = xxh3_64(all.first(header.header_bytes - 8));
  std::memcpy(bytes.data() + header.header_bytes - 8, &checksum, sizeof(checksum));
  return bytes;
}

}  // namespace tokpack::test
