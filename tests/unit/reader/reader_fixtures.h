// Small files that the reader's tests share, and verify's findings as a list.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "file_builder.h"
#include "temp_dir.h"
#include "tokpack/core/reader.h"
#include "tokpack/core/verify.h"

namespace tokpack::test {

inline std::string u32_bytes(std::initializer_list<std::uint32_t> values) {
  std::string out;
  for (const std::uint32_t v : values) append(out, v);
  return out;
}

/// Sections of nearly every kind: loss bits, a split sample with its tail label, groups, columns of each
/// scope, a ragged column, an unknown section, metadata.
inline FileSpec rich_spec() {
  return {
      .packs =
          {{{.tokens = {10, 11, 12, 13, 14}, .source = 2, .labels = {-100, 11, 12, -100, 14}, .tail = 15},
            {.tokens = {20, 21}, .source = 0}},
           {{.tokens = {15, 16, 17}, .source = 2, .first_position = 5},
            {.tokens = {30}, .source = 3},
            {.tokens = {31, 32}, .source = 4, .labels = {-100, -100}}},
           {{.tokens = {40, 41, 42, 43, 44, 45, 46, 47}, .source = 5}}},
      .label_kind = 1,
      .vocab_size = 50,
      .samples = 6,
      .first_positions = true,
      .tail_labels = true,
      .columns = {{.name = "group", .values = u32_bytes({0, 1, 2, 3, 3, 4})},
                  {.name = "note", .type = 1, .scope = 2, .width = 2, .values = "aabbcc"},
                  {.name = "kind", .type = 1, .scope = 4, .values = std::string(21, '\1')},
                  {.name = "whole", .type = 10, .scope = 1, .values = "all of it"},
                  {.name = "spans",
                   .type = 2,
                   .scope = 3,
                   .values = std::string("\1\0\2\0\3\0\4\0", 8),
                   .offsets = std::vector<std::uint64_t>{0, 1, 1, 3, 3, 3, 4}}},
      .extra = {{.kind = 999, .name = "later", .bytes = "from the future"}},
      .metadata = "{\"tool\":\"by hand\"}",
  };
}

/// The same tokens with explicit labels and u32 ids.
inline FileSpec explicit_spec() {
  FileSpec spec = rich_spec();
  spec.wide_tokens = true;
  spec.label_kind = 2;
  spec.packs[0][1].labels = {5, 6};
  return spec;
}

/// Tokens of pack p, 0 when it is refused.
inline std::size_t token_count(const Reader& reader, std::uint64_t p) {
  const auto pack = reader.pack(p);
  return pack.ok() ? pack.value().tokens().size() : 0;
}

struct Checked {
  std::vector<Finding> findings;
  /// Code names in order.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& f : findings) out.emplace_back(errc_name(f.code));
    return out;
  }
  bool has(Errc code) const {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code; });
  }
  const Finding& first(Errc code) const {
    for (const auto& f : findings) {
      if (f.code == code) return f;
    }
    throw std::runtime_error("no finding of that code");
  }
};

/// Runs verify on bytes, in a mode, and requires that it could read them.
inline Checked check_file(const std::string& path, ReadMode mode = ReadMode::kMmap, unsigned threads = 1) {
  Checked out;
  const auto summary =
      verify(path, {.mode = mode, .threads = threads}, [&](const Finding& f) { out.findings.push_back(f); });
  REQUIRE_MESSAGE(summary.ok(), summary.error().detail);
  CHECK(summary.value().findings == out.findings.size());
  return out;
}

inline Checked check_bytes(const std::string& bytes, ReadMode mode = ReadMode::kMmap) {
  const TempDir folder;
  write_file(folder.file("a.tpk"), bytes);
  return check_file(folder.file("a.tpk"), mode);
}

}  // namespace tokpack::test
