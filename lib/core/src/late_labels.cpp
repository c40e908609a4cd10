// Loss bits into explicit labels, over everything that is already written: one pass over the tokens.
#include <algorithm>
#include <vector>

#include "pack_sink.h"

namespace tokpack::detail {
namespace {

constexpr std::uint64_t kOffsetsAtOnce = 4096;

struct PackRange {
  std::uint64_t number, first_token, last_token;
};

}  // namespace

Result<void> PackSink::set_label_kind(LabelKind kind) {
  const LabelKind had = label_kind_;
  label_kind_ = kind;
  if (had != LabelKind::kLossMask || kind != LabelKind::kExplicit) return {};

  std::vector<std::uint64_t> offsets;
  std::vector<std::byte> bits;
  std::vector<std::uint16_t> narrow;
  std::vector<std::uint32_t> tokens;
  std::vector<std::int32_t> out;
  const auto convert = [&](const PackRange& pack) -> Result<void> {
    const std::size_t count = static_cast<std::size_t>(pack.last_token - pack.first_token);
    bits.resize((count + 7) / 8);
    tokens.resize(count);
    out.resize(count);
    const std::uint64_t bits_begin = format::loss_bits_begin(pack.first_token, pack.number);
    if (auto ok = loss_bits_.read(bits_begin, bits); !ok) return ok;
    if (wide_) {
      if (auto ok = tokens_.read(pack.first_token * 4, std::as_writable_bytes(std::span(tokens))); !ok)
        return ok;
    } else {
      narrow.resize(count);
      if (auto ok = tokens_.read(pack.first_token * 2, std::as_writable_bytes(std::span(narrow))); !ok)
        return ok;
      std::copy(narrow.begin(), narrow.end(), tokens.begin());
    }
    for (std::size_t t = 0; t < count; ++t) {
      const bool trained = ((std::to_integer<unsigned>(bits[t / 8]) >> (t % 8)) & 1) != 0;
      out[t] = trained ? static_cast<std::int32_t>(tokens[t]) : ignore_index_;
    }
    return labels_.append_values(out.data(), count);
  };

  for (std::uint64_t first = 0; first < counts_.packs; first += kOffsetsAtOnce) {
    const std::uint64_t count = std::min(kOffsetsAtOnce, counts_.packs - first);
    offsets.resize(static_cast<std::size_t>(count + 1));
    if (auto ok = pack_token_offsets_.read(first * 8, std::as_writable_bytes(std::span(offsets))); !ok)
      return ok;
    for (std::uint64_t p = 0; p < count; ++p) {
      const std::size_t i = static_cast<std::size_t>(p);
      if (auto ok = convert({first + p, offsets[i], offsets[i + 1]}); !ok) return ok;
    }
  }
  loss_bits_.close();
  return {};
}

}  // namespace tokpack::detail
