#include "file_finish.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tokpack/core/metadata.h"
#include "tokpack/format/checksum.h"

namespace tokpack::detail {
namespace {

using format::SectionEntry;
using format::SectionKind;

// Tokens, two kinds of pack offsets, cu_seqlens, loss bits or labels, targets, sources, first positions, tail
// labels, metadata, checksums.
constexpr std::uint64_t kMostBuiltIn = 11;

constexpr bool is_required(SectionKind kind) noexcept {
  return kind <= SectionKind::kSources || kind == SectionKind::kTailLabels;
}

class FileFinisher {
 public:
  FileFinisher(const OutputFile& output, std::uint64_t header_bytes) noexcept
      : output_(output), header_bytes_(header_bytes), end_(header_bytes) {}

  /// `type` none = the one that the kind prescribes.
  Result<void> add(SectionKind kind, BlockStream& stream, std::optional<ElementType> type = std::nullopt) {
    const auto rule = std::find_if(format::kBuiltInKinds.begin(), format::kBuiltInKinds.end(),
                                   [kind](const format::KindRule& r) { return r.kind == kind; });
    const auto element = type ? static_cast<std::uint8_t>(*type) : rule->element_type;
    return add_entry(kind, rule->name, element, rule->scope, 1, stream);
  }

  Result<void> add_entry(SectionKind kind, std::string_view name, std::uint8_t type, Scope scope,
                         std::uint16_t width, BlockStream& stream) {
    if (auto ok = stream.finish(); !ok) return ok;
    SectionEntry entry{};
    entry.kind = static_cast<std::uint16_t>(kind);
    entry.element_type = type;
    entry.scope = static_cast<std::uint8_t>(scope);
    entry.flags = is_required(kind) ? format::kSectionRequired : std::uint16_t{0};
    entry.width = width;
    entry.offset = format::page_up(end_);
    entry.length = stream.size();
    entry.hash = format::section_hash(stream.checksums());
    std::copy(name.begin(), name.end(), entry.name.begin());
    end_ = entry.offset + entry.length;
    if (kind != SectionKind::kTokens) {  // the tokens are in their place
      if (auto ok = stream.copy_to_output(entry.offset); !ok) return ok;
    }
    checksums_.insert(checksums_.end(), stream.checksums().begin(), stream.checksums().end());
    stream.close();
    entries_.push_back(entry);
    return {};
  }

  Result<void> add_checksums() {
    BlockStream stream(output_);
    if (auto ok = stream.append_values(checksums_.data(), checksums_.size()); !ok) return ok;
    const Hash128 hash = format::xxh3_128(std::as_bytes(std::span(checksums_)));
    if (auto ok = add(SectionKind::kChecksums, stream); !ok) return ok;
    entries_.back().hash = hash;
    return {};
  }

  Result<FinishedFile> write_page0(format::Header header) {
    header.magic = format::kMagic;
    header.version_major = format::kVersionMajor;
    header.version_minor = format::kVersionMinor;
    header.header_bytes = static_cast<std::uint32_t>(header_bytes_);
    header.file_size = end_;
    header.section_count = static_cast<std::uint16_t>(entries_.size());
    header.content_digest = format::content_digest(header, entries_);
    std::vector<std::byte> page(header_bytes_);
    std::memcpy(page.data(), &header, sizeof header);
    std::memcpy(page.data() + sizeof header, entries_.data(), entries_.size() * sizeof(SectionEntry));
    const std::uint64_t hash =
        format::xxh3_64(format::Bytes(page).first(page.size() - sizeof(std::uint64_t)));
    std::memcpy(page.data() + page.size() - sizeof hash, &hash, sizeof hash);
    if (auto ok = write_all(output_.descriptor(), output_.path(), 0, page); !ok) return ok.error();
    return FinishedFile{end_, header.content_digest};
  }

