// The bytes of a .tpk file: constants, structures and position formulas. spec/format.md is normative; a test
// reads its tables and compares every offset and size with this file.
//
// All integers are little-endian. The structures hold what memcpy brought; nothing here reads a file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tokpack::format {

static_assert(std::endian::native == std::endian::little,
              "tokpack reads and writes on little-endian machines");

// ---- caps, for writer and reader alike (spec: Limits) ----
inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;  ///< checksum block
inline constexpr std::uint32_t kMaxCapacity = std::uint32_t{1} << 24;
inline constexpr std::uint32_t kMaxTokenId = 0x7fffffff;
inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kMaxMetadataValues = std::uint64_t{1} << 18;
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 62;

// ---- header ----
/// 0x89 catches 7-bit copies, CR LF and LF catch text-mode copies, 0x1a stops a `type` on old consoles.
inline constexpr std::array<unsigned char, 8> kMagic = {0x89, 'T', 'P', 'K', 0x0d, 0x0a, 0x1a, 0x0a};
inline constexpr std::uint16_t kVersionMajor = 0;
inline constexpr std::uint16_t kVersionMinor = 1;
inline constexpr std::uint64_t kKnownRequiredFeatures = 0;

/// 128 bits of XXH3: low half first, as the file has it.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

enum class LabelKind : std::uint8_t { kAll = 0, kLossMask = 1, kExplicit = 2 };

enum class ElementType : std::uint8_t {
  kU8 = 1,
  kU16 = 2,
  kU32 = 3,
  kU64 = 4,
  kI32 = 5,
  kI64 = 6,
  kF16 = 7,
  kBF16 = 8,
  kF32 = 9,
  kBytes = 10,
};
enum class Scope : std::uint8_t { kFile = 1, kPack = 2, kSequence = 3, kToken = 4 };

enum class SectionKind : std::uint16_t {
  kTokens = 1,
  kPackTokenOffsets = 2,
  kPackSequenceOffsets = 3,
  kCuSeqlens = 4,
  kLossBits = 5,
  kLabels = 6,
  kTargets = 7,
  kSources = 8,
  kFirstTokenPositions = 9,
  kTailLabels = 10,
  kColumn = 11,
  kColumnOffsets = 12,
  kColumnValues = 13,
  kMetadata = 14,
  kChecksums = 15,
};
inline constexpr std::uint16_t kLastKnownKind = 15;

inline constexpr std::uint16_t kSectionRequired = 1;  ///< bit 0: refuse the file when the kind is unknown
inline constexpr std::uint16_t kSectionReservedFlags =
    0xfe;  ///< bits 1..7: must be zero; 8..15 are ignorable

struct Header {
  std::array<unsigned char, 8> magic;       // 0
  std::uint16_t version_major;              // 8
  std::uint16_t version_minor;              // 10
  std::uint32_t header_bytes;               // 12
  std::uint64_t required_features;          // 16
  std::uint64_t ignorable_features;         // 24
  std::uint64_t file_size;                  // 32
  std::uint64_t packs;                      // 40
  std::uint64_t sequences;                  // 48
  std::uint64_t tokens;                     // 56
  std::uint64_t samples;                    // 64
  std::uint64_t targets;                    // 72
  std::uint32_t capacity;                   // 80
  std::uint32_t alignment;                  // 84
  std::uint8_t token_type;                  // 88: ElementType kU16 or kU32
  std::uint8_t label_kind;                  // 89: LabelKind
  std::uint16_t section_count;              // 90
  std::int32_t ignore_index;                // 92
  std::uint32_t pad_id;                     // 96
  std::uint32_t vocab_size;                 // 100: 0 = unknown
  std::uint32_t longest_sequence;           // 104
  std::uint32_t most_sequences_in_pack;     // 108
  Hash128 content_digest;                   // 112
  std::array<unsigned char, 128> reserved;  // 128
};
static_assert(sizeof(Header) == 256);
static_assert(offsetof(Header, version_major) == 8 && offsetof(Header, version_minor) == 10);
static_assert(offsetof(Header, header_bytes) == 12 && offsetof(Header, required_features) == 16);
static_assert(offsetof(Header, ignorable_features) == 24 && offsetof(Header, file_size) == 32);
static_assert(offsetof(Header, packs) == 40 && offsetof(Header, sequences) == 48);
static_assert(offsetof(Header, tokens) == 56 && offsetof(Header, samples) == 64);
static_assert(offsetof(Header, targets) == 72 && offsetof(Header, capacity) == 80);
static_assert(offsetof(Header, alignment) == 84 && offsetof(Header, token_type) == 88);
static_assert(offsetof(Header, label_kind) == 89 && offsetof(Header, section_count) == 90);
static_assert(offsetof(Header, ignore_index) == 92 && offsetof(Header, pad_id) == 96);
static_assert(offsetof(Header, vocab_size) == 100 && offsetof(Header, longest_sequence) == 104);
static_assert(offsetof(Header, most_sequences_in_pack) == 108 && offsetof(Header, content_digest) == 112);
static_assert(offsetof(Header, reserved) == 128);

inline constexpr std::size_t kNameBytes = 24;

