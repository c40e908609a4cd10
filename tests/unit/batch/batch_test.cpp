// Batches against the values of the conventions, and against a slow model on random files.
#include "tokpack/core/batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "batch_kernels.h"
#include "file_builder.h"
#include "temp_dir.h"

using namespace tokpack;
using test::FileSpec;
using I64 = std::vector<std::int64_t>;
using I32 = std::vector<std::int32_t>;
using Packs = std::vector<std::uint64_t>;

namespace {

struct Opened {
  test::TempDir folder;
  std::optional<Reader> reader;

  explicit Opened(const FileSpec& spec, ReadMode mode = ReadMode::kAuto) {
    test::write_file(folder.file("a.tpk"), test::build(spec).bytes);
    auto opened = Reader::open(folder.file("a.tpk"), {.mode = mode});
    REQUIRE_MESSAGE(opened.ok(), opened.error().detail);
    reader = *opened;
  }
  const Reader& operator*() const { return *reader; }
};

/// A = [10,11,12] and B = [20,21] in one pack, capacity 8.
FileSpec example() {
  return {.packs = {{{.tokens = {10, 11, 12}, .source = 0}, {.tokens = {20, 21}, .source = 1}}},
          .capacity = 8};
}

struct Rows {
  I64 ids, labels, targets, positions;
  I32 lengths;
  BatchCounts counts;
};

Rows rows_of(const Reader& reader, const Packs& packs, const RowOptions& options) {
  const std::size_t n = packs.size() * options.row_length;
  Rows r{I64(n, 77), I64(n, 77), I64(n, 77), I64(n, 77), I32(packs.size()), {}};
  const auto counts = fill_rows(reader, packs, options,
                                {.input_ids = r.ids.data(),
                                 .labels = r.labels.data(),
                                 .targets = r.targets.data(),
                                 .position_ids = r.positions.data(),
                                 .lengths = r.lengths.data()});
  REQUIRE_MESSAGE(counts.ok(), counts.error().detail);
  r.counts = *counts;
  return r;
}

struct Flat {
  I64 ids, labels, targets, positions;
  I32 logical, padded;
  FlatShape shape;
};

Flat flat_of(const Reader& reader, const Packs& packs, const FlatOptions& options) {
  const auto shape = flat_shape(reader, packs, options);
  REQUIRE_MESSAGE(shape.ok(), shape.error().detail);
  const I64 empty(shape->tokens, 77);
  Flat f{empty, empty, empty, empty, I32(shape->sequences + 1, 77), I32(shape->sequences + 1, 77), *shape};
  const auto counts = fill_flat(reader, packs, options,
                                {.input_ids = f.ids.data(),
                                 .labels = f.labels.data(),
                                 .targets = f.targets.data(),
                                 .position_ids = f.positions.data(),
                                 .cu_seqlens = f.logical.data(),
                                 .cu_seqlens_padded = f.padded.data()});
  REQUIRE_MESSAGE(counts.ok(), counts.error().detail);
  return f;
}

}  // namespace

TEST_CASE("conventions: ids, labels, targets and positions of the running example") {
  const Opened file(example());
  const Rows r = rows_of(*file, {0}, {.row_length = 8});
  CHECK(r.ids == I64{10, 11, 12, 20, 21, 0, 0, 0});
  CHECK(r.labels == I64{-100, 11, 12, -100, 21, -100, -100, -100});
  CHECK(r.targets == I64{11, 12, -100, 21, -100, -100, -100, -100});
  CHECK(r.positions == I64{0, 1, 2, 0, 1, 0, 1, 2});
  CHECK(r.lengths == I32{5});
  CHECK(r.counts.tokens == 5);
  CHECK(r.counts.sequences == 2);
  CHECK(r.counts.targets == 3);
  CHECK(r.counts.label_targets == 3);
  const auto positions = [&](PadPositions pads) {
    return rows_of(*file, {0}, {.row_length = 8, .pad_positions = pads}).positions;
  };
  CHECK(positions(PadPositions::kZero) == I64{0, 1, 2, 0, 1, 0, 0, 0});
  CHECK(positions(PadPositions::kContinue) == I64{0, 1, 2, 0, 1, 2, 3, 4});
  CHECK(rows_of(*file, {0}, {.row_length = 6, .pad_id = 9}).ids == I64{10, 11, 12, 20, 21, 9});
}

