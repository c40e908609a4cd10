#include "pack_sink.h"

#include <algorithm>

#include "writer_options.h"

namespace tokpack::detail {
namespace {

/// Asks for the tokens (where they are read here) and loss bits of a fragment.
template <bool kTokenArrays>
[[gnu::always_inline]] inline void prefetch(const WindowPair& sequences, const Fragment& fragment) noexcept {
  const WindowPair::Place place = sequences.at(fragment.sample);
  const Window& window = *place.window;
  const std::uint64_t first = place.start + fragment.first_token;
  __builtin_prefetch(window.lengths.data() + place.index);
  window.sources.prefetch(place.index);
  if (window.label_kind == LabelKind::kLossMask) {
    prefetch_bytes(static_cast<const char*>(window.bits.bytes()) + first / 8, fragment.length / 8 + 1);
  }
  if constexpr (kTokenArrays) {
    const void* ids = window.wide ? static_cast<const void*>(window.tokens32.data() + first)
                                  : static_cast<const void*>(window.tokens16.data() + first);
    prefetch_bytes(ids, std::size_t{fragment.length} * (window.wide ? 4 : 2));
  }
}

}  // namespace

PackSink::PackSink(const OutputFile& output, std::uint64_t tokens_offset, const WriterOptions& options)
    : output_(&output),
      ignore_index_(options.ignore_index),
      alignment_(options.plan.alignment),
      wide_(starts_wide(options)),
      tokens_(output, tokens_offset),
      pack_token_offsets_(output),
      pack_sequence_offsets_(output),
      cu_seqlens_(output),
      loss_bits_(output),
      labels_(output),
      targets_(output),
      sources_(output) {
  if (options.groups) groups_.emplace(output);
  for (const ColumnSpec& spec : options.columns) {
    Column column{BlockStream(output), std::nullopt, 0};
    if (spec.ragged) column.offsets.emplace(output);
    columns_.push_back(std::move(column));
  }
}

Result<void> PackSink::start() {
  if (pack_token_offsets_.size() != 0) return {};
  if (auto ok = pack_token_offsets_.append_value(std::uint64_t{0}); !ok) return ok;
  if (auto ok = pack_sequence_offsets_.append_value(std::uint64_t{0}); !ok) return ok;
  for (Column& column : columns_) {
    if (!column.offsets) continue;
    if (auto ok = column.offsets->append_value(std::uint64_t{0}); !ok) return ok;
  }
  return {};
}

Result<void> PackSink::write_source(std::uint64_t source) {
  if (!sources_wide_ && source > 0xffffffffu) {
    if (auto ok = widen_sources(); !ok) return ok;
  }
  return sources_wide_ ? sources_.append_value(source)
                       : sources_.append_value(static_cast<std::uint32_t>(source));
}

Result<void> PackSink::widen_sources() {
  if (sources_wide_) return {};
  sources_wide_ = true;
  return sources_.widen_u32_to_u64();
}

Result<void> PackSink::widen_tokens() {
  if (wide_) return {};
  wide_ = true;
  return tokens_.widen_u16_to_u32();
}

Result<void> PackSink::write_columns(const WindowPair::Place& place, const Fragment& fragment) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnRows& from = place.window->columns[c];
    Column& to = columns_[c];
    Result<void> ok;
    if (from.ragged) {
      const RaggedRange rows = ragged_range(from, place.index);
      const std::uint64_t count = rows.last - rows.first;
      ok = to.values.append(from.values.data() + rows.first * from.row_bytes, count * from.row_bytes);
      if (!ok) return ok;
      to.rows += count;
      ok = to.offsets->append_value(to.rows);
    } else if (from.scope == Scope::kToken) {
      const std::uint64_t first = place.start + fragment.first_token;
      ok = to.values.append(from.values.data() + first * from.row_bytes, fragment.length * from.row_bytes);
    } else {
      ok = to.values.append(from.values.data() + place.index * from.row_bytes, from.row_bytes);
    }
    if (!ok) return ok;
  }
  return {};
}