struct SectionEntry {
  std::uint16_t kind;                 // 0
  std::uint8_t element_type;          // 2
  std::uint8_t scope;                 // 3
  std::uint16_t flags;                // 4
  std::uint16_t width;                // 6: elements per row
  std::uint64_t offset;               // 8
  std::uint64_t length;               // 16: bytes
  Hash128 hash;                       // 24
  std::array<char, kNameBytes> name;  // 40

  /// The name without its zero padding. Lives as long as this entry.
  std::string_view name_view() const& noexcept {
    std::size_t n = 0;
    while (n < name.size() && name[n] != '\0') ++n;
    return {name.data(), n};
  }
  std::string_view name_view() const&& = delete;
};
static_assert(sizeof(SectionEntry) == 64);
static_assert(offsetof(SectionEntry, element_type) == 2 && offsetof(SectionEntry, scope) == 3);
static_assert(offsetof(SectionEntry, flags) == 4 && offsetof(SectionEntry, width) == 6);
static_assert(offsetof(SectionEntry, offset) == 8 && offsetof(SectionEntry, length) == 16);
static_assert(offsetof(SectionEntry, hash) == 24 && offsetof(SectionEntry, name) == 40);

// ---- position formulas: tiny and pure; callers have bounded every argument first ----

/// How many section entries fit a page 0 of `header_bytes`: 59 for 4096.
constexpr std::uint64_t max_sections(std::uint64_t header_bytes) noexcept {
  return (header_bytes - sizeof(Header) - 8) / sizeof(SectionEntry);
}
/// The smallest header_bytes that holds `count` entries. A file may have more: a writer that streams takes
/// the most sections that its options can produce (spec: H-2).
constexpr std::uint64_t header_bytes_for(std::uint64_t count) noexcept {
  return (sizeof(Header) + count * sizeof(SectionEntry) + 8 + kPageBytes - 1) / kPageBytes * kPageBytes;
}
constexpr std::uint64_t page_up(std::uint64_t bytes) noexcept {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}
constexpr std::uint64_t block_count(std::uint64_t length) noexcept {
  return length / kBlockBytes + (length % kBlockBytes != 0 ? 1 : 0);
}
/// First byte of pack p's loss bits, relative to the section.
constexpr std::uint64_t loss_bits_begin(std::uint64_t pack_token_offset, std::uint64_t pack) noexcept {
  return (pack_token_offset >> 3) + pack;
}
/// Length of the loss bits section.
constexpr std::uint64_t loss_bits_length(std::uint64_t tokens, std::uint64_t packs) noexcept {
  return (tokens >> 3) + packs;
}
/// Index of pack p's first entry in cu_seqlens; it has `sequences in p` + 1 entries.
constexpr std::uint64_t cu_seqlens_begin(std::uint64_t pack_sequence_offset, std::uint64_t pack) noexcept {
  return pack_sequence_offset + pack;
}
/// Bytes of one element; 0 for an unknown type.
constexpr std::uint32_t element_bytes(std::uint8_t type) noexcept {
  constexpr std::array<std::uint8_t, 11> kBytes = {0, 1, 2, 4, 8, 4, 8, 2, 2, 4, 1};
  return type < kBytes.size() ? kBytes[type] : 0;
}
constexpr std::uint32_t element_bytes(ElementType type) noexcept {
  return element_bytes(static_cast<std::uint8_t>(type));
}

static_assert(max_sections(4096) == 59 && header_bytes_for(59) == 4096 && header_bytes_for(60) == 8192);

/// What a built-in kind prescribes. element_type 0 = several are possible, the parser decides.
struct KindRule {
  SectionKind kind;
  std::string_view name;
  std::uint8_t element_type;
  Scope scope;
};
inline constexpr std::array<KindRule, 12> kBuiltInKinds = {{
    {SectionKind::kTokens, "tokens", 0, Scope::kToken},
    {SectionKind::kPackTokenOffsets, "pack_token_offsets", 4, Scope::kFile},
    {SectionKind::kPackSequenceOffsets, "pack_sequence_offsets", 4, Scope::kFile},
    {SectionKind::kCuSeqlens, "cu_seqlens", 5, Scope::kFile},
    {SectionKind::kLossBits, "loss_bits", 10, Scope::kFile},
    {SectionKind::kLabels, "labels", 5, Scope::kToken},
    {SectionKind::kTargets, "targets", 3, Scope::kPack},
    {SectionKind::kSources, "sources", 0, Scope::kSequence},
    {SectionKind::kFirstTokenPositions, "first_token_positions", 3, Scope::kSequence},
    {SectionKind::kTailLabels, "tail_labels", 5, Scope::kSequence},
    {SectionKind::kMetadata, "metadata", 10, Scope::kFile},
    {SectionKind::kChecksums, "checksums", 4, Scope::kFile},
}};

/// Column names with a fixed meaning. All have scope sequence and width 1.
struct ReservedColumn {
  std::string_view name;
  ElementType type;
};
inline constexpr std::array<ReservedColumn, 7> kReservedColumns = {{
    {"group", ElementType::kU32},
    {"role", ElementType::kU8},
    {"weight", ElementType::kF32},
    {"domain", ElementType::kU32},
    {"prefix_len", ElementType::kU32},
    {"doc_id", ElementType::kU64},
    {"truncated", ElementType::kU8},
}};

}  // namespace tokpack::format
