#include "sniff.h"

#include <fmt/format.h>

#include <array>

namespace tokpack::input {
namespace {

using namespace std::string_view_literals;

struct Foreign {
  std::string_view magic, what, advice;
};

// UTF-32 stands before UTF-16, whose mark is the start of its own.
constexpr std::array kForeign = {
    Foreign{"\x1f\x8b"sv, "gzip data", "decompress it on the way: gzip -dc FILE | tokpack pack - ..."},
    Foreign{"BZh"sv, "bzip2 data", "decompress it on the way: bzip2 -dc FILE | tokpack pack - ..."},
    Foreign{"\xfd"
            "7zXZ\0"sv,
            "xz data", "decompress it on the way: xz -dc FILE | tokpack pack - ..."},
    Foreign{"\x04\x22\x4d\x18"sv, "lz4 data", "decompress it on the way: lz4 -dc FILE | tokpack pack - ..."},
    Foreign{"PK\x03\x04"sv, "a zip archive",
            "unpack it first and pack what is in it (of an .npz the .npy arrays)"},
    Foreign{"\xff\xfe\0\0"sv, "UTF-32 text",
            "convert it: iconv -f UTF-32 -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"\0\0\xfe\xff"sv, "UTF-32 text",
            "convert it: iconv -f UTF-32 -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"\xff\xfe"sv, "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"\xfe\xff"sv, "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"{\0"sv, "UTF-16 text", "convert it: iconv -f UTF-16LE -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"\0{"sv, "UTF-16 text", "convert it: iconv -f UTF-16BE -t UTF-8 FILE | tokpack pack - ..."},
    Foreign{"PAR1"sv, "a Parquet file", "export it as JSON lines first"},
    Foreign{"ARROW1"sv, "an Arrow file", "export it as JSON lines first"},
    Foreign{"\x93NUMPY"sv, "a .npy array", "read it as a raw token array"},
    Foreign{"MMIDIDX\0"sv, "a Megatron or fairseq .idx", "read the .bin beside it as a raw token array"},
    Foreign{"\x89TPK"sv, "a tokpack file", "turn it back into JSON lines with tokpack export"},
    Foreign{"\x89HDF"sv, "an HDF5 file", "export it as JSON lines first"},
    Foreign{"\0"sv, "binary data",
            "JSON lines are UTF-8 text, one object a line; raw arrays are told by their names, .bin or .npy"},
};

}  // namespace

bool looks_like_zstd(std::string_view head) noexcept {
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return true;
  // A skippable frame: 0x184d2a50 to 0x184d2a5f.
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18"sv;
}

std::optional<Error> refuse_foreign(std::string_view head, const std::string& name) {
  for (const Foreign& foreign : kForeign) {
    if (!head.starts_with(foreign.magic)) continue;
    return Error{Errc::kInputEncoding, 0,
                 fmt::format("{}: expected text, plain or zstd-compressed, found {}; {}", name, foreign.what,
                             foreign.advice)};
  }
  return std::nullopt;
}

}  // namespace tokpack::input
