#include "sample_store.h"

#include <algorithm>
#include <cstring>

#include "descriptor.h"

namespace tokpack::detail {
namespace {

std::string of_sample(const SampleView& sample) { return "sample " + std::to_string(sample.source); }

Error token_error(const SampleView& sample, const LabelRules& rules, std::uint64_t limit) {
  std::uint32_t i = 0;
  while (sample.tokens.at(i) <= limit) ++i;
  std::string why;
  if (sample.tokens.at(i) > rules.largest_id) {
    why = rules.vocab_size != 0 ? "below the vocabulary size " + std::to_string(rules.vocab_size)
                                : "0 to " + std::to_string(format::kMaxTokenId);
  } else {
    why = "at most 65535, since the token type u16 was asked for; choose u32";
  }
  return {Errc::kSampleTokens, Error::kNoOffset,
          of_sample(sample) + ": token " + std::to_string(i) + " is " +
              std::to_string(sample.tokens.signed_at(i)) + ", expected " + why};
}

std::string label_range(const LabelRules& rules) {
  return "the ignore index " + std::to_string(rules.ignore_index) + " or an id of 0 to " +
         std::to_string(rules.largest_id);
}

bool label_in_range(std::int32_t label, const LabelRules& rules) noexcept {
  return label == rules.ignore_index || static_cast<std::uint32_t>(label) <= rules.largest_id;
}

Error label_error(const SampleView& sample, const LabelRules& rules) {
  std::uint32_t i = 0;
  while (label_in_range(sample.labels[i], rules)) ++i;
  return {Errc::kSampleTokens, Error::kNoOffset,
          of_sample(sample) + ": label " + std::to_string(i) + " is " + std::to_string(sample.labels[i]) +
              ", expected " + label_range(rules)};
}

Result<void> check_mask(const SampleView& sample) {
  std::uint8_t seen = 0;
  for (std::uint32_t i = 0; i < sample.length; ++i) seen |= sample.mask[i];
  if (seen <= 1) return {};
  std::uint32_t i = 0;
  while (sample.mask[i] <= 1) ++i;
  return Error{Errc::kSampleShape, Error::kNoOffset,
               of_sample(sample) + ": loss mask " + std::to_string(i) + " is " +
                   std::to_string(sample.mask[i]) + ", expected 0 or 1"};
}

// The stored labels of [first, first + length) as bits.
void append_bits(BitBuffer& bits, const SampleView& sample, std::uint32_t first, std::uint32_t length,
                 const LabelRules& rules) {
  if (!sample.has_labels()) {
    bits.append_repeated(true, length);
    return;
  }
  std::uint32_t given = first;  // index into what was given
  if (rules.alignment == LabelAlignment::kShifted) {
    if (first == 0) {
      bits.append(0, 1);
      --length;
    } else {
      --given;
    }
  }
  if (sample.mask != nullptr) {
    bits.append_mask(sample.mask + given, length);
    return;
  }
  const std::int32_t* labels = sample.labels + given;
  while (length > 0) {
    const std::uint32_t n = std::min<std::uint32_t>(length, 64);
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < n; ++i) word |= std::uint64_t{labels[i] != rules.ignore_index} << i;
    bits.append(word, n);
    labels += n;
    length -= n;
  }
}

void append_labels(GrowArray<std::int32_t>& out, const SampleView& sample, std::uint32_t first,
                   std::uint32_t length, const LabelRules& rules) {
  std::int32_t* to = out.extend(length);
  for (std::uint32_t i = 0; i < length; ++i) to[i] = label_at(sample, first + i, rules);
}

bool piece_is_mask(const SampleView& sample, const Piece& piece, const LabelRules& rules) noexcept {
  for (std::uint32_t i = piece.first; i < piece.first + piece.length; ++i) {
    const std::int32_t label = label_at(sample, i, rules);
    if (label != rules.ignore_index && static_cast<std::uint32_t>(label) != sample.tokens.at(i)) return false;
  }
  return true;
}

void append_columns(Window& window, const SampleView& sample, const Piece& piece) {
  for (std::size_t c = 0; c < window.columns.size(); ++c) {
    const ColumnInput& from = sample.columns[c];
    ColumnRows& to = window.columns[c];
    std::uint64_t row = sample.index, rows = 1;
    if (to.ragged) {
      row = from.offsets[sample.index];
      rows = from.offsets[sample.index + 1] - row;
      to.ends.push_back((to.ends.empty() ? 0 : to.ends.back()) + rows);
    } else if (to.scope == Scope::kToken) {
      row = sample.first_token + piece.first;
      rows = piece.length;
    }
    to.values.append(from.values.data() + row * to.row_bytes, rows * to.row_bytes);
  }
}

}  // namespace

std::int32_t label_at(const SampleView& sample, std::uint32_t i, const LabelRules& rules) noexcept {
  if (!sample.has_labels()) return static_cast<std::int32_t>(sample.tokens.at(i));
  std::uint32_t given = i;
  if (rules.alignment == LabelAlignment::kShifted) {
    if (i == 0) return rules.ignore_index;
    --given;
  }
  if (sample.labels != nullptr) return sample.labels[given];
  return sample.mask[given] != 0 ? static_cast<std::int32_t>(sample.tokens.at(i)) : rules.ignore_index;
}

