// Padded rows. A pass over each row for every array is faster than one pass that writes all.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "batch_fill.h"
#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
namespace {

using detail::PackFiller;

constexpr std::int32_t kNoSequences[] = {0};

/// One row after another into the outputs.
class RowFiller {
 public:
  RowFiller(const Reader& reader, const RowOptions& options, const RowOutputs& out,
            detail::IntervalFiller intervals) noexcept
      : reader_(reader),
        options_(options),
        out_(out),
        intervals_(std::move(intervals)),
        length_(options.row_length != 0 ? options.row_length : reader.header().capacity),
        stride_(out.row_stride != 0 ? out.row_stride : length_),
        max_sequences_(options.max_sequences != 0 ? options.max_sequences
                                                  : reader.header().most_sequences_in_pack) {}

  Result<void> check() const;
  Result<void> fill(std::size_t row, std::uint64_t number, BatchCounts& counts);

 private:
  Result<void> check_pack(const PackRef& pack) const;
  Result<void> fill_boundaries(std::size_t row, const PackRef* pack);
  void fill_pads(std::size_t at, std::size_t count, std::int64_t position) const noexcept;
  std::span<std::int32_t> row_of(std::int32_t* array, std::size_t row) const noexcept {
    return array != nullptr ? std::span(array + row * stride_, length_) : std::span<std::int32_t>();
  }

  const Reader& reader_;
  const RowOptions& options_;
  const RowOutputs& out_;
  detail::IntervalFiller intervals_;
  std::size_t length_, stride_, max_sequences_;
  PackBuffer buffer_;
};

Result<void> RowFiller::check() const {
  const auto refused = [](std::string detail) {
    return Error{Errc::kOptions, Error::kNoOffset, std::move(detail)};
  };
  if (stride_ < length_) {
    return refused(fmt::format("a row_stride of {} is below the row's {} positions", stride_, length_));
  }
  if (out_.hi != nullptr && out_.lo == nullptr) {
    return refused("a buffer for hi without one for lo; row intervals need lo");
  }
  if (options_.pad_positions > PadPositions::kContinue || options_.positions > SequencePositions::kContinue) {
    return refused("unknown positions of sequences or pads");
  }
  return {};
}

Result<void> RowFiller::check_pack(const PackRef& pack) const {
  if (pack.tokens().size() > length_) {
    return Error{
        Errc::kOptions, Error::kNoOffset,
        fmt::format("pack {} has {} tokens, more than a row's {}; choose a row_length of at least the "
                    "file's capacity, {}",
                    pack.pack(), pack.tokens().size(), length_, reader_.header().capacity)};
  }
  if (out_.boundaries != nullptr && pack.sequences() > max_sequences_) {
    return Error{
        Errc::kOptions, Error::kNoOffset,
        fmt::format("pack {} has {} sequences, more than max_sequences, {}; the file says that none "
                    "has more than {}",
                    pack.pack(), pack.sequences(), max_sequences_, reader_.header().most_sequences_in_pack)};
  }
  return {};
}

/// What follows from the boundaries alone.
Result<void> RowFiller::fill_boundaries(std::size_t row, const PackRef* pack) {
  const std::span<const std::int32_t> cu_seqlens = pack != nullptr ? pack->cu_seqlens() : kNoSequences;
  if (out_.lo != nullptr) {
    if (auto done = intervals_.fill(pack, row_of(out_.lo, row), row_of(out_.hi, row)); !done) return done;
  }
  if (out_.boundaries != nullptr) {
    std::int32_t* const entries = out_.boundaries + row * (max_sequences_ + 1);
    std::copy(cu_seqlens.begin(), cu_seqlens.end(), entries);
    std::fill(entries + cu_seqlens.size(), entries + max_sequences_ + 1, cu_seqlens.back());
  }
  if (out_.document_ids == nullptr) return {};
  return fill_document_ids(cu_seqlens, options_.intervals.pads, options_.document_ids,
                           row_of(out_.document_ids, row));
}

void RowFiller::fill_pads(std::size_t at, std::size_t count, std::int64_t position) const noexcept {
  detail::fill_pads(detail::at(out_.input_ids, at), options_.pad_id.value_or(reader_.header().pad_id), count);
  const std::int64_t ignored = reader_.header().ignore_index;
  for (std::int64_t* const array : {out_.labels, out_.targets}) {
    if (array != nullptr) detail::fill_pads(IntOutput(array + at), ignored, count);
  }
  detail::pad_positions(detail::at(out_.position_ids, at), options_.pad_positions, position, count);
}

Result<void> RowFiller::fill(std::size_t row, std::uint64_t number, BatchCounts& counts) {
  const std::size_t begin = row * stride_;
  std::size_t tokens = 0;
  std::int64_t position = 0;
  Result<void> filled;
  if (number == Sampler::kNoPack) {
    ++counts.empty_rows;
    filled = fill_boundaries(row, nullptr);
  } else {
    const auto pack = reader_.pack(number, buffer_);
    if (!pack) return pack.error();
    filled = check_pack(*pack);
    if (filled) {
      tokens = pack->tokens().size();
      const PackFiller fill(*pack, options_.positions);
      fill.ids(detail::at(out_.input_ids, begin), 0, tokens);
      if (out_.labels != nullptr) fill.labels(out_.labels + begin);
      if (out_.targets != nullptr) fill.targets(out_.targets + begin);
      position = fill.positions(detail::at(out_.position_ids, begin));
      fill.count(counts);
      filled = fill_boundaries(row, &*pack);
    }
  }
  if (!filled) {
    Error error = std::move(filled).error();
    error.detail =
        fmt::format("{}, row {} of the batch: {}", detail::quoted(reader_.path()), row, error.detail);
    return error;
  }
  fill_pads(begin + tokens, length_ - tokens, position);
  if (out_.lengths != nullptr) out_.lengths[row] = static_cast<std::int32_t>(tokens);
  return {};
}

}  // namespace

Result<BatchCounts> fill_rows(const Reader& reader, std::span<const std::uint64_t> packs,
                              const RowOptions& options, const RowOutputs& out) try {
  auto intervals =
      detail::IntervalFiller::create(reader, out.lo != nullptr ? options.intervals : IntervalOptions{});
  if (!intervals) return std::move(intervals).error();
  RowFiller filler(reader, options, out, std::move(*intervals));
  if (auto checked = filler.check(); !checked) return checked.error();
  BatchCounts counts;
  for (std::size_t row = 0; row < packs.size(); ++row) {
    if (auto done = filler.fill(row, packs[row], counts); !done) return std::move(done).error();
  }
  return counts;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a batch");
}

}  // namespace tokpack
