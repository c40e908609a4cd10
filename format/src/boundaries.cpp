// The checks of every pack access. The happy paths are short, free of allocation and almost of branches;
// whatever builds a message stands apart. Spec: Access.
#include "message.h"
#include "tokpack/format/parse.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tokpack::format {
namespace {

using detail::fault;

/// True when every entry is greater than the one before it.
bool ascends(const std::int32_t* entries, std::size_t count) noexcept {
  std::size_t i = 1;
#if defined(__SSE2__)
  const auto at = [entries](std::size_t k) noexcept {
    return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(entries + k)));
  };
  if (count >= 5) {
    __m128i ok = _mm_set1_epi32(-1);
    for (; i + 4 <= count; i += 4) ok = _mm_and_si128(ok, _mm_cmpgt_epi32(at(i), at(i - 1)));
    // The last four pairs once more instead of a loop over the rest.
    ok = _mm_and_si128(ok, _mm_cmpgt_epi32(at(count - 4), at(count - 5)));
    return _mm_movemask_epi8(ok) == 0xffff;
  }
#endif
  bool ok = true;
  for (; i < count; ++i) ok &= entries[i] > entries[i - 1];
  return ok;
}

/// REQUIRES: cu_seqlens is not empty.
[[gnu::noinline, gnu::cold]] std::int64_t first_bad(std::span<const std::int32_t> cu_seqlens) noexcept {
  if (cu_seqlens[0] != 0) return 0;
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    if (cu_seqlens[i] <= cu_seqlens[i - 1]) return static_cast<std::int64_t>(i);
  }
  return static_cast<std::int64_t>(cu_seqlens.size() - 1);
}

[[gnu::noinline, gnu::cold]] Error bad_bounds(const Header& h, std::uint64_t pack, const PackBounds& b) {
  if (pack >= h.packs) {
    return fault(Errc::kPackRange, Error::kNoOffset, "pack ", pack, " asked for, but the file has ", h.packs);
  }
  const auto entries = [pack](std::uint64_t begin, std::uint64_t end) {
    return detail::concat("pack ", pack, ": entries ", pack, " and ", pack + 1, " are ", begin, " and ", end);
  };
  constexpr std::string_view kVerify = "; the file is damaged: `tokpack verify` shows where";
  const std::string tokens = entries(b.token_begin, b.token_end);
  const auto bad_tokens = [&](const auto&... parts) {
    return fault(Errc::kPackTokenOffsets, Error::kNoOffset, "pack_token_offsets, ", tokens, ", ", parts...,
                 kVerify);
  };
  if (b.token_begin >= b.token_end) return bad_tokens("expected to ascend");
  if (b.token_end > h.tokens) return bad_tokens("expected at most the file's ", h.tokens, " tokens");
  if (b.token_end - b.token_begin > h.capacity)
    return bad_tokens("further apart than the capacity, ", h.capacity);
  if (pack == 0 && b.token_begin != 0) return bad_tokens("expected 0 first");
  if (pack + 1 == h.packs && b.token_end != h.tokens) {
    return bad_tokens("expected the file's ", h.tokens, " tokens last");
  }
  const std::string sequences = entries(b.sequence_begin, b.sequence_end);
  const auto bad_sequences = [&](const auto&... parts) {
    return fault(Errc::kPackSequenceOffsets, Error::kNoOffset, "pack_sequence_offsets, ", sequences, ", ",
                 parts..., kVerify);
  };
  if (b.sequence_begin >= b.sequence_end) return bad_sequences("expected to ascend");
  if (b.sequence_end > h.sequences)
    return bad_sequences("expected at most the file's ", h.sequences, " sequences");
  if (b.sequence_end - b.sequence_begin > b.token_end - b.token_begin) {
    return bad_sequences("more sequences than the pack's ", b.token_end - b.token_begin, " tokens");
  }
  if (pack == 0 && b.sequence_begin != 0) return bad_sequences("expected 0 first");
  return bad_sequences("expected the file's ", h.sequences, " sequences last");
}

[[gnu::noinline, gnu::cold]] Result<PackBounds> refuse(const Header& h, std::uint64_t pack,
                                                       const PackBounds& b) {
  try {
    return bad_bounds(h, pack, b);
  } catch (const std::bad_alloc&) {
    return Error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  }
}

}  // namespace

Result<PackBounds> check_pack_bounds(const Header& header, std::uint64_t pack,
                                     std::span<const std::uint64_t, 2> token_offsets,
                                     std::span<const std::uint64_t, 2> sequence_offsets) {
  const PackBounds b{token_offsets[0], token_offsets[1], sequence_offsets[0], sequence_offsets[1]};
  const std::uint64_t tokens = b.token_end - b.token_begin;  // of ascending pairs; the others are bad anyway
  const std::uint64_t sequences = b.sequence_end - b.sequence_begin;
  const bool last = pack == header.packs - 1;
  const bool bad = (pack >= header.packs) | (b.token_begin >= b.token_end) | (b.token_end > header.tokens) |
                   (tokens > header.capacity) | (b.sequence_begin >= b.sequence_end) |
                   (b.sequence_end > header.sequences) | (sequences > tokens) |
                   ((pack == 0) & ((b.token_begin | b.sequence_begin) != 0)) |
                   (last & ((b.token_end != header.tokens) | (b.sequence_end != header.sequences)));
  if (bad) [[unlikely]]
    return refuse(header, pack, b);
  return b;
}

std::int64_t check_cu_seqlens(std::span<const std::int32_t> cu_seqlens, std::uint64_t tokens) noexcept {
  const std::size_t count = cu_seqlens.size();
  if (count == 0) [[unlikely]]
    return 0;
  const bool ok = cu_seqlens[0] == 0 && static_cast<std::uint32_t>(cu_seqlens[count - 1]) == tokens &&
                  ascends(cu_seqlens.data(), count);
  return ok ? -1 : first_bad(cu_seqlens);
}

std::uint64_t scope_rows(const Header& header, Scope scope) noexcept {
  switch (scope) {
    case Scope::kPack:
      return header.packs;
    case Scope::kSequence:
      return header.sequences;
    case Scope::kToken:
      return header.tokens;
    case Scope::kFile:
      break;
  }
  return 0;
}

bool valid_section_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kNameBytes) return false;
  for (const char c : name) {
    const bool valid = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!valid) return false;
  }
  return true;
}

}  // namespace tokpack::format
