// What the records of one run look like: the fields that have a meaning, and what the first record decided.
//
// Threads: a schema is constant once made; parsers of all threads share it. Errors: kOptions for names that
// collide or columns that a file cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/input/jsonl.h"

namespace tokpack::input {

enum class FieldKind : std::uint8_t { kTokens, kLabels, kMask, kGroup, kColumn };

/// A field with a meaning. Its place in FieldTable::fields numbers it.
struct Field {
  std::string name;
  FieldKind kind{};
  bool required_mask = false;  ///< a mask that the caller named: every record must have it
  std::size_t column = 0;      ///< kColumn: which of FieldTable::columns
  bool ignored = false;        ///< as if no record had it
};

/// All fields that mean something under the given options: at most kMaxFields.
struct FieldTable {
  std::vector<Field> fields;
  std::vector<ColumnSpec> columns;   ///< the declared ones, then role and weight unless declared
  std::size_t declared = 0;          ///< how many of `columns` were declared
  std::size_t role = 0, weight = 0;  ///< their places in `columns`

  const Field* find(std::string_view name) const noexcept {
    for (const Field& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
};
inline constexpr std::size_t kMaxFields = 128;
/// Different role texts in a run: their numbers are u8.
inline constexpr std::size_t kMaxRoles = 256;

Result<FieldTable> make_field_table(const JsonlOptions& options);

/// What one record has: of the first record, what all must have.
struct RecordShape {
  SampleBatch::Labels labels = SampleBatch::Labels::kNone;
  bool group = false, role = false, role_is_text = false, weight = false;
};

/// "labels", "a loss mask" or "no labels".
std::string_view label_form_words(SampleBatch::Labels form) noexcept;

struct Schema {
  RecordShape shape;
  std::string first;                 ///< where the first record stands, for messages: "train.jsonl:1"
  std::vector<std::size_t> columns;  ///< the columns that batches have, as places in FieldTable::columns
};

}  // namespace tokpack::input
