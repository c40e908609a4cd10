// Any bytes as a file: open, every pack, every sequence, every column. No crash; both modes answer alike;
// what is handed out has the properties that pack() promises.
#include <cstddef>
#include <cstdint>
#include <string>

#include "../support/fuzz_file.h"
#include "../support/patched_file.h"
#include "tokpack/core/reader.h"

namespace {

using namespace tokpack;

bool equal(format::Bytes a, format::Bytes b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}
template <typename T>
bool equal(std::span<const T> a, std::span<const T> b) {
  return equal(std::as_bytes(a), std::as_bytes(b));
}
template <typename N, typename W>
bool equal(const WidthSpan<N, W>& a, const WidthSpan<N, W>& b) {
  if (a.is_wide() != b.is_wide()) return false;
  return a.is_wide() ? equal(a.wide(), b.wide()) : equal(a.narrow(), b.narrow());
}

template <typename Read>
void check_columns(const Reader& reader, const PackView& mapped, const Read& read) {
  for (std::size_t c = 0; c <= reader.columns(); ++c) {
    const auto a = mapped.column(c), b = read.column(c);
    TOKPACK_FUZZ_CHECK(a.ok() == b.ok());
    if (!a) {
      TOKPACK_FUZZ_CHECK(a.error().code == b.error().code && a.error().detail == b.error().detail);
      continue;
    }
    TOKPACK_FUZZ_CHECK(equal(a.value().values, b.value().values) &&
                       equal(a.value().offsets, b.value().offsets));
    const ColumnView& column = a.value();
    const std::uint64_t row_bytes = std::uint64_t{format::element_bytes(column.type)} * column.width;
    if (column.ragged) {
      TOKPACK_FUZZ_CHECK(column.offsets.size() == column.rows + 1);
      TOKPACK_FUZZ_CHECK(column.values.size() ==
                         (column.offsets.back() - column.offsets.front()) * row_bytes);
    } else {
      TOKPACK_FUZZ_CHECK(column.values.size() == column.rows * row_bytes);
    }
  }
}

template <typename Read>
void check_pack(const Reader& reader, const PackView& mapped, const Read& read) {
  const auto boundaries = mapped.cu_seqlens();
  TOKPACK_FUZZ_CHECK(boundaries.size() == mapped.sequences() + 1 && boundaries.front() == 0);
  for (std::size_t i = 1; i < boundaries.size(); ++i) TOKPACK_FUZZ_CHECK(boundaries[i] > boundaries[i - 1]);
  TOKPACK_FUZZ_CHECK(static_cast<std::size_t>(boundaries.back()) == mapped.tokens().size());
  TOKPACK_FUZZ_CHECK(mapped.tokens().size() <= reader.header().capacity);
  TOKPACK_FUZZ_CHECK(equal(mapped.tokens(), read.tokens()) && equal(boundaries, read.cu_seqlens()));
  TOKPACK_FUZZ_CHECK(equal(mapped.loss_bits(), read.loss_bits()) && equal(mapped.labels(), read.labels()));
  TOKPACK_FUZZ_CHECK(equal(mapped.sources(), read.sources()) &&
                     equal(mapped.tail_labels(), read.tail_labels()));
  TOKPACK_FUZZ_CHECK(equal(mapped.first_token_positions(), read.first_token_positions()));
  TOKPACK_FUZZ_CHECK(mapped.targets() == read.targets() && mapped.first_sequence() == read.first_sequence());
  for (std::size_t i = 0; i < mapped.tokens().size(); ++i) {
    TOKPACK_FUZZ_CHECK(mapped.stored_label(i) == read.stored_label(i));
  }
  for (std::size_t s = 0; s < mapped.sequences(); ++s) {
    const auto where = reader.locate(mapped.first_sequence() + s);
    if (where.ok()) TOKPACK_FUZZ_CHECK(where.value().index_in_pack < reader.header().capacity);
    const SequenceView sequence = mapped.sequence(s);
    TOKPACK_FUZZ_CHECK(!sequence.tokens().empty());
  }
  check_columns(reader, mapped, read);
}

void check_file(const std::string& bytes) {
  const test::PatchedFile file(bytes);
  auto mapped = Reader::open(file.path(), {.mode = bytes.empty() ? ReadMode::kAuto : ReadMode::kMmap});
  auto read = Reader::open(file.path(), {.mode = ReadMode::kPread});
  TOKPACK_FUZZ_CHECK(mapped.ok() == read.ok());
  if (!mapped) {
    TOKPACK_FUZZ_CHECK(mapped.error().code == read.error().code);
    return;
  }
  PackBuffer buffer;
  for (std::uint64_t p = 0; p <= mapped->packs(); ++p) {
    const auto a = mapped->pack(p), b = read->pack(p);
    const auto borrowed = read->pack(p, buffer);
    TOKPACK_FUZZ_CHECK(a.ok() == borrowed.ok());
    if (a) check_pack(mapped.value(), a.value(), borrowed.value());
    TOKPACK_FUZZ_CHECK(a.ok() == b.ok());
    if (a) {
      check_pack(mapped.value(), a.value(), b.value());
    } else {
      TOKPACK_FUZZ_CHECK(a.error().code == b.error().code && a.error().detail == b.error().detail);
    }
  }
  for (std::size_t i = 0; i < mapped->layout().sections.size(); ++i) {
    TOKPACK_FUZZ_CHECK(equal(mapped->section(i).value().bytes, read->section(i).value().bytes));
  }
  TOKPACK_FUZZ_CHECK(mapped->metadata_json().value() == read->metadata_json().value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(size, '\0');
  if (size > 0) std::memcpy(bytes.data(), data, size);
  check_file(bytes);
  check_file(test::sealed(std::move(bytes)));
  return 0;
}