// Everything of one sequence but its boundary and, where others write them, its tokens and explicit labels.
// Returns its training targets.
template <bool kTokenArrays>
Result<std::uint32_t> PackSink::write_sequence(const WindowPair::Place& place, const Fragment& fragment) {
  const Window& window = *place.window;
  const std::uint64_t first = place.start + fragment.first_token;
  const std::uint32_t length = fragment.length;
  Result<void> ok;
  if constexpr (kTokenArrays) {
    ok = wide_ ? tokens_.append_values(window.tokens32.data() + first, length)
               : tokens_.append_values(window.tokens16.data() + first, length);
    if (!ok) return ok.error();
  }

  // A target is a label other than ignore_index at index 1 or later. Where ignore_index may be a token id,
  // a trained token can read as ignored, so each is looked at.
  std::uint32_t targets = 0;
  if (label_kind_ == LabelKind::kLossMask) {
    targets = pack_bits_.append_from(window.bits, first, length) - (window.bits.get(first) ? 1 : 0);
  } else if (label_kind_ == LabelKind::kAll) {
    targets = length - 1;
  } else {
    const std::int32_t* labels = window.labels.data() + first;
    if constexpr (kTokenArrays) {
      if (ok = labels_.append_values(labels, length); !ok) return ok.error();
    }
    for (std::uint32_t i = 1; i < length; ++i) targets += labels[i] != ignore_index_ ? 1 : 0;
  }
  if (ignore_index_ >= 0 && label_kind_ != LabelKind::kExplicit) {
    targets = 0;
    for (std::uint32_t i = 1; i < length; ++i) {
      targets += window.label(first + i, ignore_index_) != ignore_index_ ? 1u : 0u;
    }
  }

  // A fragment that was cut off here carries the label of the token that follows it.
  const bool whole = fragment.first_token + length == window.lengths[place.index];
  const std::int64_t stored_tail =
      whole ? window.tails.get(place.index) : window.label(first + length, ignore_index_);
  const std::int32_t tail = stored_tail == kNoTail ? ignore_index_ : static_cast<std::int32_t>(stored_tail);
  if (tail != ignore_index_) {
    ++targets;
    if (!tail_labels_) {
      tail_labels_.emplace(*output_);
      if (ok = tail_labels_->append_repeated(ignore_index_, counts_.sequences); !ok) return ok.error();
    }
  }
  if (tail_labels_) {
    if (ok = tail_labels_->append_value(tail); !ok) return ok.error();
  }

  const std::uint32_t position = window.first_positions.get(place.index) + fragment.first_token;
  if (position != 0 && !first_positions_) {
    first_positions_.emplace(*output_);
    if (ok = first_positions_->append_repeated(std::uint32_t{0}, counts_.sequences); !ok) return ok.error();
  }
  if (first_positions_) {
    if (ok = first_positions_->append_value(position); !ok) return ok.error();
  }
  if (ok = write_source(window.sources[place.index]); !ok) return ok.error();
  if (groups_) {
    if (ok = groups_->append_value(window.groups[place.index]); !ok) return ok.error();
  }
  if (!columns_.empty()) {
    if (ok = write_columns(place, fragment); !ok) return ok.error();
  }
  ++counts_.sequences;
  counts_.longest_sequence = std::max(counts_.longest_sequence, length);
  counts_.aligned_tokens += (std::uint64_t{length} + alignment_ - 1) / alignment_ * alignment_;
  return targets;
}

Result<void> PackSink::share_token_arrays(const WindowPair& sequences, const FragmentList& packs,
                                          SharedBlocks& blocks) {
  const auto array = [&](BlockStream& stream, const auto& carried, const auto& fresh) {
    return blocks.prepare({&stream, std::as_bytes(carried.span()).data(), std::as_bytes(fresh.span()).data(),
                           sizeof carried[0]},
                          sequences, packs);
  };
  const Window& carried = *sequences.carried;
  const Window& fresh = *sequences.fresh;
  auto ok = wide_ ? array(tokens_, carried.tokens32, fresh.tokens32)
                  : array(tokens_, carried.tokens16, fresh.tokens16);
  if (!ok || label_kind_ != LabelKind::kExplicit) return ok;
  return array(labels_, carried.labels, fresh.labels);
}

template <bool kTokenArrays>
Result<void> PackSink::append_pack(const WindowPair& sequences, const FragmentList& fragments,
                                   FragmentRun pack) {
  if (auto ok = start(); !ok) return ok;
  if (auto ok = cu_seqlens_.append_value(std::int32_t{0}); !ok) return ok;
  pack_bits_.clear();
  std::int32_t tokens = 0;
  std::uint32_t targets = 0;
  for (std::size_t k = pack.first; k < pack.first + pack.count; ++k) {
    prefetch_place(sequences, fragments, k + kPlacesAhead);
    if (k + kFragmentsAhead < fragments.size()) {
      prefetch<kTokenArrays>(sequences, fragments[k + kFragmentsAhead]);
    }
    const Fragment fragment = fragments[k];
    const auto written = write_sequence<kTokenArrays>(sequences.at(fragment.sample), fragment);
    if (!written) return written.error();
    targets += *written;
    tokens += static_cast<std::int32_t>(fragment.length);
    if (auto ok = cu_seqlens_.append_value(tokens); !ok) return ok;
  }
  const std::uint64_t first = counts_.tokens;
  counts_.tokens += static_cast<std::uint64_t>(tokens);
  if (label_kind_ == LabelKind::kLossMask) {
    // Up to the next pack's first byte: ((end >> 3) + p + 1) - ((first >> 3) + p).
    const std::size_t bytes = (counts_.tokens >> 3) - (first >> 3) + 1;
    pack_bits_.append(0, 16);
    if (auto ok = loss_bits_.append(pack_bits_.bytes(), bytes); !ok) return ok;
  }
  ++counts_.packs;
  counts_.targets += targets;
  counts_.most_sequences_in_pack =
      std::max(counts_.most_sequences_in_pack, static_cast<std::uint32_t>(pack.count));
  if (auto ok = pack_token_offsets_.append_value(counts_.tokens); !ok) return ok;
  if (auto ok = pack_sequence_offsets_.append_value(counts_.sequences); !ok) return ok;
  return targets_.append_value(targets);
}

template Result<void> PackSink::append_pack<true>(const WindowPair&, const FragmentList&, FragmentRun);
template Result<void> PackSink::append_pack<false>(const WindowPair&, const FragmentList&, FragmentRun);

}  // namespace tokpack::detail
