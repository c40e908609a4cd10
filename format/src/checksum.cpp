// Which version of XXH3 runs, and the uses the format makes of it.
#include "tokpack/format/checksum.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "checksum_kernel.h"

namespace tokpack::format {
namespace {

using detail::HashKernel;
using detail::HashState;

struct Kernels {
  std::array<HashVariant, 3> variants{};
  std::size_t count = 0;
  const HashKernel* best = nullptr;

  void add(const HashKernel& kernel) noexcept {
    variants[count++] = {kernel.name, kernel.hash64, kernel.hash128};
    best = &kernel;
  }
};

const Kernels& kernels() noexcept {
  static const Kernels chosen = [] {
    Kernels k;
    k.add(detail::kBaselineKernel);
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) k.add(detail::kAvx2Kernel);
    if (__builtin_cpu_supports("avx512f")) k.add(detail::kAvx512Kernel);
#endif
    return k;
  }();
  return chosen;
}

const HashKernel& best() noexcept { return *kernels().best; }

template <typename T>
std::byte* put(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof(value));
  return at + sizeof(value);
}

}  // namespace

std::span<const HashVariant> hash_variants() noexcept {
  const Kernels& k = kernels();
  return std::span(k.variants).first(k.count);
}

std::uint64_t xxh3_64(Bytes bytes) noexcept { return best().hash64(bytes.data(), bytes.size()); }

Hash128 xxh3_128(Bytes bytes) noexcept {
  Hash128 hash;
  best().hash128(bytes.data(), bytes.size(), &hash.low, &hash.high);
  return hash;
}

Hash128 section_hash(std::span<const std::uint64_t> block_checksums) noexcept {
  return xxh3_128(std::as_bytes(block_checksums));
}

std::vector<std::uint64_t> block_checksums(Bytes section) {
  std::vector<std::uint64_t> out;
  out.reserve(static_cast<std::size_t>(block_count(section.size())));
  while (!section.empty()) {
    const std::size_t n = std::min<std::size_t>(section.size(), kBlockBytes);
    out.push_back(xxh3_64(section.first(n)));
    section = section.subspan(n);
  }
  return out;
}

std::string to_hex(Hash128 hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(hash.high >> (4 * i)) & 15];
    text[31 - i] = kDigits[(hash.low >> (4 * i)) & 15];
  }
  return text;
}

struct BlockHasher::State {
  const HashKernel* kernel = &best();
  std::size_t in_block = 0;  // bytes of the unfinished block, all of them in `state`
  std::vector<std::uint64_t> checksums;
  HashState state;
};

BlockHasher::BlockHasher() : state_(new State) {}
BlockHasher::~BlockHasher() { delete state_; }
BlockHasher::BlockHasher(BlockHasher&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
BlockHasher& BlockHasher::operator=(BlockHasher&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void BlockHasher::update(Bytes bytes) {
  State& s = *state_;
  while (!bytes.empty()) {
    if (s.in_block == 0 && bytes.size() >= kBlockBytes) {
      // A whole block at once needs no state, and one-shot hashing is faster.
      s.checksums.push_back(s.kernel->hash64(bytes.data(), kBlockBytes));
      bytes = bytes.subspan(kBlockBytes);
      continue;
    }
    if (s.in_block == 0) s.kernel->begin64(&s.state);
    const std::size_t n = std::min<std::size_t>(bytes.size(), kBlockBytes - s.in_block);
    s.kernel->update64(&s.state, bytes.data(), n);
    s.in_block += n;
    bytes = bytes.subspan(n);
    if (s.in_block == kBlockBytes) {
      s.checksums.push_back(s.kernel->digest64(&s.state));
      s.in_block = 0;
    }
  }
}

std::vector<std::uint64_t> BlockHasher::finish() && {
  State& s = *state_;
  if (s.in_block != 0) s.checksums.push_back(s.kernel->digest64(&s.state));
  s.in_block = 0;
  return std::move(s.checksums);
}

Hash128 content_digest(const Header& header, std::span<const SectionEntry> entries) noexcept {
  std::array<std::byte, 42> fields;
  std::byte* at = fields.data();
  at = put(at, header.version_major);
  at = put(at, header.version_minor);
  at = put(at, header.packs);
  at = put(at, header.sequences);
  at = put(at, header.tokens);
  at = put(at, header.capacity);
  at = put(at, header.alignment);
  at = put(at, header.token_type);
  at = put(at, header.label_kind);
  put(at, header.ignore_index);

  const HashKernel& kernel = best();
  HashState state;
  kernel.begin128(&state);
  kernel.update128(&state, fields.data(), fields.size());
  for (SectionEntry entry : entries) {
    if (entry.kind == static_cast<std::uint16_t>(SectionKind::kMetadata) ||
        entry.kind == static_cast<std::uint16_t>(SectionKind::kChecksums)) {
      continue;
    }
    entry.offset = 0;
    kernel.update128(&state, &entry, sizeof(entry));
  }
  Hash128 hash;
  kernel.digest128(&state, &hash.low, &hash.high);
  return hash;
}

}  // namespace tokpack::format
