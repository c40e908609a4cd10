// An encoder of whole .tpk files for tests, written from the spec alone: offsets and kinds are literals here,
// so that a mistake in layout.h or in the writer does not repeat itself. Slow, plain, and able to lie: every
// byte can be changed afterwards and the checksums made to match again (`reseal`).
//
//   FileSpec spec;
//   spec.packs = {{{.tokens = {1, 2, 3}, .source = 0}, {.tokens = {4, 5}, .source = 1}}};
//   BuiltFile file = build(spec);
//   file.put<std::int32_t>(file.section("cu_seqlens").offset, 1);
//   file.reseal();
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokpack/format/checksum.h"

namespace tokpack::test {

struct SequenceSpec {
  std::vector<std::uint32_t> tokens;
  std::uint64_t source = 0;
  std::vector<std::int32_t> labels = {};  ///< one per token; empty = every token is its label
  std::uint32_t first_position = 0;
  std::optional<std::int32_t> tail = {};
};

struct ColumnSpec {
  std::string name;
  std::uint8_t type = 3;   ///< u8 1, u16 2, u32 3, u64 4, i32 5, i64 6, f16 7, bf16 8, f32 9, bytes 10
  std::uint8_t scope = 3;  ///< file 1, pack 2, sequence 3, token 4
  std::uint16_t width = 1;
  std::string values;                                      ///< the bytes
  std::optional<std::vector<std::uint64_t>> offsets = {};  ///< ragged
};

/// A section of a kind that this version does not know.
struct ExtraSection {
  std::uint16_t kind = 1000;
  std::string name = "later";
  std::string bytes;
};

struct FileSpec {
  std::vector<std::vector<SequenceSpec>> packs = {};
  std::uint32_t capacity = 8;
  std::uint32_t alignment = 1;
  bool wide_tokens = false;
  int label_kind = 0;  ///< 0 all, 1 loss mask, 2 explicit
  std::int32_t ignore_index = -100;
  std::uint32_t pad_id = 0;
  std::uint32_t vocab_size = 0;
  std::optional<std::uint64_t> samples = {};  ///< default: highest source + 1
  bool first_positions = false;
  bool tail_labels = false;
  std::vector<ColumnSpec> columns = {};
  std::vector<ExtraSection> extra = {};
  std::optional<std::string> metadata = {};
};

template <typename T>
void append(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));  // little-endian machines only, as the library
  out.append(bytes, sizeof(T));
}

