// Where packs go: the tokens to their place in the output, every other section to its spool.
//
// Keeps the counts that page 0 needs. Sections that most files do not have (first positions, tail labels)
// start when the first value needs them, filled up for the sequences before. `widen_tokens` and
// `set_label_kind` rewrite what is already out when later samples need more than was known.
//
// Errors: kIo. Throws std::bad_alloc. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "block_stream.h"
#include "planned_packs.h"
#include "shared_blocks.h"

namespace tokpack::detail {

/// What is written of a section besides its bytes.
struct SinkCounts {
  std::uint64_t packs = 0, sequences = 0, tokens = 0, targets = 0;
  std::uint64_t aligned_tokens = 0;
  std::uint32_t longest_sequence = 0, most_sequences_in_pack = 0;
};

class PackSink {
 public:
  /// Tokens begin as u32 where the options ask for it, so that a file without any has that type too.
  PackSink(const OutputFile& output, std::uint64_t tokens_offset, const WriterOptions& options);

  /// Appends one pack. REQUIRES: both windows of the pair have the sink's width and label kind.
  Result<void> write_pack(const WindowPair& sequences, const FragmentList& fragments, FragmentRun pack) {
    return append_pack<true>(sequences, fragments, pack);
  }
  /// Appends all of a pack but its tokens and explicit labels.
  Result<void> write_pack_facts(const WindowPair& sequences, const FragmentList& fragments,
                                FragmentRun pack) {
    return append_pack<false>(sequences, fragments, pack);
  }
  /// The tokens and explicit labels of packs, for `blocks` to write. REQUIRES: as write_pack;
  /// write_pack_facts is called for the same packs.
  Result<void> share_token_arrays(const WindowPair& sequences, const FragmentList& packs,
                                  SharedBlocks& blocks);

  bool wide() const noexcept { return wide_; }
  LabelKind label_kind() const noexcept { return label_kind_; }
  Result<void> widen_tokens();
  /// kAll to the others only before the first pack; kLossMask to kExplicit at any time.
  Result<void> set_label_kind(LabelKind kind);

  const SinkCounts& counts() const noexcept { return counts_; }

  // The sections, for finishing. Streams that never started are nullptr.
  BlockStream& tokens() noexcept { return tokens_; }
  BlockStream& pack_token_offsets() noexcept { return pack_token_offsets_; }
  BlockStream& pack_sequence_offsets() noexcept { return pack_sequence_offsets_; }
  BlockStream& cu_seqlens() noexcept { return cu_seqlens_; }
  BlockStream& loss_bits() noexcept { return loss_bits_; }
  BlockStream& labels() noexcept { return labels_; }
  BlockStream& targets() noexcept { return targets_; }
  BlockStream& sources() noexcept { return sources_; }
  bool sources_wide() const noexcept { return sources_wide_; }
  Result<void> widen_sources();
  BlockStream* first_positions() noexcept { return first_positions_ ? &*first_positions_ : nullptr; }
  BlockStream* tail_labels() noexcept { return tail_labels_ ? &*tail_labels_ : nullptr; }
  BlockStream* groups() noexcept { return groups_ ? &*groups_ : nullptr; }
  struct Column {
    BlockStream values;
    std::optional<BlockStream> offsets;  ///< ragged only
    std::uint64_t rows = 0;              ///< ragged: rows so far
  };
  std::span<Column> columns() noexcept { return columns_; }
  /// Writes the first offsets where no pack did: an empty dataset has them too.
  Result<void> start();

 private:
  template <bool kTokenArrays>
  Result<void> append_pack(const WindowPair& sequences, const FragmentList& fragments, FragmentRun pack);
  template <bool kTokenArrays>
  Result<std::uint32_t> write_sequence(const WindowPair::Place& place, const Fragment& fragment);
  Result<void> write_columns(const WindowPair::Place& place, const Fragment& fragment);
  Result<void> write_source(std::uint64_t source);

  const OutputFile* output_;
  std::int32_t ignore_index_;
  std::uint32_t alignment_;
  bool wide_ = false, sources_wide_ = false;
  LabelKind label_kind_ = LabelKind::kAll;
  SinkCounts counts_;
  BitBuffer pack_bits_;
  BlockStream tokens_, pack_token_offsets_, pack_sequence_offsets_, cu_seqlens_, loss_bits_, labels_,
      targets_, sources_;
  std::optional<BlockStream> first_positions_, tail_labels_, groups_;
  std::vector<Column> columns_;
};

}  // namespace tokpack::detail
