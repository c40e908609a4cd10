// Block checksums, section hashes and ranges of values: the pass that touches every byte of every section. A
// block is checked for range right after it was hashed, while it is in the cache.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tokpack/format/checksum.h"
#include "verify_run.h"
#include "verify_scan.h"

namespace tokpack::detail {

using format::Bytes;
using format::SectionEntry;
using format::SectionKind;

namespace {

/// What the values of a section must be below.
struct RangeRule {
  Errc code;
  std::uint64_t limit;                 ///< values are below it
  std::optional<std::int32_t> ignore;  ///< labels: this one is allowed too
  bool by_token;                       ///< rows are tokens, else sequences
};

std::optional<RangeRule> rule_for(const format::Header& header, const SectionEntry& entry) noexcept {
  const std::uint64_t ids =
      header.vocab_size != 0 ? header.vocab_size : std::uint64_t{format::kMaxTokenId} + 1;
  switch (SectionKind{entry.kind}) {
    case SectionKind::kTokens:
      return RangeRule{Errc::kTokenRange, ids, std::nullopt, true};
    case SectionKind::kLabels:
      return RangeRule{Errc::kLabelRange, ids, header.ignore_index, true};
    case SectionKind::kTailLabels:
      return RangeRule{Errc::kLabelRange, ids, header.ignore_index, false};
    case SectionKind::kSources:
      return RangeRule{Errc::kSourceRange, header.samples, std::nullopt, false};
    case SectionKind::kFirstTokenPositions:
      return RangeRule{Errc::kFirstTokenPosition, std::uint64_t{format::kMaxTokenId} + 1, std::nullopt,
                       false};
    default:
      return std::nullopt;
  }
}

template <typename T>
std::span<const T> all_of(Bytes bytes) noexcept {
  return format::view<T>(bytes, 0, bytes.size() / sizeof(T));
}

/// True when some value of the block breaks the rule.
bool breaks_rule(const RangeRule& rule, const SectionEntry& entry, Bytes block) noexcept {
  const ScanKernels& scan = scan_kernels();
  const std::uint64_t most = rule.limit - 1;
  if (rule.limit == 0) return !block.empty();
  switch (ElementType{entry.element_type}) {
    case ElementType::kU16: {
      const auto values = all_of<std::uint16_t>(block);
      return most < 0xffff &&
             scan.any_above_u16(values.data(), values.size(), static_cast<std::uint16_t>(most));
    }
    case ElementType::kU32: {
      const auto values = all_of<std::uint32_t>(block);
      return most < 0xffffffff &&
             scan.any_above_u32(values.data(), values.size(), static_cast<std::uint32_t>(most));
    }
    case ElementType::kI32: {
      const auto values = all_of<std::int32_t>(block);
      return scan.any_bad_label(values.data(), values.size(), rule.ignore.value_or(0),
                                static_cast<std::uint32_t>(most));
    }
    case ElementType::kU64: {
      const auto values = all_of<std::uint64_t>(block);
      return std::any_of(values.begin(), values.end(), [&](std::uint64_t v) { return v > most; });
    }
    default:
      return false;
  }
}

/// Value i of a block as a number, and whether it is allowed.
struct Value {
  std::int64_t number;
  bool allowed;
};
Value value_at(const RangeRule& rule, const SectionEntry& entry, Bytes block, std::size_t i) noexcept {
  switch (ElementType{entry.element_type}) {
    case ElementType::kU16: {
      const auto v = format::load<std::uint16_t>(block, i * 2);
      return {v, v < rule.limit};
    }
    case ElementType::kU32: {
      const auto v = format::load<std::uint32_t>(block, i * 4);
      return {v, v < rule.limit};
    }
    case ElementType::kI32: {
      const auto v = format::load<std::int32_t>(block, i * 4);
      return {v, v == rule.ignore || (v >= 0 && static_cast<std::uint64_t>(v) < rule.limit)};
    }
    default: {
      const auto v = format::load<std::uint64_t>(block, i * 8);
      return {static_cast<std::int64_t>(v), v < rule.limit};
    }
  }
}

/// One finding for each pack that has bad values in this block.
class RangeReport {
 public:
  RangeReport(VerifyRun& run, const SectionEntry& entry, const RangeRule& rule)
      : run_(run),
        entry_(entry),
        rule_(rule),
        offsets_(run.state, run.state.layout.find(rule.by_token ? SectionKind::kPackTokenOffsets
                                                                : SectionKind::kPackSequenceOffsets)) {}

  void block(std::uint64_t number, Bytes bytes) {
    const std::uint64_t size = format::element_bytes(entry_.element_type);
    std::optional<Finding> open;
    std::uint64_t more = 0, pack_end = 0;
    std::int64_t first_value = 0;
    const auto close = [&] {
      if (!open) return;
      const bool is_signed = entry_.element_type == static_cast<std::uint8_t>(ElementType::kI32);
      const std::string shown = is_signed ? fmt::format("{}", first_value)
                                          : fmt::format("{}", static_cast<std::uint64_t>(first_value));
      open->detail = fmt::format("{} {}{}", shown, why(),
                                 more > 0 ? fmt::format("; {} more like it in this "
                                                        "pack and block",
                                                        more)
                                          : "");
      run_.add(*open);
      open.reset();
    };
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
      const Value value = value_at(rule_, entry_, bytes, i);
      if (value.allowed) continue;
      const std::uint64_t row = number * (format::kBlockBytes / size) + i;
      if (open && row < pack_end) {
        ++more;
        continue;
      }
      close();
      const auto pack = pack_of_row(run_.header(), offsets_, row);
      // Without a pack the rest of the block is told together.
      pack_end = pack ? offsets_.at(*pack, 2)[1] : ~std::uint64_t{0};
      open = Finding{.code = rule_.code,
                     .section = std::string(entry_.name_view()),
                     .block = number,
                     .pack = pack,
                     .offset = entry_.offset + row * size};
      first_value = value.number;
      more = 0;
    }
    close();
  }

