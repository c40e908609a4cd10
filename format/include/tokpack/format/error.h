// The closed list of everything that can be wrong, and the error value that carries it.
//
// Numbers are pinned: they never change meaning and are never reused. 1..99 are findings about the bytes of
// a file and each has a clause in spec/format.md and (1..49) a vector in spec/vectors/invalid; 100..199
// belong to lib/core, 200..299 to lib/input.
//
// Ownership: an Error owns its text. Threads: values, no shared state.
//
//   if (error.code == Errc::kFileSize) { ... }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tokpack {

enum class Errc : std::uint16_t {
  // Page 0, found at open. In the order in which the parser looks.
  kTooShort = 1,            ///< fewer bytes than one page
  kNotTokpack = 2,          ///< another kind of file; the detail says which when it is recognised
  kTextModeDamage = 3,      ///< the magic was changed by a text-mode or 7-bit copy
  kUnsupportedVersion = 4,  ///< another draft or version, or its bytes are swapped
  kHeaderBytes = 5,         ///< header_bytes is not a multiple of 4096 in 4096..1 MiB, or exceeds the file
  kHeaderChecksum = 6,      ///< page 0 does not match its XXH3-64
  kRequiredFeature = 7,     ///< a required feature bit that this version does not know
  kReservedNotZero = 8,     ///< reserved bytes of page 0 are not zero
  kFileSize = 9,            ///< the file is longer or shorter than the header says
  kTokenType = 10,          ///< token_type is neither u16 nor u32
  kLabelKind = 11,          ///< label_kind is none of the three
  kCapacity = 12,           ///< capacity is 0, above 2^24 or not a multiple of the alignment
  kAlignment = 13,          ///< alignment is 0 or exceeds the capacity
  kIdRange = 14,            ///< pad id above 2^31-1 or the token type, or vocabulary size above 2^31
  kCounts = 15,             ///< counts contradict each other or the caps
  kSectionCount = 16,       ///< no sections, or more than header_bytes can hold
  kSectionKind = 17,        ///< section kind 0
  kUnknownRequired = 18,    ///< an unknown kind that is required to understand
  kElementType = 19,        ///< unknown element type, or not the one that the kind prescribes
  kScope = 20,              ///< unknown scope, or not the one that the kind prescribes
  kSectionFlags = 21,       ///< a reserved flag bit is set
  kSectionWidth = 22,       ///< width 0, or not the one that the kind prescribes
  kSectionName = 23,        ///< not [a-z0-9_]+ zero-padded, or not the name of the built-in kind
  kSectionUnaligned = 24,   ///< offset is not a multiple of 4096
  kSectionOverlap = 25,     ///< offset lies before the end of what precedes it (page 0 included)
  kSectionGap = 26,         ///< offset lies beyond the next multiple of 4096
  kSectionPastEnd = 27,     ///< offset or length run past the end of the file
  kSectionLength = 28,      ///< length is not what counts, width and element type make it
  kSectionDuplicate = 29,   ///< a built-in kind or a column name stands twice
  kSectionMissing = 30,     ///< a section that the header makes necessary is absent
  kSectionUnexpected = 31,  ///< a section that the header rules out is present
  kSectionOrder = 32,       ///< checksums are not last, or ragged values do not follow their offsets
  kReservedColumn = 33,     ///< a reserved column name with another type, scope or width
  kMetadataSize = 34,       ///< metadata is longer than the cap
  kFileEnd = 35,            ///< the last section does not end at the end of the file
  kDigest = 36,             ///< the content digest does not match page 0

  // Boundaries, found when a pack is asked for and by verify.
  kPackRange = 50,            ///< no such pack
  kSequenceRange = 51,        ///< no such sequence
  kPackTokenOffsets = 52,     ///< not 0 first, not ascending, above the capacity, or not ending at the count
  kPackSequenceOffsets = 53,  ///< the same for sequences; or a pack with no sequence
  kCuSeqlens = 54,            ///< not 0 first, not strictly ascending, or not ending at the pack's tokens
  kRaggedOffsets = 55,        ///< not 0 first, descending, or not ending at the count of values
  kAlignedSum = 56,           ///< sequence lengths rounded up to the alignment exceed the capacity
  kColumnRange = 57,          ///< no such column

  // Contents, found by verify alone.
  kBlockChecksum = 70,       ///< a block of 1 MiB does not match its XXH3-64
  kSectionHash = 71,         ///< a section's hash does not match its block checksums
  kGapNotZero = 72,          ///< a byte between sections is not zero
  kTokenRange = 73,          ///< a token id at or above the vocabulary size, or above 2^31-1
  kLossBitsPadding = 74,     ///< a bit past a pack's last token is set
  kLabelRange = 75,          ///< a label that is neither ignore_index nor a valid id
  kTargetsCount = 76,        ///< targets of a pack, or their total in the header, are miscounted
  kLongestSequence = 77,     ///< longest sequence or most sequences in a pack are not what the header says
  kSourceRange = 78,         ///< a source number at or above the sample count
  kFirstTokenPosition = 79,  ///< fragments of a sample overlap, or a position leaves 0..2^31-1
  kMetadata = 80,            ///< not canonical JSON, or a field of the wrong type
  kAccount = 81,             ///< the account does not add up
  kGroupNumbers = 82,        ///< group numbers do not start at 0, skip, or a group spans packs

  // lib/core.
  kIo = 100,              ///< a system call failed; the detail has its name and the system's words
  kNotRegularFile = 101,  ///< a folder, FIFO, device or socket where a regular file is needed
  kExists = 102,          ///< the output exists and force was not given
  kOptions = 103,         ///< options that contradict each other or their limits
  kOverlong = 104,        ///< samples or groups longer than the capacity, under `error`
  kSampleTokens = 105,    ///< a token id out of range in a sample handed to the writer
  kSampleShape = 106,     ///< lengths, labels or columns of a sample do not fit each other
  kLabelsMissing = 107,   ///< some samples have labels and some have none
  kGroupReturned = 108,   ///< a group id returned after another one
  kFinished = 109,        ///< the writer was already finished or has failed
  kOutOfMemory = 110,     ///< memory could not be had
  kFileChanged = 111,     ///< the file became shorter or other while it was read
  kTooLarge = 112,        ///< a limit of this version was passed
  kSamplerState = 113,    ///< a sampler's state that is damaged, newer, or of another dataset
  kCuda = 114,            ///< a CUDA call failed; the detail has its name and the runtime's words

  // lib/input.
  kJsonSyntax = 200,       ///< a line is not one JSON object
  kJsonField = 201,        ///< a field is missing, of another type, given twice or out of range
  kInputEncoding = 202,    ///< invalid UTF-8, a byte order mark of UTF-16, or compressed data of another kind
  kInputCompressed = 203,  ///< damaged or cut zstd data
  kInputArray = 204,       ///< a raw array, its header or its lengths do not fit
};

/// The name of a code as the spec and the vectors write it: "file_size" for kFileSize. Never empty for a
/// listed code; "unknown" otherwise.
std::string_view errc_name(Errc code) noexcept;

/// What went wrong. `detail` is one sentence or two without a final newline: what was expected, what was
/// found, where, and what to do. `offset` is a byte offset in the file that the error is about, or kNoOffset.
struct Error {
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
  Errc code{};
  std::uint64_t offset = kNoOffset;
  std::string detail;
};

}  // namespace tokpack
