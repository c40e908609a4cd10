// Padded rows. Three passes over each row, one per array, are faster than one pass that writes all.
#include <fmt/format.h>

#include <new>
#include <span>
#include <utility>

#include "batch_fill.h"
#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
using detail::PackFiller;

Result<BatchCounts> fill_rows(const Reader& reader, std::span<const std::uint64_t> packs,
                              const RowOptions& options, const RowOutputs& out) try {
  const std::size_t length = options.row_length != 0 ? options.row_length : reader.header().capacity;
  const std::size_t stride = out.row_stride != 0 ? out.row_stride : length;
  if (stride < length) {
    return Error{Errc::kOptions, Error::kNoOffset,
                 fmt::format("a row_stride of {} is below the row's {} positions", stride, length)};
  }
  if (out.hi != nullptr && out.lo == nullptr) {
    return Error{Errc::kOptions, Error::kNoOffset,
                 "a buffer for hi without one for lo; row intervals need lo"};
  }
  if (options.pad_positions > PadPositions::kContinue || options.positions > SequencePositions::kContinue) {
    return Error{Errc::kOptions, Error::kNoOffset, "unknown positions of sequences or pads"};
  }
  const std::uint32_t pad_id = options.pad_id.value_or(reader.header().pad_id);
  auto intervals =
      detail::IntervalFiller::create(reader, out.lo != nullptr ? options.intervals : IntervalOptions{});
  if (!intervals) return std::move(intervals).error();
  const auto row_of = [length](std::int32_t* array, std::size_t begin) {
    return array != nullptr ? std::span(array + begin, length) : std::span<std::int32_t>();
  };
  BatchCounts counts;
  PackBuffer buffer;
  for (std::size_t row = 0; row < packs.size(); ++row) {
    const std::size_t begin = row * stride;
    std::size_t tokens = 0;
    std::int64_t position = 0;
    Result<void> filled;
    if (packs[row] == Sampler::kNoPack) {
      ++counts.empty_rows;
      if (out.lo != nullptr) filled = intervals->fill(nullptr, row_of(out.lo, begin), row_of(out.hi, begin));
    } else {
      const auto pack = reader.pack(packs[row], buffer);
      if (!pack) return pack.error();
      tokens = pack->tokens().size();
      if (tokens > length) {
        return Error{
            Errc::kOptions, Error::kNoOffset,
            fmt::format("{}: pack {} has {} tokens, more than a row's {}; choose a row_length of at "
                        "least the file's capacity, {}",
                        detail::quoted(reader.path()), packs[row], tokens, length, reader.header().capacity)};
      }
      const PackFiller fill(*pack, options.positions);
      fill.ids(detail::at(out.input_ids, begin), 0, tokens);
      if (out.labels != nullptr) fill.labels(out.labels + begin);
      if (out.targets != nullptr) fill.targets(out.targets + begin);
      position = fill.positions(detail::at(out.position_ids, begin));
      fill.count(counts);
      if (out.lo != nullptr) filled = intervals->fill(&*pack, row_of(out.lo, begin), row_of(out.hi, begin));
    }
    if (!filled) {
      Error error = std::move(filled).error();
      error.detail =
          fmt::format("{}, row {} of the batch: {}", detail::quoted(reader.path()), row, error.detail);
      return error;
    }
    const std::size_t at = begin + tokens, pads = length - tokens;
    detail::fill_pads(detail::at(out.input_ids, at), pad_id, pads);
    const std::int64_t ignored = reader.header().ignore_index;
    detail::fill_pads(out.labels != nullptr ? IntOutput(out.labels + at) : IntOutput(), ignored, pads);
    detail::fill_pads(out.targets != nullptr ? IntOutput(out.targets + at) : IntOutput(), ignored, pads);
    detail::pad_positions(detail::at(out.position_ids, at), options.pad_positions, position, pads);
    if (out.lengths != nullptr) out.lengths[row] = static_cast<std::int32_t>(tokens);
  }
  return counts;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a batch");
}

}  // namespace tokpack