TEST_CASE("conventions: tail labels are targets and no labels") {
  // --tail input-target: each sample's last token is stored as a target only.
  const Opened file(FileSpec{
      .packs = {{{.tokens = {10, 11}, .source = 0, .tail = 12}, {.tokens = {20}, .source = 1, .tail = 21}}},
      .tail_labels = true});
  const Rows r = rows_of(*file, {0}, {.row_length = 3});
  CHECK(r.ids == I64{10, 11, 20});
  CHECK(r.targets == I64{11, 12, 21});
  CHECK(r.labels == I64{-100, 11, -100});
  CHECK(r.counts.targets == 3);
  CHECK(r.counts.label_targets == 1);
}

TEST_CASE("conventions: the split example of torchtune, with positions that go on") {
  const Opened file(FileSpec{.packs = {{{.tokens = {100, 101, 102}, .source = 0},
                                        {.tokens = {200, 201}, .source = 1},
                                        {.tokens = {300}, .source = 2, .tail = 301}},
                                       {{.tokens = {301, 302, 303}, .source = 2, .first_position = 1},
                                        {.tokens = {400, 401, 402}, .source = 3, .tail = 403}},
                                       {{.tokens = {403, 404, 405}, .source = 3, .first_position = 3},
                                        {.tokens = {500}, .source = 4}}},
                             .samples = 5,
                             .first_positions = true,
                             .tail_labels = true});
  const Rows r = rows_of(*file, {0, 1, 2}, {.row_length = 6, .positions = SequencePositions::kContinue});
  CHECK(r.ids == I64{100, 101, 102, 200, 201, 300, 301, 302, 303, 400, 401, 402, 403, 404, 405, 500, 0, 0});
  CHECK(r.labels == I64{-100, 101, 102, -100, 201, -100, -100, 302, 303, -100, 401, 402, -100, 404, 405, -100,
                        -100, -100});
  CHECK(r.targets ==
        I64{101, 102, -100, 201, -100, 301, 302, 303, -100, 401, 402, 403, 404, 405, -100, -100, -100, -100});
  CHECK(r.positions == I64{0, 1, 2, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 0, 0, 1});
  CHECK(r.counts.targets == 11);
  CHECK(r.counts.label_targets == 9);
}

TEST_CASE("conventions: cu_seqlens with and without pads, and static shapes") {
  const Opened file(example());
  const auto logical = [&](const Packs& packs, const FlatOptions& options) {
    const Flat f = flat_of(*file, packs, options);
    CHECK(f.logical == f.padded);
    return f.logical;
  };
  CHECK(logical({0}, {}) == I32{0, 3, 5});
  CHECK(logical({0}, {.row_length = 8}) == I32{0, 3, 5, 8});
  CHECK(logical({0, 0}, {}) == I32{0, 3, 5, 8, 10});
  CHECK(logical({0, 0}, {.row_length = 8}) == I32{0, 3, 5, 8, 11, 13, 16});
  CHECK(logical({0}, {.total_tokens = 8, .max_sequences = 6}) == I32{0, 3, 5, 8, 8, 8, 8});
  CHECK(logical({0}, {.max_sequences = 4}) == I32{0, 3, 5, 5, 5});
  CHECK(logical({0, 0}, {.total_tokens = 16}) == I32{0, 3, 5, 8, 10, 16});
  CHECK(flat_of(*file, {0}, {}).shape.max_seqlen == 3);
  CHECK(flat_of(*file, {0, 0}, {.total_tokens = 16}).shape.max_seqlen == 6);
  CHECK(flat_of(*file, {Sampler::kNoPack, 0}, {.row_length = 8}).logical == I32{0, 8, 11, 13, 16});
  CHECK(flat_of(*file, {Sampler::kNoPack, 0}, {}).logical == I32{0, 3, 5});
}

TEST_CASE("conventions: sequences padded to multiples of 4") {
  const Opened file(example());
  const Flat f = flat_of(*file, {0}, {.sequence_multiple = 4});
  CHECK(f.logical == I32{0, 3, 5});
  CHECK(f.padded == I32{0, 4, 8});
  CHECK(f.ids == I64{10, 11, 12, 0, 20, 21, 0, 0});
  CHECK(f.positions == I64{0, 1, 2, 0, 0, 1, 0, 0});
  CHECK(f.labels == I64{-100, 11, 12, -100, -100, 21, -100, -100});
  CHECK(f.targets == I64{11, 12, -100, -100, 21, -100, -100, -100});
  CHECK(f.shape.max_seqlen == 4);
}

