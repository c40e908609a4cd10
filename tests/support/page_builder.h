// File images for tests, built from layout.h alone: a valid file, and the means to break one field of it and
// seal page 0 again, so that a check behind the checksum and the digest is reached.
//
//   std::string bytes = small_image().build();
//   patch(bytes, offsetof(Header, capacity), std::uint32_t{0});
//   reseal(bytes);
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/format/checksum.h"
#include "tokpack/format/layout.h"

namespace tokpack::test {

using namespace tokpack::format;

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

template <typename T>
std::string array_bytes(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

struct Section {
  SectionEntry entry{};
  std::string content;
};

inline Section section(std::uint16_t kind, std::string_view name, ElementType type, Scope scope,
                       std::string content, std::uint16_t width = 1, std::uint16_t flags = 0) {
  Section s;
  s.entry.kind = kind;
  s.entry.element_type = static_cast<std::uint8_t>(type);
  s.entry.scope = static_cast<std::uint8_t>(scope);
  s.entry.flags = flags;
  s.entry.width = width;
  std::copy_n(name.begin(), std::min(name.size(), kNameBytes), s.entry.name.begin());
  s.content = std::move(content);
  return s;
}
inline Section section(SectionKind kind, std::string_view name, ElementType type, Scope scope,
                       std::string content, std::uint16_t width = 1, std::uint16_t flags = 0) {
  return section(static_cast<std::uint16_t>(kind), name, type, scope, std::move(content), width, flags);
}

template <typename T>
void patch(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

/// Byte offset of a field of section entry i.
constexpr std::size_t entry_field(std::size_t i, std::size_t field) { return 256 + 64 * i + field; }

/// Makes the last 8 bytes of page 0 fit the rest.
inline void reseal_checksum(std::string& bytes) {
  const auto size = load<std::uint32_t>(bytes_of(bytes), offsetof(Header, header_bytes));
  patch(bytes, size - 8, xxh3_64(bytes_of(bytes).first(size - 8)));
}

/// Makes content digest and checksum fit the rest of page 0, whatever stands there.
/// REQUIRES: header_bytes lies within `bytes`.
inline void reseal(std::string& bytes) {
  const auto header = load<Header>(bytes_of(bytes), 0);
  const std::uint64_t fit = max_sections(header.header_bytes);
  std::vector<SectionEntry> entries(std::min<std::uint64_t>(header.section_count, fit));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data() + sizeof(Header), entries.size() * 64);
  patch(bytes, offsetof(Header, content_digest), content_digest(header, entries));
  reseal_checksum(bytes);
}

/// A file before it has bytes. `sections` are all but the checksums, which build() makes.
struct Image {
  Header header{};
  std::vector<Section> sections;

  Section* find(std::string_view name) {
    for (Section& s : sections) {
      if (s.entry.name_view() == name) return &s;
    }
    return nullptr;
  }
  /// Index of a section's entry in the file.
  std::size_t index(std::string_view name) const {
    std::size_t i = 0;
    while (i < sections.size() && sections[i].entry.name_view() != name) ++i;
    return i;
  }

  /// Places the sections, makes checksums, hashes, sizes, digest and page 0's checksum.
  std::string build() const {
    std::vector<Section> all = sections;
    std::string checksums;
    for (Section& s : all) {
      const auto blocks = block_checksums(bytes_of(s.content));
      s.entry.hash = section_hash(blocks);
      for (const std::uint64_t block : blocks) checksums += array_bytes({block});
    }
    all.push_back(section(SectionKind::kChecksums, "checksums", ElementType::kU64, Scope::kFile, checksums));
    all.back().entry.hash = xxh3_128(bytes_of(checksums));

    Header h = header;
    h.section_count = static_cast<std::uint16_t>(all.size());
    h.header_bytes = static_cast<std::uint32_t>(header_bytes_for(all.size()));
    std::string bytes(h.header_bytes, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) {
      bytes.resize(page_up(bytes.size()), '\0');
      all[i].entry.offset = bytes.size();
      all[i].entry.length = all[i].content.size();
      bytes += all[i].content;
      patch(bytes, entry_field(i, 0), all[i].entry);
    }
    h.file_size = bytes.size();
    patch(bytes, 0, h);
    reseal(bytes);
    return bytes;
  }
};

/// Two packs of capacity 8: sequences of 3 and 2 tokens, then one of 4. u16 tokens and loss bits.
inline Image small_image() {
  Image image;
  Header& h = image.header;
  h.magic = kMagic;
  h.version_major = kVersionMajor;
  h.version_minor = kVersionMinor;
  h.packs = 2;
  h.sequences = 3;
  h.tokens = 9;
  h.samples = 3;
  h.targets = 6;
  h.capacity = 8;
  h.alignment = 1;
  h.token_type = static_cast<std::uint8_t>(ElementType::kU16);
  h.label_kind = static_cast<std::uint8_t>(LabelKind::kLossMask);
  h.ignore_index = -100;
  h.longest_sequence = 4;
  h.most_sequences_in_pack = 2;
  using enum SectionKind;
  image.sections = {
      section(kTokens, "tokens", ElementType::kU16, Scope::kToken,
              array_bytes<std::uint16_t>({10, 11, 12, 20, 21, 30, 31, 32, 33}), 1, 1),
      section(kPackTokenOffsets, "pack_token_offsets", ElementType::kU64, Scope::kFile,
              array_bytes<std::uint64_t>({0, 5, 9}), 1, 1),
      section(kPackSequenceOffsets, "pack_sequence_offsets", ElementType::kU64, Scope::kFile,
              array_bytes<std::uint64_t>({0, 2, 3}), 1, 1),
      section(kCuSeqlens, "cu_seqlens", ElementType::kI32, Scope::kFile,
              array_bytes<std::int32_t>({0, 3, 5, 0, 4}), 1, 1),
      section(kLossBits, "loss_bits", ElementType::kBytes, Scope::kFile,
              array_bytes<std::uint8_t>({0x1f, 0x0f, 0}), 1, 1),
      section(kTargets, "targets", ElementType::kU32, Scope::kPack, array_bytes<std::uint32_t>({3, 3}), 1, 1),
      section(kSources, "sources", ElementType::kU32, Scope::kSequence, array_bytes<std::uint32_t>({0, 2, 1}),
              1, 1),
      section(kMetadata, "metadata", ElementType::kBytes, Scope::kFile, "{}"),
  };
  return image;
}

/// A file without packs, label kind `all`.
inline Image empty_image() {
  Image image = small_image();
  Header& h = image.header;
  h.packs = h.sequences = h.tokens = h.samples = h.targets = 0;
  h.longest_sequence = h.most_sequences_in_pack = 0;
  h.label_kind = static_cast<std::uint8_t>(LabelKind::kAll);
  image.sections.erase(image.sections.begin() + static_cast<std::ptrdiff_t>(image.index("loss_bits")));
  for (Section& s : image.sections) {
    const bool offsets = s.entry.element_type == static_cast<std::uint8_t>(ElementType::kU64);
    s.content = offsets ? std::string(8, '\0') : std::string();
  }
  return image;
}

}  // namespace tokpack::test
