// Files that are not tokpack files: which kind they are, as far as a person would want to know.
#include <algorithm>
#include <cstring>

#include "message.h"
#include "parse_detail.h"

namespace tokpack::format::detail {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view what;
  std::string_view advice;
};
struct Signature {
  std::string_view bytes;
  Kind kind;
};

constexpr std::string_view kPackIt =
    "; `tokpack pack` makes a tokpack file from JSON lines or raw token arrays";
constexpr std::string_view kDecompress = "; decompress it first, if it holds a tokpack file";
constexpr std::string_view kBinaryCopy = "; copy it again in binary mode";

constexpr Signature kSignatures[] = {
    {"MMIDIDX\0\0"sv,
     {"a Megatron or fairseq index (.idx; its tokens stand in the .bin beside it)", kPackIt}},
    {"TNTIDX\0\0"sv, {"an old fairseq index (.idx)", kPackIt}},
    {"\x93NUMPY"sv, {"a NumPy array (.npy)", kPackIt}},
    {"GGUF"sv, {"a GGUF model", kPackIt}},
    {"PAR1"sv, {"a Parquet file", kPackIt}},
    {"ARROW1"sv, {"an Arrow file", kPackIt}},
    {"\xff\xff\xff\xff"sv, {"an Arrow stream", kPackIt}},
    {"\x28\xb5\x2f\xfd"sv, {"zstd-compressed data", kDecompress}},
    {"\x1f\x8b"sv, {"gzip-compressed data", kDecompress}},
    {"\xfd\x37zXZ\0"sv, {"xz-compressed data", kDecompress}},
    {"BZh"sv, {"bzip2-compressed data", kDecompress}},
    {"\x04\x22\x4d\x18"sv, {"lz4-compressed data", kDecompress}},
    {"PK\x03\x04"sv, {"a zip archive, such as .npz or a PyTorch checkpoint", kPackIt}},
    {"\x89HDF\r\n\x1a\n"sv, {"an HDF5 file", kPackIt}},
    {"SQLite format 3\0"sv, {"an SQLite database", kPackIt}},
    {"\x7f\x45LF"sv, {"a program (ELF)", kPackIt}},
    {"\x88\xd8\x34\x01"sv, {"an llm.c token file (.bin)", kPackIt}},
    {"\xa1\xd9\x34\x01"sv, {"an llm.c token file (.bin)", kPackIt}},
    {"\xef\xbf\xbdTPK"sv, {"a tokpack file that was converted as text to UTF-8", kBinaryCopy}},
    {"\xc2\x89TPK"sv, {"a tokpack file that was converted as text to UTF-8", kBinaryCopy}},
};

bool starts_with(Bytes head, std::string_view prefix) noexcept {
  return head.size() >= prefix.size() && std::memcmp(head.data(), prefix.data(), prefix.size()) == 0;
}

unsigned byte_at(Bytes head, std::size_t i) noexcept { return std::to_integer<unsigned>(head[i]); }

/// safetensors: u64 length of a JSON header, then its opening brace.
bool is_safetensors(Bytes head) noexcept {
  return head.size() >= 9 && byte_at(head, 8) == '{' && load<std::uint64_t>(head, 0) <= 100'000'000;
}

bool is_tar(Bytes head) noexcept {
  return head.size() >= 262 && std::memcmp(head.data() + 257, "ustar", 5) == 0;
}

bool is_text(Bytes head) noexcept {
  return std::all_of(head.begin(), head.end(), [](std::byte b) {
    const auto c = std::to_integer<unsigned>(b);
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0x7f);
  });
}

bool is_json(Bytes head) noexcept {
  for (const std::byte b : head) {
    const auto c = std::to_integer<unsigned>(b);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c == '{' || c == '[';
  }
  return false;
}

Kind recognise(Bytes head) noexcept {
  for (const Signature& s : kSignatures) {
    if (starts_with(head, s.bytes)) return s.kind;
  }
  if (is_safetensors(head)) return {"a safetensors file", kPackIt};
  if (is_tar(head)) return {"a tar archive", kPackIt};
  if (!is_text(head)) return {};
  return {is_json(head) ? "JSON text"sv : "a text file"sv, kPackIt};
}

std::string first_bytes(Bytes head) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : head.first(std::min<std::size_t>(head.size(), 8))) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

}  // namespace

Error foreign_file(Bytes head, std::uint64_t file_size) {
  if (file_size == 0) {
    return fault(Errc::kNotTokpack, 0, "the file is empty, expected a tokpack file", kPackIt);
  }
  if (starts_with(head, "\x89TPK"sv) || starts_with(head, "\x09TPK"sv)) {
    if (file_size >= kPageBytes) {
      return fault(
          Errc::kTextModeDamage, 0, "the magic is ", first_bytes(head),
          ", expected 89 54 50 4b 0d 0a 1a 0a: ",
          byte_at(head, 0) == 0x09 ? "a copy stripped the eighth bit" : "a copy converted line endings",
          "; copy the file again in binary mode");
    }
    return fault(Errc::kNotTokpack, 0, "the file has ", file_size,
                 " bytes and starts like a tokpack file; it was cut short or damaged: copy it again");
  }
  const Kind kind = recognise(head);
  if (kind.what.empty()) {
    return fault(Errc::kNotTokpack, 0, "not a tokpack file: it starts with ", first_bytes(head),
                 ", expected 89 54 50 4b 0d 0a 1a 0a", kPackIt);
  }
  return fault(Errc::kNotTokpack, 0, "not a tokpack file but ", kind.what, kind.advice);
}

}  // namespace tokpack::format::detail
