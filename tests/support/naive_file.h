// A slow, simple decoder of a whole .tpk image, written from the format's description and sharing no code
// with the library: an independent check of what the writer wrote. Throws std::runtime_error on what it
// cannot read.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tokpack::test {

struct NaiveSection {
  unsigned kind = 0, element_type = 0, scope = 0, flags = 0, width = 0;
  std::uint64_t offset = 0, length = 0, hash_low = 0, hash_high = 0;
  std::string name;
};

struct NaivePack {
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;  ///< stored labels, unshifted; the token, or ignore_index
  std::vector<std::int64_t> cu_seqlens, sources, first_positions, tail_labels;
  std::int64_t targets = 0;
  std::map<std::string, std::vector<std::string>> columns;  ///< name -> bytes of each row
};

class NaiveFile {
 public:
  explicit NaiveFile(std::string image) : image_(std::move(image)) {
    read_header();
    read_sections();
    read_packs();
  }

  unsigned token_type = 0, label_kind = 0, section_count = 0;
  std::uint64_t header_bytes = 0, file_size = 0, n_packs = 0, n_sequences = 0, n_tokens = 0, n_samples = 0;
  std::uint64_t targets = 0, capacity = 0, alignment = 0, pad_id = 0, vocab_size = 0;
  std::uint64_t longest_sequence = 0, most_sequences_in_pack = 0;
  std::int64_t ignore_index = 0;
  std::string digest;  ///< 32 hex digits, high half first
  std::vector<NaiveSection> sections;
  std::vector<NaivePack> packs;
  std::string metadata;

  const NaiveSection* find(const std::string& name) const {
    for (const NaiveSection& s : sections) {
      if (s.name == name) return &s;
    }
    return nullptr;
  }