std::int64_t tail_of(const SampleView& sample, const Piece& piece, const LabelRules& rules) noexcept {
  std::int32_t label = rules.ignore_index;
  if (piece.tail == PieceTail::kNext) label = label_at(sample, piece.first + piece.length, rules);
  if (piece.tail == PieceTail::kGiven) label = sample.given_tail;
  return label == rules.ignore_index ? kNoTail : label;
}

Result<SampleFacts> check_sample(const SampleView& sample, const LabelRules& rules) {
  SampleFacts facts;
  const bool any_id_fits = sample.tokens.type == TokenInput::Type::kU16 && rules.largest_token >= 0xffff;
  if (!any_id_fits) {
    facts.largest_id = largest_id(sample.tokens, sample.length);
    if (facts.largest_id > rules.largest_token) return token_error(sample, rules, rules.largest_token);
  }
  if (sample.mask != nullptr) {
    if (auto ok = check_mask(sample); !ok) return ok.error();
  }
  if (sample.labels != nullptr) {
    const bool shifted = rules.alignment == LabelAlignment::kShifted;
    // Shifted: given[i] stands beside token i + 1, and the last beside none.
    const TokenSlice beside = shifted ? sample.tokens.from(1) : sample.tokens;
    const std::uint32_t count = shifted ? sample.length - 1 : sample.length;
    const LabelScan scan = scan_labels(sample.labels, beside, count, rules.ignore_index, rules.largest_id);
    if (!scan.in_range || !label_in_range(sample.labels[sample.length - 1], rules)) {
      return label_error(sample, rules);
    }
    facts.explicit_labels = !scan.is_mask;
  }
  if (!label_in_range(sample.given_tail, rules)) {
    return Error{Errc::kSampleTokens, Error::kNoOffset,
                 of_sample(sample) + ": tail label is " + std::to_string(sample.given_tail) + ", expected " +
                     label_range(rules)};
  }
  return facts;
}

bool has_nameless_target(const SampleView& sample, const LabelRules& rules) noexcept {
  return sample.mask != nullptr && rules.alignment == LabelAlignment::kShifted &&
         sample.mask[sample.length - 1] != 0 && sample.given_tail == rules.ignore_index;
}

std::uint64_t given_targets(const SampleView& sample, const LabelRules& rules) noexcept {
  std::uint64_t count = sample.given_tail != rules.ignore_index ? 1u : 0u;
  count += has_nameless_target(sample, rules) ? 1u : 0u;
  for (std::uint32_t i = 1; i < sample.length; ++i) {
    count += label_at(sample, i, rules) != rules.ignore_index ? 1u : 0u;
  }
  return count;
}

std::uint64_t stored_targets(const SampleView& sample, const SampleRun& run,
                             const LabelRules& rules) noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t k = 0; k < run.pieces; ++k) {
    const Piece piece = run.piece(k);
    count += tail_of(sample, piece, rules) != kNoTail ? 1u : 0u;
    for (std::uint32_t i = piece.first + 1; i < piece.first + piece.length; ++i) {
      count += label_at(sample, i, rules) != rules.ignore_index ? 1u : 0u;
    }
  }
  return count;
}

bool has_stored_target(const SampleView& sample, const SampleRun& run, const LabelRules& rules) noexcept {
  const std::uint32_t shift = rules.alignment == LabelAlignment::kShifted ? 1 : 0;
  for (std::uint32_t k = 0; k < run.pieces; ++k) {
    const Piece piece = run.piece(k);
    if (tail_of(sample, piece, rules) != kNoTail) return true;
    const std::uint32_t first = piece.first + 1, count = piece.length - 1;
    if (count == 0) continue;
    if (sample.labels != nullptr) {
      const std::int32_t* labels = sample.labels + first - shift;
      if (std::any_of(labels, labels + count, [&](std::int32_t v) { return v != rules.ignore_index; }))
        return true;
    } else if (rules.ignore_index >= 0) {
      if (stored_targets(sample, run, rules) > 0) return true;
    } else if (sample.mask == nullptr || std::memchr(sample.mask + first - shift, 1, count) != nullptr) {
      return true;
    }
  }
  return false;
}

void store_piece(Window& window, const SampleView& sample, const SampleFacts& facts, const Piece& piece,
                 const LabelRules& rules) {
  const TokenSlice ids = sample.tokens.from(piece.first);
  if (!window.wide && facts.largest_id > 0xffff && largest_id(ids, piece.length) > 0xffff) window.widen();
  if (facts.explicit_labels && window.label_kind == LabelKind::kLossMask &&
      !piece_is_mask(sample, piece, rules)) {
    window.set_label_kind(LabelKind::kExplicit, rules.ignore_index);
  }
  const std::size_t n = window.sequences();
  window.lengths.push_back(piece.length);
  window.sources.push_back(sample.source);
  window.first_positions.set(n, piece.position);
  window.tails.set(n, tail_of(sample, piece, rules));
  if (window.wide) {
    copy_ids(ids, piece.length, window.tokens32.extend(piece.length));
  } else {
    copy_ids(ids, piece.length, window.tokens16.extend(piece.length));
  }
  if (window.label_kind == LabelKind::kLossMask)
    append_bits(window.bits, sample, piece.first, piece.length, rules);
  if (window.label_kind == LabelKind::kExplicit) {
    append_labels(window.labels, sample, piece.first, piece.length, rules);
  }
  window.tokens += piece.length;
  append_columns(window, sample, piece);
}

}  // namespace tokpack::detail