TEST_CASE("random files: rows and flat batches are what a slow model gives, in every kind and width") {
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % n; };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const bool wide = round % 2 == 0, tails = round % 5 == 0, all_kept = round % 7 == 0;
    const int kind = round % 3;
    FileSpec spec{.capacity = 400, .wide_tokens = wide, .label_kind = kind, .tail_labels = tails};
    std::uint64_t source = 0;
    for (int p = 0; p < 4; ++p) {
      auto& pack = spec.packs.emplace_back();
      std::uint32_t left = 1 + below(400);
      while (left > 0) {
        const std::uint32_t n = 1 + below(std::min(left, 150u));
        left -= n;
        auto& sequence = pack.emplace_back();
        sequence.source = source++;
        for (std::uint32_t i = 0; i < n; ++i) {
          sequence.tokens.push_back(below(wide ? 100'000 : 60'000));
          const auto own = static_cast<std::int32_t>(sequence.tokens.back());
          const bool kept = all_kept || below(3) != 0;
          if (kind != 0) sequence.labels.push_back(!kept ? -100 : kind == 2 && below(4) == 0 ? 7 : own);
        }
        if (tails && below(2) == 0) sequence.tail = 5;
      }
    }
    const Opened file(spec, round % 4 == 0 ? ReadMode::kPread : ReadMode::kMmap);
    const std::size_t length = 400 + static_cast<std::size_t>(round % 3);
    const Packs packs{3, 0, Sampler::kNoPack, 1, 2};
    const Rows rows = rows_of(*file, packs, {.row_length = static_cast<std::uint32_t>(length), .pad_id = 1});
    I64 ids, labels, targets, positions;
    std::uint64_t trained = 0, trained_labels = 0;
    for (const std::uint64_t p : packs) {
      if (p != Sampler::kNoPack) {
        for (const auto& sequence : spec.packs[p]) {
          const std::size_t n = sequence.tokens.size();
          for (std::size_t i = 0; i < n; ++i) {
            const auto stored = [&](std::size_t k) -> std::int64_t {
              return kind == 0 ? static_cast<std::int64_t>(sequence.tokens[k]) : sequence.labels[k];
            };
            ids.push_back(static_cast<std::int64_t>(sequence.tokens[i]));
            labels.push_back(i == 0 ? -100 : stored(i));
            targets.push_back(i + 1 < n ? stored(i + 1) : std::int64_t{sequence.tail.value_or(-100)});
            positions.push_back(static_cast<std::int64_t>(i));
            trained += targets.back() != -100 ? 1u : 0u;
            trained_labels += labels.back() != -100 ? 1u : 0u;
          }
        }
      }
      std::int64_t pad = 0;
      while (ids.size() % length != 0 || (p == Sampler::kNoPack && pad < static_cast<std::int64_t>(length))) {
        ids.push_back(1);
        labels.push_back(-100);
        targets.push_back(-100);
        positions.push_back(pad++);
      }
    }
    CHECK(rows.ids == ids);
    CHECK(rows.labels == labels);
    CHECK(rows.targets == targets);
    CHECK(rows.positions == positions);
    CHECK(rows.counts.targets == trained);
    CHECK(rows.counts.label_targets == trained_labels);
    CHECK(rows.counts.empty_rows == 1);

    const Flat flat = flat_of(*file, packs, {.pad_id = 1, .row_length = static_cast<std::uint32_t>(length)});
    CHECK(flat.ids == ids);
    CHECK(flat.labels == labels);
    CHECK(flat.targets == targets);
    CHECK(flat.positions == positions);

    I32 narrow_ids(ids.size()), narrow_positions(ids.size());
    const auto narrow =
        fill_rows(*file, packs, {.row_length = static_cast<std::uint32_t>(length), .pad_id = 1},
                  {.input_ids = narrow_ids.data(), .position_ids = narrow_positions.data()});
    REQUIRE(narrow.ok());
    CHECK(std::equal(ids.begin(), ids.end(), narrow_ids.begin()));
    CHECK(std::equal(positions.begin(), positions.end(), narrow_positions.begin()));
  }
}

