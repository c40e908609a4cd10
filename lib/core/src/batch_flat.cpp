// Sequences one after another, for varlen attention: shape first, then the arrays.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <type_traits>

#include "batch_fill.h"
#include "reader_text.h"
#include "tokpack/core/batch.h"

namespace tokpack {
namespace {

using detail::PackFiller;

constexpr std::uint64_t kMostTokens = 0x7fffffff;

Error bad_options(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

std::uint64_t padded(std::uint64_t length, const FlatOptions& options) noexcept {
  return (length + options.sequence_multiple - 1) / options.sequence_multiple * options.sequence_multiple;
}

/// Calls `sequence(filler, s)` for each sequence of each pack, and `pads(count)` for each run of pads that is
/// a sequence of its own. `each(filler)` comes once a pack, before its sequences.
template <typename Each, typename Sequence, typename Pads>
Result<void> walk(const Reader& reader, std::span<const std::uint64_t> packs, const FlatOptions& options,
                  Each each, Sequence sequence, Pads pads) {
  PackBuffer buffer;
  for (const std::uint64_t p : packs) {
    std::uint64_t tokens = 0;
    if (p != Sampler::kNoPack) {
      const auto pack = reader.pack(p, buffer);
      if (!pack) return pack.error();
      tokens = pack->tokens().size();
      if (options.row_length != 0 && tokens > options.row_length) {
        return bad_options(fmt::format("{}: pack {} has {} tokens, more than a row's {}",
                                       detail::quoted(reader.path()), p, tokens, options.row_length));
      }
      const PackFiller filler(*pack, options.positions);
      each(filler);
      for (std::size_t s = 0; s < pack->sequences(); ++s) sequence(filler, s);
    } else {
      each(std::nullopt);  // an empty row: pads alone, or nothing
    }
    if (options.row_length > tokens) pads(options.row_length - tokens);
  }
  return {};
}

}  // namespace

Result<FlatShape> flat_shape(const Reader& reader, std::span<const std::uint64_t> packs,
                             const FlatOptions& options) try {
  if (options.sequence_multiple == 0) return bad_options("a sequence_multiple is at least 1");
  if (options.row_length != 0 && options.sequence_multiple != 1) {
    return bad_options("row_length and sequence_multiple exclude each other: choose where the pads go");
  }
  FlatShape shape;
  std::uint64_t longest = 0;
  const auto add = [&](std::uint64_t length) {
    shape.tokens += length;
    shape.sequences += 1;
    longest = std::max(longest, length);
  };
  auto walked = walk(
      reader, packs, options, [](const auto&) {},
      [&](const PackFiller& filler, std::size_t s) { add(padded(filler.length(s), options)); }, add);
  if (!walked) return walked.error();
  if (options.total_tokens != 0) {
    if (shape.tokens > options.total_tokens) {
      return bad_options(fmt::format("the packs have {} tokens, more than total_tokens, {}", shape.tokens,
                                     options.total_tokens));
    }
    if (shape.tokens < options.total_tokens) add(options.total_tokens - shape.tokens);
  }
  if (shape.tokens > kMostTokens) {
    return Error{Errc::kTooLarge, Error::kNoOffset,
                 fmt::format("a flat batch of {} tokens, expected at most 2147483647: cu_seqlens are int32; "
                             "take fewer packs",
                             shape.tokens)};
  }
  if (options.max_sequences != 0) {
    if (shape.sequences > options.max_sequences) {
      return bad_options(fmt::format("the batch has {} sequences, more than max_sequences, {}",
                                     shape.sequences, options.max_sequences));
    }
    shape.sequences = options.max_sequences;
  }
  shape.max_seqlen = static_cast<std::uint32_t>(longest);
  return shape;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a batch");
}

Result<BatchCounts> fill_flat(const Reader& reader, std::span<const std::uint64_t> packs,
                              const FlatOptions& options, const FlatOutputs& out) try {
  const auto shape = flat_shape(reader, packs, options);
  if (!shape) return shape.error();
  const std::uint32_t pad_id = options.pad_id.value_or(reader.header().pad_id);
  const std::int64_t ignored = reader.header().ignore_index;
  BatchCounts counts;
  std::uint64_t place = 0, logical = 0, entries = 0;
  const auto boundary = [&] {
    if (out.cu_seqlens != nullptr) out.cu_seqlens[entries] = static_cast<std::int32_t>(logical);
    if (out.cu_seqlens_padded != nullptr) out.cu_seqlens_padded[entries] = static_cast<std::int32_t>(place);
    ++entries;
  };
  const auto ignore = [&](std::uint64_t count) {
    detail::fill_pads(detail::at(out.input_ids, place), pad_id, count);
    if (out.labels != nullptr) detail::fill_pads(out.labels + place, ignored, count);
    if (out.targets != nullptr) detail::fill_pads(out.targets + place, ignored, count);
  };
  const auto pads = [&](std::uint64_t count) {
    ignore(count);
    detail::count_up(detail::at(out.position_ids, place), 0, count);
    place += count;
    logical += count;
    boundary();
  };
  const auto sequence = [&](const PackFiller& filler, std::size_t s) {
    const std::size_t length = filler.length(s);
    filler.ids(detail::at(out.input_ids, place), filler.begin(s), length);
    if (out.labels != nullptr) filler.labels_of(s, out.labels + place);
    if (out.targets != nullptr) filler.targets_of(s, out.targets + place);
    detail::count_up(detail::at(out.position_ids, place), filler.first_position(s), length);
    place += length;
    logical += length;
    if (const std::uint64_t behind = padded(length, options) - length; behind > 0) {
      ignore(behind);
      detail::fill_pads(detail::at(out.position_ids, place), 0, behind);
      place += behind;
    }
    boundary();
  };
  boundary();
  auto walked = walk(
      reader, packs, options,
      [&](const auto& filler) {
        if constexpr (std::is_same_v<std::decay_t<decltype(filler)>, PackFiller>) {
          filler.count(counts);
        } else {
          ++counts.empty_rows;
        }
      },
      sequence, pads);
  if (!walked) return walked.error();
  if (place < shape->tokens) pads(shape->tokens - place);
  while (entries <= shape->sequences) boundary();
  return counts;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a batch");
}

}  // namespace tokpack