struct BuiltSection {
  std::uint16_t kind = 0;
  std::string name;
  std::uint64_t entry = 0;  ///< where its entry stands in page 0
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class BuiltFile {
 public:
  std::string bytes;
  std::vector<BuiltSection> sections;

  const BuiltSection& section(std::string_view name) const {
    for (const auto& s : sections) {
      if (s.name == name) return s;
    }
    throw std::runtime_error("no section " + std::string(name));
  }
  template <typename T>
  void put(std::uint64_t offset, T value) {
    if (offset + sizeof(T) > bytes.size()) throw std::runtime_error("put past the end");
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
  }
  template <typename T>
  T get(std::uint64_t offset) const {
    T value;
    if (offset + sizeof(T) > bytes.size()) throw std::runtime_error("get past the end");
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
  /// Makes block checksums, section hashes, content digest and the checksum of page 0 fit the bytes.
  void reseal() {
    const auto& checksums = sections.back();
    std::uint64_t slot = checksums.offset;
    for (const auto& s : sections) {
      if (&s == &checksums) break;
      const std::uint64_t first = slot;
      for (std::uint64_t at = 0; at < s.length; at += 1048576, slot += 8) {
        put(slot, format::xxh3_64(range(s.offset + at, std::min<std::uint64_t>(1048576, s.length - at))));
      }
      put(s.entry + 24, format::xxh3_128(range(first, slot - first)));
    }
    put(checksums.entry + 24, format::xxh3_128(range(checksums.offset, checksums.length)));
    seal_page0();
  }
  /// Content digest and checksum of page 0 alone.
  void seal_page0() {
    std::string content =
        bytes.substr(8, 4) + bytes.substr(40, 24) + bytes.substr(80, 10) + bytes.substr(92, 4);
    for (const auto& s : sections) {
      if (s.kind == 14 || s.kind == 15) continue;
      std::string entry = bytes.substr(s.entry, 64);
      std::fill_n(entry.begin() + 8, 8, '\0');
      content += entry;
    }
    put(112, format::xxh3_128(std::as_bytes(std::span(content))));
    const auto header_bytes = get<std::uint32_t>(12);
    put(header_bytes - 8, format::xxh3_64(range(0, header_bytes - 8)));
  }

 private:
  format::Bytes range(std::uint64_t offset, std::uint64_t length) const {
    return std::as_bytes(std::span(bytes)).subspan(offset, length);
  }
};

namespace builder {

struct Body {
  std::uint16_t kind;
  std::string name;
  std::uint8_t type;
  std::uint8_t scope;
  std::uint16_t width;
  std::string bytes;
};

/// The stored label of token i.
inline std::int32_t label_of(const SequenceSpec& s, std::size_t i) {
  return s.labels.empty() ? static_cast<std::int32_t>(s.tokens[i]) : s.labels[i];
}

inline std::uint32_t targets_of(const FileSpec& spec, const std::vector<SequenceSpec>& pack) {
  std::uint32_t targets = 0;
  for (const auto& s : pack) {
    for (std::size_t i = 1; i < s.tokens.size(); ++i)
      targets += label_of(s, i) != spec.ignore_index ? 1U : 0U;
    if (spec.tail_labels && s.tail && *s.tail != spec.ignore_index) ++targets;
  }
  return targets;
}

inline std::vector<Body> bodies(const FileSpec& spec, std::uint64_t samples) {
  std::string tokens, token_offsets, sequence_offsets, cu, bits, labels, targets, sources, positions, tails;
  std::uint64_t token = 0, sequence = 0;
  append(token_offsets, token);
  append(sequence_offsets, sequence);
  for (std::size_t p = 0; p < spec.packs.size(); ++p) {
    std::int32_t length = 0;
    append(cu, length);
    bits.resize(token / 8 + p, '\0');
    std::string pack_bits;
    for (const auto& s : spec.packs[p]) {
      for (std::size_t i = 0; i < s.tokens.size(); ++i) {
        if (spec.wide_tokens) {
          append(tokens, s.tokens[i]);
        } else {
          append(tokens, static_cast<std::uint16_t>(s.tokens[i]));
        }
        const std::int32_t label = label_of(s, i);
        append(labels, label);
        const auto place = static_cast<std::size_t>(length) + i;
        if (place % 8 == 0) pack_bits.push_back('\0');
        if (label != spec.ignore_index) {
          pack_bits.back() = static_cast<char>(pack_bits.back() | 1 << place % 8);
        }
      }
      length += static_cast<std::int32_t>(s.tokens.size());
      append(cu, length);
      if (samples > 0xffffffff) {
        append(sources, s.source);
      } else {
        append(sources, static_cast<std::uint32_t>(s.source));
      }
      append(positions, s.first_position);
      append(tails, s.tail.value_or(spec.ignore_index));
    }
    bits += pack_bits;
    append(targets, targets_of(spec, spec.packs[p]));
    token += static_cast<std::uint64_t>(length);
    sequence += spec.packs[p].size();
    append(token_offsets, token);
    append(sequence_offsets, sequence);
  }
  bits.resize(token / 8 + spec.packs.size(), '\0');

  std::vector<Body> out;
  const std::uint8_t token_type = spec.wide_tokens ? 3 : 2;
  out.push_back({1, "tokens", token_type, 4, 1, tokens});
  out.push_back({2, "pack_token_offsets", 4, 1, 1, token_offsets});
  out.push_back({3, "pack_sequence_offsets", 4, 1, 1, sequence_offsets});
  out.push_back({4, "cu_seqlens", 5, 1, 1, cu});
  if (spec.label_kind == 1) out.push_back({5, "loss_bits", 10, 1, 1, bits});
  if (spec.label_kind == 2) out.push_back({6, "labels", 5, 4, 1, labels});
  out.push_back({7, "targets", 3, 2, 1, targets});
  out.push_back({8, "sources", static_cast<std::uint8_t>(samples > 0xffffffff ? 4 : 3), 3, 1, sources});
  if (spec.first_positions) out.push_back({9, "first_token_positions", 3, 3, 1, positions});
  if (spec.tail_labels) out.push_back({10, "tail_labels", 5, 3, 1, tails});
  for (const auto& c : spec.columns) {
    if (c.offsets) {
      std::string offsets;
      for (const std::uint64_t o : *c.offsets) append(offsets, o);
      out.push_back({12, c.name, 4, c.scope, 1, offsets});
      out.push_back({13, c.name, c.type, c.scope, c.width, c.values});
    } else {
      out.push_back({11, c.name, c.type, c.scope, c.width, c.values});
    }
  }
  for (const auto& e : spec.extra) out.push_back({e.kind, e.name, 10, 1, 1, e.bytes});
  if (spec.metadata) out.push_back({14, "metadata", 10, 1, 1, *spec.metadata});
  std::uint64_t blocks = 0;
  for (const auto& b : out) blocks += (b.bytes.size() + 1048575) / 1048576;
  out.push_back({15, "checksums", 4, 1, 1, std::string(blocks * 8, '\0')});
  return out;
}

}  // namespace builder

inline BuiltFile build(const FileSpec& spec) {
  std::uint64_t tokens = 0, sequences = 0, targets = 0, samples = 0;
  std::uint32_t longest = 0, most = 0;
  for (const auto& pack : spec.packs) {
    for (const auto& s : pack) {
      tokens += s.tokens.size();
      longest = std::max(longest, static_cast<std::uint32_t>(s.tokens.size()));
      samples = std::max(samples, s.source + 1);
    }
    sequences += pack.size();
    most = std::max(most, static_cast<std::uint32_t>(pack.size()));
    targets += builder::targets_of(spec, pack);
  }
  samples = spec.samples.value_or(samples);
  const auto bodies = builder::bodies(spec, samples);
  const std::uint64_t header_bytes = (256 + 64 * bodies.size() + 8 + 4095) / 4096 * 4096;

  BuiltFile file;
  std::string& out = file.bytes;
  out.append("\x89TPK\r\n\x1a\n", 8);
  append<std::uint16_t>(out, 0);
  append<std::uint16_t>(out, 1);
  append(out, static_cast<std::uint32_t>(header_bytes));
  out.append(24, '\0');  // features; the file size follows below
  append<std::uint64_t>(out, spec.packs.size());
  append(out, sequences);
  append(out, tokens);
  append(out, samples);
  append(out, targets);
  append(out, spec.capacity);
  append(out, spec.alignment);
  append<std::uint8_t>(out, spec.wide_tokens ? 3 : 2);
  append(out, static_cast<std::uint8_t>(spec.label_kind));
  append(out, static_cast<std::uint16_t>(bodies.size()));
  append(out, spec.ignore_index);
  append(out, spec.pad_id);
  append(out, spec.vocab_size);
  append(out, longest);
  append(out, most);
  out.resize(256, '\0');
  std::uint64_t offset = header_bytes;
  for (const auto& b : bodies) {
    file.sections.push_back({b.kind, b.name, out.size(), offset, b.bytes.size()});
    append(out, b.kind);
    append(out, b.type);
    append(out, b.scope);
    append<std::uint16_t>(out, b.kind <= 8 || b.kind == 10 ? 1 : 0);
    append(out, b.width);
    append(out, offset);
    append<std::uint64_t>(out, b.bytes.size());
    out.append(16, '\0');
    out += b.name;
    out.append(24 - b.name.size(), '\0');
    offset = (offset + b.bytes.size() + 4095) / 4096 * 4096;
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    out.resize(file.sections[i].offset, '\0');
    out += bodies[i].bytes;
  }
  file.put<std::uint64_t>(32, out.size());
  file.reseal();
  return file;
}

}  // namespace tokpack::test