TEST_CASE("rows with a stride leave what is between them as it was") {
  const Opened file(example());
  I64 ids(2 * 10, 77);
  const auto counts =
      fill_rows(*file, Packs{0, 0}, {.row_length = 6}, {.input_ids = ids.data(), .row_stride = 10});
  REQUIRE(counts.ok());
  CHECK(ids == I64{10, 11, 12, 20, 21, 0, 77, 77, 77, 77, 10, 11, 12, 20, 21, 0, 77, 77, 77, 77});
}

TEST_CASE("every kernel set gives the same for any start, length and shift, and reads no byte too many") {
  std::vector<const detail::BatchKernels*> sets{&detail::kPortableBatchKernels, &detail::batch_kernels()};
  std::mt19937 random(5);
  std::vector<std::uint16_t> ids(300);
  std::vector<std::uint32_t> wide(300);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::uint16_t>(random());
    wide[i] = static_cast<std::uint32_t>(random()) & 0x7fffffffu;
  }
  for (const auto* kernels : sets) {
    for (const int density : {0, 1, 2}) {  // all zeros, random, all ones
      for (std::size_t first = 0; first < 20; ++first) {
        for (std::size_t count = 0; count <= 260; count += 1 + count / 20) {
          const std::size_t bytes = (first + count + 7) / 8;
          std::vector<std::uint8_t> bits(bytes);  // its own allocation: a sanitizer sees a byte too many
          for (auto& b : bits)
            b = density == 0 ? 0 : density == 2 ? 0xff : static_cast<std::uint8_t>(random());
          I64 a(count), b(count);
          kernels->masked_16_64(ids.data(), bits.data(), first, count, -100, a.data());
          kernels->masked_32_64(wide.data(), bits.data(), first, count, -100, b.data());
          bool right = true;
          for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bit = first + i;
            const bool set = (bits[bit / 8] >> (bit % 8) & 1) != 0;
            right = right && a[i] == (set ? std::int64_t{ids[i]} : -100);
            right = right && b[i] == (set ? std::int64_t{wide[i]} : -100);
          }
          CHECK(right);
        }
      }
    }
  }
}

