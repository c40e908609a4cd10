// The fields of the header, each against the caps and against each other. Spec: The header.
#include <algorithm>

#include "message.h"
#include "parse_detail.h"

namespace tokpack::format::detail {
namespace {

constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 62;

std::optional<Error> check_types(const Header& h) {
  if (h.token_type != static_cast<std::uint8_t>(ElementType::kU16) &&
      h.token_type != static_cast<std::uint8_t>(ElementType::kU32)) {
    return fault(Errc::kTokenType, offsetof(Header, token_type), "header: token_type is ", h.token_type,
                 ", expected 2 (u16) or 3 (u32)", kWriterAtFault);
  }
  if (h.label_kind > static_cast<std::uint8_t>(LabelKind::kExplicit)) {
    return fault(Errc::kLabelKind, offsetof(Header, label_kind), "header: label_kind is ", h.label_kind,
                 ", expected 0 (all), 1 (loss_mask) or 2 (explicit)", kWriterAtFault);
  }
  return std::nullopt;
}

std::optional<Error> check_capacity(const Header& h) {
  if (h.capacity == 0 || h.capacity > kMaxCapacity) {
    return fault(Errc::kCapacity, offsetof(Header, capacity), "header: capacity is ", h.capacity,
                 ", expected 1 to ", kMaxCapacity, kWriterAtFault);
  }
  if (h.alignment == 0 || h.alignment > h.capacity) {
    return fault(Errc::kAlignment, offsetof(Header, alignment), "header: alignment is ", h.alignment,
                 ", expected 1 to the capacity, ", h.capacity, kWriterAtFault);
  }
  if (h.capacity % h.alignment != 0) {
    return fault(Errc::kCapacity, offsetof(Header, capacity), "header: capacity is ", h.capacity,
                 ", expected a multiple of the alignment, ", h.alignment, kWriterAtFault);
  }
  return std::nullopt;
}

std::optional<Error> check_ids(const Header& h) {
  const bool narrow = h.token_type == static_cast<std::uint8_t>(ElementType::kU16);
  const std::uint32_t largest = narrow ? 0xffff : kMaxTokenId;
  if (h.pad_id > largest) {
    return fault(Errc::kIdRange, offsetof(Header, pad_id), "header: pad_id is ", h.pad_id,
                 ", expected at most ", largest, narrow ? " for u16 tokens" : "", kWriterAtFault);
  }
  if (h.vocab_size > kMaxTokenId + 1u) {
    return fault(Errc::kIdRange, offsetof(Header, vocab_size), "header: vocab_size is ", h.vocab_size,
                 ", expected 0 (unknown) to ", kMaxTokenId + 1u, kWriterAtFault);
  }
  return std::nullopt;
}

template <typename... Parts>
std::optional<Error> bad_count(std::size_t field, const Parts&... parts) {
  return fault(Errc::kCounts, field, "header: ", parts..., kWriterAtFault);
}

std::optional<Error> check_caps(const Header& h) {
  struct Count {
    std::string_view name;
    std::size_t offset;
    std::uint64_t value;
  };
  const Count counts[] = {
      {"packs", offsetof(Header, packs), h.packs},
      {"sequences", offsetof(Header, sequences), h.sequences},
      {"tokens", offsetof(Header, tokens), h.tokens},
      {"samples", offsetof(Header, samples), h.samples},
      {"targets", offsetof(Header, targets), h.targets},
  };
  for (const Count& c : counts) {
    if (c.value > kMaxCount) return bad_count(c.offset, c.name, " is ", c.value, ", expected at most 2^62");
  }
  return std::nullopt;
}

std::optional<Error> check_counts(const Header& h) {
  if (auto error = check_caps(h)) return error;  // from here on sums of two counts cannot wrap
  if (h.sequences > h.tokens) {
    return bad_count(offsetof(Header, sequences), "sequences is ", h.sequences, ", expected at most tokens, ",
                     h.tokens);
  }
  if (h.packs > h.sequences) {
    return bad_count(offsetof(Header, packs), "packs is ", h.packs, ", expected at most sequences, ",
                     h.sequences);
  }
  if (h.tokens / h.capacity + (h.tokens % h.capacity != 0 ? 1 : 0) > h.packs) {
    return bad_count(offsetof(Header, tokens), "tokens is ", h.tokens, ", more than ", h.packs, " packs of ",
                     h.capacity, " hold");
  }
  if (h.targets > h.tokens + h.sequences) {
    return bad_count(offsetof(Header, targets), "targets is ", h.targets,
                     ", expected at most tokens + sequences, ", h.tokens + h.sequences);
  }
  const std::uint64_t longest = std::min<std::uint64_t>(h.capacity, h.tokens);
  if (h.longest_sequence > longest || (h.longest_sequence == 0) != (h.tokens == 0)) {
    return bad_count(offsetof(Header, longest_sequence), "longest_sequence is ", h.longest_sequence,
                     ", expected ", h.tokens == 0 ? 0 : 1, " to ", longest);
  }
  if (h.most_sequences_in_pack > h.sequences || (h.most_sequences_in_pack == 0) != (h.packs == 0)) {
    return bad_count(offsetof(Header, most_sequences_in_pack), "most_sequences_in_pack is ",
                     h.most_sequences_in_pack, ", expected ", h.packs == 0 ? 0 : 1, " to ", h.sequences);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> check_header_fields(const Header& header) {
  for (const auto check : {check_types, check_capacity, check_ids, check_counts}) {
    if (auto error = check(header)) return error;
  }
  return std::nullopt;
}

}  // namespace tokpack::format::detail
