// Padded rows. Three passes over each row, one per array, are faster than one pass that writes all.
#include <fmt/format.h>

#include <new>

#include "batch_fill.h"
#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
namespace {

using detail::PackFiller;

std::int64_t first_pad_position(PadPositions pads, std::int64_t after_last) noexcept {
  return pads == PadPositions::kContinue ? after_last : 0;
}

}  // namespace

Result<BatchCounts> fill_rows(const Reader& reader, std::span<const std::uint64_t> packs,
                              const RowOptions& options, const RowOutputs& out) try {
  const std::size_t length = options.row_length != 0 ? options.row_length : reader.header().capacity;
  const std::size_t stride = out.row_stride != 0 ? out.row_stride : length;
  if (stride < length) {
    return Error{Errc::kOptions, Error::kNoOffset,
                 fmt::format("a row_stride of {} is below the row's {} positions", stride, length)};
  }
  const std::uint32_t pad_id = options.pad_id.value_or(reader.header().pad_id);
  BatchCounts counts;
  PackBuffer buffer;
  for (std::size_t row = 0; row < packs.size(); ++row) {
    std::size_t tokens = 0;
    std::int64_t position = 0;
    if (packs[row] == Sampler::kNoPack) {
      ++counts.empty_rows;
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
      fill.ids(detail::at(out.input_ids, row * stride), 0, tokens);
      if (out.labels != nullptr) fill.labels(out.labels + row * stride);
      if (out.targets != nullptr) fill.targets(out.targets + row * stride);
      position = fill.positions(detail::at(out.position_ids, row * stride));
      fill.count(counts);
    }
    const std::size_t at = row * stride + tokens, pads = length - tokens;
    detail::fill_pads(detail::at(out.input_ids, at), pad_id, pads);
    const std::int64_t ignored = reader.header().ignore_index;
    detail::fill_pads(out.labels != nullptr ? IntOutput(out.labels + at) : IntOutput(), ignored, pads);
    detail::fill_pads(out.targets != nullptr ? IntOutput(out.targets + at) : IntOutput(), ignored, pads);
    if (options.pad_positions == PadPositions::kZero) {
      detail::fill_pads(detail::at(out.position_ids, at), 0, pads);
    } else {
      detail::count_up(detail::at(out.position_ids, at), first_pad_position(options.pad_positions, position),
                       pads);
    }
    if (out.lengths != nullptr) out.lengths[row] = static_cast<std::int32_t>(tokens);
  }
  return counts;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a batch");
}

}  // namespace tokpack
