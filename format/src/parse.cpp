// parse_page0: the order of the checks. Spec: Opening.
#include "tokpack/format/parse.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "message.h"
#include "parse_detail.h"
#include "tokpack/format/checksum.h"

namespace tokpack::format {
namespace {

using detail::fault;
using detail::kWriterAtFault;

std::optional<Error> check_version(std::uint16_t major, std::uint16_t minor) {
  if (major == kVersionMajor && minor == kVersionMinor) return std::nullopt;
  // 0.1 with each number's bytes swapped is 0.256; 1.0 would be 256.0.
  const bool swapped = (major == 0 && minor == 0x0100) || (major == 0x0100 && minor == 0);
  return fault(Errc::kUnsupportedVersion, offsetof(Header, version_major), "format version ", major, '.',
               minor, swapped ? " (its bytes are swapped: written big-endian)" : "",
               " found, but this reader reads draft ", kVersionMajor, '.', kVersionMinor,
               " alone; read the file with the tokpack that wrote it, or pack the data again");
}

/// REQUIRES: begin and end are multiples of 8 within page 0.
std::optional<Error> check_zero(Bytes page0, std::uint64_t begin, std::uint64_t end, std::string_view what) {
  std::uint64_t any = 0;
  for (std::uint64_t i = begin; i < end; i += sizeof(any)) any |= load<std::uint64_t>(page0, i);
  if (any == 0) return std::nullopt;
  std::uint64_t i = begin;
  while (page0[i] == std::byte{0}) ++i;
  return fault(Errc::kReservedNotZero, i, "page 0: byte ", i, " is ", std::to_integer<unsigned>(page0[i]),
               ", expected 0 (", what, ')', kWriterAtFault);
}

std::optional<Error> check_page(Bytes page0, std::uint64_t file_size, const Header& header) {
  const std::uint64_t end = page0.size() - sizeof(std::uint64_t);
  const auto stored = load<std::uint64_t>(page0, end);
  const std::uint64_t computed = xxh3_64(page0.first(end));
  if (stored != computed) {
    return fault(Errc::kHeaderChecksum, end, "page 0: its XXH3-64 is ", detail::hex(computed), ", but ",
                 detail::hex(stored), " is stored at byte ", end, "; the first ", page0.size(),
                 " bytes are damaged: copy the file again from an intact one");
  }
  if (header.file_size != file_size) {
    return fault(Errc::kFileSize, offsetof(Header, file_size), "the file has ", file_size,
                 " bytes, but its header says ", header.file_size,
                 file_size < header.file_size ? "; it was cut short" : "; something was added to it",
                 ": copy it again from an intact one");
  }
  if (file_size > kMaxFileBytes) {
    return fault(Errc::kFileSize, offsetof(Header, file_size), "the file has ", file_size,
                 " bytes, more than the largest size, ", kMaxFileBytes);
  }
  const std::uint64_t unknown = header.required_features & ~kKnownRequiredFeatures;
  if (unknown != 0) {
    return fault(Errc::kRequiredFeature, offsetof(Header, required_features), "required feature bits ",
                 detail::hex(unknown), " are not known to this version: read the file with a newer tokpack");
  }
  return check_zero(page0, offsetof(Header, reserved), sizeof(Header), "reserved bytes of the header");
}

Result<FileLayout> parse_checked(Bytes page0, std::uint64_t file_size) {
  FileLayout layout;
  layout.by_kind.fill(-1);
  layout.header = load<Header>(page0, 0);
  const Header& header = layout.header;
  if (auto error = check_page(page0, file_size, header)) return *std::move(error);
  if (auto error = detail::check_header_fields(header)) return *std::move(error);

  const std::uint64_t fit = max_sections(page0.size());
  if (header.section_count == 0 || header.section_count > fit) {
    return fault(Errc::kSectionCount, offsetof(Header, section_count), "header: section_count is ",
                 header.section_count, ", expected 1 to ", fit, " (what page 0 of ", page0.size(),
                 " bytes holds)", kWriterAtFault);
  }
  const std::uint64_t table_end = sizeof(Header) + header.section_count * sizeof(SectionEntry);
  if (auto error =
          check_zero(page0, table_end, page0.size() - sizeof(std::uint64_t), "after the section table")) {
    return *std::move(error);
  }

  layout.sections.resize(header.section_count);
  std::memcpy(layout.sections.data(), page0.data() + sizeof(Header), table_end - sizeof(Header));
  if (auto error = detail::check_entries(header, layout.sections)) return *std::move(error);
  if (auto error = detail::check_table(layout)) return *std::move(error);

  const Hash128 digest = content_digest(header, layout.sections);
  if (digest != header.content_digest) {
    return fault(Errc::kDigest, offsetof(Header, content_digest), "header: content digest is ",
                 to_hex(header.content_digest), ", but header and section table make it ", to_hex(digest),
                 kWriterAtFault);
  }
  return layout;
}

Result<std::uint32_t> page0_bytes_checked(Bytes first_page, std::uint64_t file_size) {
  const Bytes head = first_page.first(std::min({first_page.size(), std::size_t{kPageBytes},
                                                static_cast<std::size_t>(std::min(file_size, kPageBytes))}));
  if (head.size() < kMagic.size() || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) {
    return detail::foreign_file(head, file_size);
  }
  if (head.size() < kPageBytes) {
    return fault(Errc::kTooShort, head.size(), "the file starts like a tokpack file but has only ",
                 head.size(), " bytes, fewer than the ", kPageBytes,
                 " of its first page; it was cut short: copy it again");
  }
  if (auto error = check_version(load<std::uint16_t>(head, offsetof(Header, version_major)),
                                 load<std::uint16_t>(head, offsetof(Header, version_minor)))) {
    return *std::move(error);
  }
  const auto bytes = load<std::uint32_t>(head, offsetof(Header, header_bytes));
  if (bytes % kPageBytes != 0 || bytes < kPageBytes || bytes > kMaxHeaderBytes) {
    return fault(Errc::kHeaderBytes, offsetof(Header, header_bytes), "header: header_bytes is ", bytes,
                 ", expected a multiple of ", kPageBytes, " up to ", kMaxHeaderBytes,
                 "; the file is damaged: copy it again from an intact one");
  }
  if (bytes > file_size) {
    return fault(Errc::kHeaderBytes, offsetof(Header, header_bytes), "header: header_bytes is ", bytes,
                 ", but the file has only ", file_size, " bytes; it was cut short: copy it again");
  }
  return bytes;
}

}  // namespace

Result<std::uint32_t> page0_bytes(Bytes first_page, std::uint64_t file_size) {
  try {
    return page0_bytes_checked(first_page, file_size);
  } catch (const std::bad_alloc&) {
    return Error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  }
}

Result<FileLayout> parse_page0(Bytes page0, std::uint64_t file_size) {
  try {
    const Result<std::uint32_t> bytes = page0_bytes_checked(page0, file_size);
    if (!bytes) return bytes.error();
    if (page0.size() < *bytes) {
      return fault(Errc::kHeaderBytes, offsetof(Header, header_bytes), "header: header_bytes is ", *bytes,
                   ", but only ", page0.size(), " bytes were handed to the parser");
    }
    return parse_checked(page0.first(*bytes), file_size);
  } catch (const std::bad_alloc&) {
    return Error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  }
}

const ColumnInfo* FileLayout::find_column(std::string_view name) const noexcept {
  for (const ColumnInfo& column : columns) {
    if (sections[column.section].name_view() == name) return &column;
  }
  return nullptr;
}

}  // namespace tokpack::format
