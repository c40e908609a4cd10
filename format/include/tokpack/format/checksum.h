// XXH3 as the format uses it (spec: Checksums). Finds accidents, not attackers.
//
// Uses the widest vector instructions of the machine, chosen once at run time; results are the same for all.
// Threads: all functions are pure; BlockHasher is a value for one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tokpack/format/bytes.h"
#include "tokpack/format/layout.h"

namespace tokpack::format {

/// The checksum of one block, when given a block's bytes.
std::uint64_t xxh3_64(Bytes bytes) noexcept;
Hash128 xxh3_128(Bytes bytes) noexcept;

/// The checksums of all blocks of a section that lies in memory; BlockHasher gives the same from pieces.
std::vector<std::uint64_t> block_checksums(Bytes section);

/// XXH3-128 over a section's block checksums as they stand in the file.
Hash128 section_hash(std::span<const std::uint64_t> block_checksums) noexcept;

/// 32 lowercase hex digits, high half first, as xxhsum prints them.
std::string to_hex(Hash128 hash);

/// Block checksums of a section that arrives in pieces of any size, in order, without hashing a byte twice.
///
///   BlockHasher hasher; hasher.update(piece); ...; auto checksums = std::move(hasher).finish();
class BlockHasher {
 public:
  BlockHasher();
  ~BlockHasher();
  BlockHasher(BlockHasher&&) noexcept;
  BlockHasher& operator=(BlockHasher&&) noexcept;

  void update(Bytes bytes);
  /// One checksum for every started block.
  std::vector<std::uint64_t> finish() &&;

 private:
  struct State;
  State* state_;
};

/// The content digest of a header and its entries (spec: Content digest). Reads no other byte.
Hash128 content_digest(const Header& header, std::span<const SectionEntry> entries) noexcept;

/// One instruction-set version of the hash functions, for tests and benchmarks.
struct HashVariant {
  const char* name = nullptr;
  std::uint64_t (*hash64)(const void* data, std::size_t size) noexcept = nullptr;
  void (*hash128)(const void* data, std::size_t size, std::uint64_t* low,
                  std::uint64_t* high) noexcept = nullptr;
};
/// The versions that this machine can run, widest last. The functions above use the last one.
std::span<const HashVariant> hash_variants() noexcept;

}  // namespace tokpack::format
