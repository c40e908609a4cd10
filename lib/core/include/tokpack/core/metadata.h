// The metadata section: what is known about a file beyond its bytes, as canonical JSON (sorted keys, no
// spaces, integers and strings, arrays and objects of these; UTF-8). `open` never reads it.
//
// Fields (all optional when read; unknown ones are kept): account, bos_id, eos_id, inputs, overlong,
// planner_version, roles, strategy, tail, tokenizer {name, sha256}, tool, user {key: value}, window (integer
// or "all"; only for best-fit, whose packs depend on it).
//
// Errors: kMetadata. Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/core/account.h"
#include "tokpack/format/result.h"

namespace tokpack {

struct MetadataInput {
  std::string name;  ///< base name only
  std::uint64_t first_sample = 0;
  std::uint64_t samples = 0;
};

struct Metadata {
  std::optional<Account> account;
  std::optional<std::int64_t> bos_id, eos_id;
  std::vector<MetadataInput> inputs;
  std::string overlong, strategy, tail, tool;
  std::uint32_t planner_version = 0;
  std::vector<std::string> roles;  ///< names of role numbers, in order
  std::string tokenizer_name, tokenizer_sha256;
  std::optional<std::uint64_t> window;  ///< ~0 = all
  std::map<std::string, std::string> user;
};

/// Canonical JSON. Deterministic: equal metadata, equal bytes. REQUIRES: the keys of `user` are UTF-8; in
/// other texts bytes that are not become U+FFFD.
std::string to_json(const Metadata& metadata);

/// Reads canonical JSON of at most kMaxMetadataBytes and kMaxMetadataValues. Refuses duplicate keys, floats,
/// depth above 16, invalid UTF-8 and bytes that are not the canonical form; `Error::offset` is relative to
/// the text.
Result<Metadata> parse_metadata(std::string_view json);

}  // namespace tokpack