 private:
  template <typename T>
  T at(std::uint64_t offset) const {
    if (offset + sizeof(T) > image_.size()) throw std::runtime_error("read past the end");
    T value;
    std::memcpy(&value, image_.data() + offset, sizeof value);
    return value;
  }
  static void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error("naive: " + what);
  }
  static unsigned bytes_of(unsigned type) {
    switch (type) {
      case 1:
      case 10:
        return 1;
      case 2:
      case 7:
      case 8:
        return 2;
      case 3:
      case 5:
      case 9:
        return 4;
      default:
        return 8;
    }
  }

  void read_header() {
    require(image_.size() >= 4096, "too short");
    require(image_.compare(0, 8, std::string("\x89TPK\r\n\x1a\n", 8)) == 0, "magic");
    require(at<std::uint16_t>(8) == 0 && at<std::uint16_t>(10) == 1, "version");
    header_bytes = at<std::uint32_t>(12);
    require(at<std::uint64_t>(16) == 0 && at<std::uint64_t>(24) == 0, "features");
    file_size = at<std::uint64_t>(32);
    require(file_size == image_.size(), "file size");
    n_packs = at<std::uint64_t>(40);
    n_sequences = at<std::uint64_t>(48);
    n_tokens = at<std::uint64_t>(56);
    n_samples = at<std::uint64_t>(64);
    targets = at<std::uint64_t>(72);
    capacity = at<std::uint32_t>(80);
    alignment = at<std::uint32_t>(84);
    token_type = at<std::uint8_t>(88);
    label_kind = at<std::uint8_t>(89);
    section_count = at<std::uint16_t>(90);
    ignore_index = at<std::int32_t>(92);
    pad_id = at<std::uint32_t>(96);
    vocab_size = at<std::uint32_t>(100);
    longest_sequence = at<std::uint32_t>(104);
    most_sequences_in_pack = at<std::uint32_t>(108);
    digest = hex(at<std::uint64_t>(120)) + hex(at<std::uint64_t>(112));
    for (unsigned i = 128; i < 256; ++i) require(image_[i] == 0, "reserved byte");
    const std::uint64_t stored = at<std::uint64_t>(header_bytes - 8);
    require(stored == XXH3_64bits(image_.data(), header_bytes - 8), "page 0 checksum");
  }

  static std::string hex(std::uint64_t v) {
    std::string out;
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(v >> shift) & 15];
    return out;
  }

  void read_sections() {
    std::uint64_t end = header_bytes;
    std::vector<std::uint64_t> blocks;
    for (unsigned i = 0; i < section_count; ++i) {
      const std::uint64_t e = 256 + 64 * std::uint64_t{i};
      NaiveSection s;
      s.kind = at<std::uint16_t>(e);
      s.element_type = at<std::uint8_t>(e + 2);
      s.scope = at<std::uint8_t>(e + 3);
      s.flags = at<std::uint16_t>(e + 4);
      s.width = at<std::uint16_t>(e + 6);
      s.offset = at<std::uint64_t>(e + 8);
      s.length = at<std::uint64_t>(e + 16);
      s.hash_low = at<std::uint64_t>(e + 24);
      s.hash_high = at<std::uint64_t>(e + 32);
      s.name = std::string(image_.data() + e + 40, 24);
      s.name.resize(std::strlen(s.name.c_str()));
      require(s.offset == (end + 4095) / 4096 * 4096, "section " + s.name + " stands elsewhere");
      for (std::uint64_t b = end; b < s.offset; ++b) require(image_[b] == 0, "gap byte");
      end = s.offset + s.length;
      require(end <= image_.size(), "section past the end");
      if (s.kind != 15) {
        std::vector<std::uint64_t> own;
        for (std::uint64_t b = 0; b < s.length; b += 1 << 20) {
          own.push_back(
              XXH3_64bits(image_.data() + s.offset + b, std::min<std::uint64_t>(1 << 20, s.length - b)));
        }
        check_hash(s, own.data(), own.size() * 8);
        blocks.insert(blocks.end(), own.begin(), own.end());
      } else {
        require(i + 1 == section_count, "checksums are last");
        require(s.length == blocks.size() * 8, "checksums length");
        require(std::memcmp(image_.data() + s.offset, blocks.data(), s.length) == 0, "block checksums");
        check_hash(s, image_.data() + s.offset, s.length);
      }
      if (s.kind == 14) metadata = image_.substr(s.offset, s.length);
      sections.push_back(s);
    }
    require(end == image_.size(), "bytes after the last section");
    const XXH128_hash_t d = content_digest();
    require(hex(d.high64) + hex(d.low64) == digest, "digest");
  }
  static void check_hash(const NaiveSection& s, const void* bytes, std::size_t size) {
    const XXH128_hash_t h = XXH3_128bits(bytes, size);
    require(h.low64 == s.hash_low && h.high64 == s.hash_high, "hash of " + s.name);
  }
  XXH128_hash_t content_digest() const {
    std::string in = image_.substr(8, 4) + image_.substr(40, 24) + image_.substr(80, 8) +
                     image_.substr(88, 2) + image_.substr(92, 4);
    require(in.size() == 42, "digest fields");
    for (unsigned i = 0; i < section_count; ++i) {
      if (sections[i].kind >= 14) continue;
      std::string entry = image_.substr(256 + 64 * std::size_t{i}, 64);
      entry.replace(8, 8, 8, '\0');
      in += entry;
    }
    return XXH3_128bits(in.data(), in.size());
  }

  std::int64_t element(const NaiveSection& s, std::uint64_t i) const {
    switch (s.element_type) {
      case 1:
        return at<std::uint8_t>(s.offset + i);
      case 2:
        return at<std::uint16_t>(s.offset + 2 * i);
      case 3:
        return at<std::uint32_t>(s.offset + 4 * i);
      case 5:
        return at<std::int32_t>(s.offset + 4 * i);
      default:
        return at<std::int64_t>(s.offset + 8 * i);
    }
  }
  const NaiveSection& need(const std::string& name, std::uint64_t bytes) const {
    const NaiveSection* s = find(name);
    require(s != nullptr, "no section " + name);
    require(s->length == bytes, "length of " + name);
    return *s;
  }

  void read_packs() {
    const NaiveSection& tokens = need("tokens", n_tokens * (token_type == 2 ? 2 : 4));
    const NaiveSection& token_offsets = need("pack_token_offsets", (n_packs + 1) * 8);
    const NaiveSection& sequence_offsets = need("pack_sequence_offsets", (n_packs + 1) * 8);
    const NaiveSection& cu = need("cu_seqlens", (n_sequences + n_packs) * 4);
    const NaiveSection& pack_targets = need("targets", n_packs * 4);
    const NaiveSection& sources = need("sources", n_sequences * (n_samples < (1ull << 32) ? 4 : 8));
    const NaiveSection* bits = label_kind == 1 ? &need("loss_bits", (n_tokens >> 3) + n_packs) : nullptr;
    const NaiveSection* labels = label_kind == 2 ? &need("labels", n_tokens * 4) : nullptr;
    require((find("loss_bits") != nullptr) == (label_kind == 1), "loss bits with another label kind");
    require((find("labels") != nullptr) == (label_kind == 2), "labels with another label kind");
    const NaiveSection* positions =
        find("first_token_positions") != nullptr ? &need("first_token_positions", n_sequences * 4) : nullptr;
    const NaiveSection* tails =
        find("tail_labels") != nullptr ? &need("tail_labels", n_sequences * 4) : nullptr;
    std::uint64_t bits_end = 0;
    for (std::uint64_t p = 0; p < n_packs; ++p) {
      NaivePack pack;
      const auto t0 = static_cast<std::uint64_t>(element(token_offsets, p));
      const auto t1 = static_cast<std::uint64_t>(element(token_offsets, p + 1));
      const auto s0 = static_cast<std::uint64_t>(element(sequence_offsets, p));
      const auto s1 = static_cast<std::uint64_t>(element(sequence_offsets, p + 1));
      require(t0 < t1 && t1 <= n_tokens && s0 < s1 && s1 <= n_sequences, "pack offsets");
      for (std::uint64_t t = t0; t < t1; ++t) {
        const std::int64_t token = element(tokens, t);
        pack.tokens.push_back(token);
        std::int64_t label = token;
        if (bits != nullptr) {
          const std::uint64_t bit = (((t0 >> 3) + p) << 3) + (t - t0);
          bits_end = bit + 1;
          if (((static_cast<unsigned char>(image_[bits->offset + bit / 8]) >> (bit % 8)) & 1) == 0) {
            label = ignore_index;
          }
        }
        pack.labels.push_back(labels != nullptr ? element(*labels, t) : label);
      }
      if (bits != nullptr) {
        const std::uint64_t next = ((t1 >> 3) + p + 1) << 3;
        for (std::uint64_t bit = bits_end; bit < next; ++bit) {
          require(((static_cast<unsigned char>(image_[bits->offset + bit / 8]) >> (bit % 8)) & 1) == 0,
                  "padding bit");
        }
      }
      for (std::uint64_t i = s0 + p; i <= s1 + p; ++i) pack.cu_seqlens.push_back(element(cu, i));
      for (std::uint64_t s = s0; s < s1; ++s) {
        pack.sources.push_back(element(sources, s));
        pack.first_positions.push_back(positions != nullptr ? element(*positions, s) : 0);
        pack.tail_labels.push_back(tails != nullptr ? element(*tails, s) : ignore_index);
      }
      pack.targets = element(pack_targets, p);
      read_columns(pack, t0, t1, s0, s1);
      packs.push_back(std::move(pack));
    }
  }

  void read_columns(NaivePack& pack, std::uint64_t t0, std::uint64_t t1, std::uint64_t s0,
                    std::uint64_t s1) const {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const NaiveSection& s = sections[i];
      const std::uint64_t row = std::uint64_t{bytes_of(s.element_type)} * s.width;
      std::vector<std::string> rows;
      if (s.kind == 11) {
        const std::uint64_t first = s.scope == 4 ? t0 : s0, last = s.scope == 4 ? t1 : s1;
        for (std::uint64_t r = first; r < last; ++r) rows.push_back(image_.substr(s.offset + r * row, row));
      } else if (s.kind == 13) {
        for (std::uint64_t r = s0; r < s1; ++r) {
          const auto first = static_cast<std::uint64_t>(element(sections[i - 1], r));
          const auto last = static_cast<std::uint64_t>(element(sections[i - 1], r + 1));
          require(first <= last && last * row <= s.length, "ragged offsets");
          rows.push_back(image_.substr(s.offset + first * row, (last - first) * row));
        }
      } else {
        continue;
      }
      pack.columns[s.name] = std::move(rows);
    }
  }

  std::string image_;
};

}  // namespace tokpack::test