 private:
  std::string why() const {
    switch (rule_.code) {
      case Errc::kTokenRange:
        return fmt::format("is not a token id: ids are below {}", rule_.limit);
      case Errc::kLabelRange:
        return fmt::format("is neither the ignore index {} nor an id below {}", *rule_.ignore, rule_.limit);
      case Errc::kSourceRange:
        return fmt::format("is not a source: the file has {} samples", rule_.limit);
      default:
        return "is not a position: positions are at most 2^31-1";
    }
  }

  VerifyRun& run_;
  const SectionEntry& entry_;
  RangeRule rule_;
  SectionWindow<std::uint64_t> offsets_;
};

std::uint64_t block_length(const SectionEntry& entry, std::uint64_t block) noexcept {
  return std::min(format::kBlockBytes, entry.length - block * format::kBlockBytes);
}

struct BlockResult {
  std::uint64_t checksum = 0;
  bool breaks_rule = false;
};

void report_section(VerifyRun& run, const SectionEntry& entry, std::span<const std::uint64_t> stored,
                    std::span<const BlockResult> found) {
  const std::string name(entry.name_view());
  // The hash in page 0 can tell which side changed: the bytes or their stored checksum.
  std::vector<std::uint64_t> computed(found.size());
  std::transform(found.begin(), found.end(), computed.begin(),
                 [](const BlockResult& r) { return r.checksum; });
  const bool data_intact = format::section_hash(computed) == entry.hash;
  for (std::size_t b = 0; b < found.size(); ++b) {
    if (stored[b] == found[b].checksum) continue;
    run.add(
        {.code = Errc::kBlockChecksum,
         .section = name,
         .block = b,
         .offset = entry.offset + b * format::kBlockBytes,
         .detail = fmt::format("the {} bytes of the block have checksum {:016x}, stored is {:016x}{}",
                               block_length(entry, b), found[b].checksum, stored[b],
                               data_intact ? "; page 0 agrees with the bytes: it is the stored checksum that "
                                             "has changed"
                                           : "; the bytes have changed: copy the file again")});
  }
  if (const format::Hash128 hash = format::section_hash(stored); hash != entry.hash) {
    run.add({.code = Errc::kSectionHash,
             .section = name,
             .offset = entry.offset,
             .detail = fmt::format("the stored block checksums hash to {}, page 0 says {}",
                                   format::to_hex(hash), format::to_hex(entry.hash))});
  }
  const auto rule = rule_for(run.header(), entry);
  if (!rule) return;
  RangeReport ranges(run, entry, *rule);
  std::vector<std::byte> buffer;
  for (std::size_t b = 0; b < found.size(); ++b) {
    if (!found[b].breaks_rule) continue;
    ranges.block(b,
                 bytes_at(run.state, entry.offset + b * format::kBlockBytes, block_length(entry, b), buffer));
  }
}

}  // namespace

void verify_blocks(VerifyRun& run) {
  const auto& sections = run.state.layout.sections;
  const SectionEntry& checksums =
      sections.back();  // last, and of the right length: the parser has seen to it
  std::vector<std::byte> checksum_buffer;
  const Bytes checksum_bytes = bytes_at(run.state, checksums.offset, checksums.length, checksum_buffer);
  const auto stored = all_of<std::uint64_t>(checksum_bytes);

  std::vector<std::uint64_t> first_slot;  // of each section but the last
  std::vector<std::optional<RangeRule>> rules;
  std::uint64_t slots = 0;
  for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
    first_slot.push_back(slots);
    slots += format::block_count(sections[i].length);
    rules.push_back(rule_for(run.header(), sections[i]));
  }
  std::vector<BlockResult> found(static_cast<std::size_t>(slots));
  std::vector<std::vector<std::byte>> buffers(run.threads);
  constexpr std::uint64_t kAtOnce = 8;
  shared_loop(run.threads, (slots + kAtOnce - 1) / kAtOnce, [&](unsigned worker, std::uint64_t group) {
    for (std::uint64_t slot = group * kAtOnce; slot < std::min(slots, (group + 1) * kAtOnce); ++slot) {
      // The last section that begins at or before the slot: empty ones begin there too but come first.
      const auto after = std::upper_bound(first_slot.begin(), first_slot.end(), slot);
      const auto index = static_cast<std::size_t>(after - first_slot.begin()) - 1;
      const SectionEntry& entry = sections[index];
      const std::uint64_t block = slot - first_slot[index];
      const Bytes bytes = bytes_at(run.state, entry.offset + block * format::kBlockBytes,
                                   block_length(entry, block), buffers[worker]);
      BlockResult& result = found[static_cast<std::size_t>(slot)];
      result.checksum = format::xxh3_64(bytes);
      if (rules[index]) result.breaks_rule = breaks_rule(*rules[index], entry, bytes);
    }
  });

  for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
    const auto count = static_cast<std::size_t>(format::block_count(sections[i].length));
    const auto slot = static_cast<std::size_t>(first_slot[i]);
    report_section(run, sections[i], stored.subspan(slot, count), std::span(found).subspan(slot, count));
  }
  if (const format::Hash128 hash = format::xxh3_128(checksum_bytes); hash != checksums.hash) {
    run.add({.code = Errc::kSectionHash,
             .section = std::string(checksums.name_view()),
             .offset = checksums.offset,
             .detail = fmt::format("the block checksums themselves hash to {}, page 0 says {}",
                                   format::to_hex(hash), format::to_hex(checksums.hash))});
  }
}

}  // namespace tokpack::detail
