// Values of a declared column from a record: checked against its type, width and scope, appended as bytes.
// Threads: pure but for the column.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>

#include "line_diagnosis.h"
#include "tokpack/input/source.h"

namespace tokpack::input {

struct ColumnFault {
  std::string expected;
  ValuePath path;
};

/// One record's rows: `n` of them (its tokens) for scope token, else one. After a fault the caller cuts
/// `column` back.
std::optional<ColumnFault> append_column(simdjson::dom::element value, const ColumnSpec& spec, std::size_t n,
                                         SampleBatch::Column& column);

}  // namespace tokpack::input