TEST_CASE("row intervals of a batch, empty rows and prefixes from the column") {
  FileSpec spec = example();
  const Opened plain(spec);
  I32 lo(16, 77);
  const auto fill = [](const Reader& reader, const Packs& packs, std::uint32_t length, MaskFamily family,
                       std::int32_t* first, std::int32_t* last = nullptr) {
    return fill_rows(reader, packs, {.row_length = length, .intervals = {.family = family}},
                     {.lo = first, .hi = last});
  };
  constexpr MaskFamily kCausal = MaskFamily::kCausal, kPrefixLm = MaskFamily::kPrefixLm;
  REQUIRE(fill(*plain, Packs{0, Sampler::kNoPack}, 8, kCausal, lo.data()).ok());
  CHECK(lo == I32{0, 0, 0, 3, 3, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto none = fill(*plain, Packs{0}, 8, kPrefixLm, lo.data());
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().detail.find("prefix_len") != std::string::npos);

  spec.columns = {
      {.name = "prefix_len", .type = 3, .scope = 3, .values = std::string("\2\0\0\0\1\0\0\0", 8)}};
  const Opened file(spec);
  I32 hi(8, 77);
  lo.resize(8);
  REQUIRE(fill(*file, Packs{0}, 8, kPrefixLm, lo.data(), hi.data()).ok());
  CHECK(lo == I32{0, 0, 0, 3, 3, 5, 5, 5});
  CHECK(hi == I32{1, 1, 2, 3, 4, 5, 6, 7});
  const auto longer = fill(*file, Packs{0}, 4, kCausal, lo.data());
  REQUIRE_FALSE(longer.ok());
  CHECK(longer.error().detail.find("pack 0") != std::string::npos);

  // More values than sequences must not be taken for prefixes.
  spec.columns[0].values.append(8, '\1');
  spec.columns[0].offsets = std::vector<std::uint64_t>{0, 3, 4};
  test::TempDir folder;
  test::write_file(folder.file("ragged.tpk"), test::build(spec).bytes);
  if (const auto ragged = Reader::open(folder.file("ragged.tpk")); ragged.ok()) {
    CHECK_FALSE(fill(*ragged, Packs{0}, 8, kPrefixLm, lo.data(), hi.data()).ok());
  } else {
    CHECK(ragged.error().code == Errc::kReservedColumn);
  }
}

TEST_CASE("document ids and boundaries of a batch, empty rows among them") {
  const Opened file(example());
  const auto ids = [&file](PadPolicy pads, DocumentIds numbering) {
    I32 out(16, 77);
    REQUIRE(fill_rows(*file, Packs{0, Sampler::kNoPack},
                      {.row_length = 8, .intervals = {.pads = pads}, .document_ids = numbering},
                      {.document_ids = out.data()})
                .ok());
    return out;
  };
  CHECK(ids(PadPolicy::kSegment, DocumentIds::kFromZero) ==
        I32{0, 0, 0, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(ids(PadPolicy::kSelf, DocumentIds::kFromZero) == I32{0, 0, 0, 1, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(ids(PadPolicy::kNone, DocumentIds::kFromOne) == I32{1, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(ids(PadPolicy::kLast, DocumentIds::kFromZero) == I32{0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});

  const auto boundaries = [&file](std::uint32_t max_sequences, I32& out) {
    return fill_rows(*file, Packs{0, Sampler::kNoPack}, {.row_length = 8, .max_sequences = max_sequences},
                     {.boundaries = out.data()});
  };
  I32 most(6, 77), five(12, 77);
  REQUIRE(boundaries(0, most).ok());
  CHECK(most == I32{0, 3, 5, 0, 0, 0});
  REQUIRE(boundaries(5, five).ok());
  CHECK(five == I32{0, 3, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0});
  const auto few = boundaries(1, most);
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().detail.find("pack 0 has 2 sequences, more than max_sequences, 1") != std::string::npos);
}

TEST_CASE("columns beside rows") {
  FileSpec spec = example();
  spec.columns = {{.name = "kind", .type = 1, .scope = 4, .values = "abcde"},
                  {.name = "pair", .type = 1, .scope = 3, .width = 2, .values = "AABB"},
                  {.name = "whole", .type = 10, .scope = 1, .values = "x"}};
  const Opened file(spec);
  const auto column = [&](std::size_t index, std::uint32_t items, std::size_t bytes) {
    std::string out(bytes, '?');
    const auto filled = fill_column_rows(*file, Packs{0, Sampler::kNoPack}, index, items,
                                         std::as_writable_bytes(std::span(out)));
    return filled.ok() ? out : std::string(errc_name(filled.error().code));
  };
  CHECK(column(0, 6, 12) == std::string("abcde\0\0\0\0\0\0\0", 12));
  CHECK(column(1, 3, 12) == std::string("AABB\0\0\0\0\0\0\0\0", 12));
  CHECK(column(0, 6, 13) == "options");
  CHECK(column(0, 4, 8) == "options");
  CHECK(column(2, 1, 2) == "options");
  CHECK(column(3, 1, 2) == "column_range");
}

TEST_CASE("what cannot be filled is an error that says why") {
  const Opened file(example());
  I64 ids(64);
  const RowOutputs out{.input_ids = ids.data()};
  const auto code = [](const auto& result) { return result.ok() ? Errc{} : result.error().code; };
  CHECK(code(fill_rows(*file, Packs{0}, {.row_length = 4}, out)) == Errc::kOptions);
  CHECK(code(fill_rows(*file, Packs{1}, {.row_length = 8}, out)) == Errc::kPackRange);
  std::vector<std::int32_t> hi(8);
  CHECK(code(fill_rows(*file, Packs{0}, {.row_length = 8}, {.hi = hi.data()})) == Errc::kOptions);
  CHECK(code(fill_rows(*file, Packs{0}, {.row_length = 8}, {.input_ids = ids.data(), .row_stride = 7})) ==
        Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.sequence_multiple = 0})) == Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.row_length = 8, .sequence_multiple = 4})) == Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.row_length = 4})) == Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.total_tokens = 4})) == Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.max_sequences = 1})) == Errc::kOptions);
  CHECK(code(flat_shape(*file, Packs{0}, {.total_tokens = std::uint64_t{1} << 31})) == Errc::kTooLarge);
  CHECK(code(flat_shape(*file, Packs{0}, {.total_tokens = (std::uint64_t{1} << 31) - 1})) == Errc{});
}
