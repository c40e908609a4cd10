// Reads whole inputs for tests: every batch joined into one, or the error that ended it.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/input/jsonl.h"
#include "tokpack/input/raw.h"

namespace tokpack::input::test {

struct Everything {
  SampleBatch all;  ///< batches joined; label_form of the last
  std::vector<std::size_t> batch_samples;
  std::vector<SampleBatch::Labels> batch_forms;
  std::vector<ColumnSpec> columns;
  std::vector<std::string> roles;
  std::vector<std::string> where;  ///< of each sample, asked while its batch was current
  bool has_groups = false;
  std::optional<Error> error;
};

template <typename T>
void join(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

inline Everything read_all(Result<std::unique_ptr<Source>> source) {
  Everything out;
  if (!source) {
    out.error = source.error();
    return out;
  }
  while (true) {
    auto batch = (*source)->next();
    out.columns = (*source)->columns();
    out.roles = (*source)->roles();
    out.has_groups = (*source)->has_groups();
    if (!batch) {
      out.error = batch.error();
      return out;
    }
    if (*batch == nullptr) return out;
    const SampleBatch& b = **batch;
    REQUIRE(b.samples() > 0);
    for (std::size_t i = 0; i < b.samples(); ++i)
      out.where.push_back((*source)->where(out.all.samples() + i));
    join(out.all.tokens, b.tokens);
    join(out.all.lengths, b.lengths);
    join(out.all.loss_mask, b.loss_mask);
    join(out.all.labels, b.labels);
    join(out.all.groups, b.groups);
    out.all.label_form = b.label_form;
    out.all.columns.resize(b.columns.size());
    for (std::size_t c = 0; c < b.columns.size(); ++c) {
      auto& column = out.all.columns[c];
      const std::uint64_t base = column.offsets.empty() ? 0 : column.offsets.back();
      for (std::size_t i = column.offsets.empty() ? 0 : 1; i < b.columns[c].offsets.size(); ++i) {
        column.offsets.push_back(base + b.columns[c].offsets[i]);
      }
      join(column.values, b.columns[c].values);
    }
    out.batch_samples.push_back(b.samples());
    out.batch_forms.push_back(b.label_form);
  }
}

inline Everything read_text(std::string_view text, JsonlOptions options = {}) {
  return read_all(open_jsonl_text(text, "in.jsonl", make_jsonl_session(std::move(options))));
}

/// The error of an input that has one, as "code: detail".
inline std::string error_of(const Everything& read) {
  REQUIRE(read.error.has_value());
  return std::string(errc_name(read.error->code)) + ": " + read.error->detail;
}

using Sizes = std::initializer_list<std::uint64_t>;
using Ids = std::vector<std::uint32_t>;
using Ints = std::vector<std::int32_t>;
using Bits = std::vector<std::uint8_t>;

/// A column's values as numbers of T.
template <typename T>
std::vector<T> values_of(const SampleBatch::Column& column) {
  std::vector<T> out(column.values.size() / sizeof(T));
  REQUIRE(out.size() * sizeof(T) == column.values.size());
  if (!out.empty()) std::memcpy(out.data(), column.values.data(), column.values.size());
  return out;
}

}  // namespace tokpack::input::test