 private:
  const OutputFile& output_;
  std::uint64_t header_bytes_, end_;
  std::vector<SectionEntry> entries_;
  std::vector<std::uint64_t> checksums_;
};

Result<void> add_columns(FileFinisher& file, PackSink& sink, const WriterOptions& options) {
  constexpr auto kU32 = static_cast<std::uint8_t>(ElementType::kU32);
  constexpr auto kU64 = static_cast<std::uint8_t>(ElementType::kU64);
  if (BlockStream* groups = sink.groups()) {
    if (auto ok = file.add_entry(SectionKind::kColumn, "group", kU32, Scope::kSequence, 1, *groups); !ok)
      return ok;
  }
  for (std::size_t c = 0; c < options.columns.size(); ++c) {
    const ColumnSpec& spec = options.columns[c];
    PackSink::Column& column = sink.columns()[c];
    if (column.offsets) {
      auto ok = file.add_entry(SectionKind::kColumnOffsets, spec.name, kU64, spec.scope, 1, *column.offsets);
      if (!ok) return ok;
    }
    const SectionKind kind = spec.ragged ? SectionKind::kColumnValues : SectionKind::kColumn;
    auto ok = file.add_entry(kind, spec.name, static_cast<std::uint8_t>(spec.type), spec.scope, spec.width,
                             column.values);
    if (!ok) return ok;
  }
  return {};
}

}  // namespace

std::uint64_t planned_header_bytes(const WriterOptions& options) noexcept {
  std::uint64_t count = kMostBuiltIn + (options.groups ? 1 : 0);
  for (const ColumnSpec& column : options.columns) count += column.ragged ? 2 : 1;
  return format::header_bytes_for(count);
}

Result<FinishedFile> finish_file(const OutputFile& output, PackSink& sink, const WriterOptions& options,
                                 LabelKind label_kind, std::uint64_t samples, const std::string& metadata) {
  if (metadata.size() > format::kMaxMetadataBytes) {
    return Error{Errc::kTooLarge, Error::kNoOffset,
                 "the metadata would take " + std::to_string(metadata.size()) + " bytes; at most " +
                     std::to_string(format::kMaxMetadataBytes) +
                     " are possible. Give fewer or shorter texts"};
  }
  // What no reader would take is not written.
  if (const auto read_back = parse_metadata(metadata); !read_back) {
    if (read_back.error().code == Errc::kOutOfMemory) return read_back.error();
    return Error{Errc::kTooLarge, Error::kNoOffset,
                 read_back.error().detail + ". Give fewer texts or inputs"};
  }
  if (samples > 0xffffffffu) {
    if (auto ok = sink.widen_sources(); !ok) return ok.error();
  }
  if (auto ok = sink.start(); !ok) return ok.error();
  const SinkCounts& counts = sink.counts();
  const ElementType token_type = sink.wide() ? ElementType::kU32 : ElementType::kU16;
  const ElementType source_type = sink.sources_wide() ? ElementType::kU64 : ElementType::kU32;

  FileFinisher file(output, planned_header_bytes(options));
  Result<void> ok = file.add(SectionKind::kTokens, sink.tokens(), token_type);
  if (ok) ok = file.add(SectionKind::kPackTokenOffsets, sink.pack_token_offsets());
  if (ok) ok = file.add(SectionKind::kPackSequenceOffsets, sink.pack_sequence_offsets());
  if (ok) ok = file.add(SectionKind::kCuSeqlens, sink.cu_seqlens());
  if (ok && label_kind == LabelKind::kLossMask) ok = file.add(SectionKind::kLossBits, sink.loss_bits());
  if (ok && label_kind == LabelKind::kExplicit) ok = file.add(SectionKind::kLabels, sink.labels());
  if (ok) ok = file.add(SectionKind::kTargets, sink.targets());
  if (ok) ok = file.add(SectionKind::kSources, sink.sources(), source_type);
  if (ok && sink.first_positions() != nullptr) {
    ok = file.add(SectionKind::kFirstTokenPositions, *sink.first_positions());
  }
  if (ok && sink.tail_labels() != nullptr) ok = file.add(SectionKind::kTailLabels, *sink.tail_labels());
  if (ok) ok = add_columns(file, sink, options);
  if (!ok) return ok.error();
  BlockStream text(output);
  if (ok = text.append(metadata.data(), metadata.size()); !ok) return ok.error();
  if (ok = file.add(SectionKind::kMetadata, text); !ok) return ok.error();
  if (ok = file.add_checksums(); !ok) return ok.error();

  format::Header header{};
  header.packs = counts.packs;
  header.sequences = counts.sequences;
  header.tokens = counts.tokens;
  header.samples = samples;
  header.targets = counts.targets;
  header.capacity = options.plan.capacity;
  header.alignment = options.plan.alignment;
  header.token_type = static_cast<std::uint8_t>(token_type);
  header.label_kind = static_cast<std::uint8_t>(label_kind);
  header.ignore_index = options.ignore_index;
  header.pad_id = options.pad_id;
  header.vocab_size = options.vocab_size;
  header.longest_sequence = counts.longest_sequence;
  header.most_sequences_in_pack = counts.most_sequences_in_pack;
  return file.write_page0(header);
}

}  // namespace tokpack::detail
