#include "array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "quote.h"

namespace tokpack::input {

Result<ArrayFile> ArrayFile::open(const std::string& path, std::optional<NumberType> bare_type,
                                  std::uint64_t skip) {
  auto file = File::open(path);
  if (!file) return file.error();
  ArrayFile array(std::move(*file));
  array.name_ = escaped_name(path);
  const std::uint64_t size = array.file_.size();
  std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(size, kMaxNpyHeaderBytes)));
  if (auto read = array.file_.read_at(0, head); !read) return read.error();
  const auto bad = [&array](Errc code, const std::string& text) {
    return Error{code, Error::kNoOffset, fmt::format("{}: {}", array.name_, text)};
  };

  if (has_npy_magic(head)) {
    if (skip != 0)
      return bad(Errc::kOptions, "a .npy file says itself where its numbers start; skip no bytes");
    auto header = parse_npy_header(head);
    if (!header) return bad(header.error().code, header.error().detail);
    array.has_header_ = true;
    array.type_ = header->type;
    array.offset_ = header->data_offset;
    array.count_ = header->count;
    const std::uint64_t bytes = size - array.offset_;
    if (bytes % number_bytes(array.type_) != 0 || bytes / number_bytes(array.type_) != array.count_) {
      return bad(Errc::kInputArray,
                 fmt::format("the header says {} numbers of {}, {} bytes follow it, which are {:.1f}",
                             array.count_, number_type_name(array.type_), bytes,
                             static_cast<double>(bytes) / number_bytes(array.type_)));
    }
    return array;
  }
  constexpr std::string_view kIndexMagic = "MMIDIDX";
  if (head.size() >= kIndexMagic.size() &&
      std::equal(kIndexMagic.begin(), kIndexMagic.end(), head.begin(),
                 [](char c, std::byte b) { return static_cast<std::byte>(c) == b; })) {
    return bad(Errc::kInputArray, "this is a Megatron or fairseq .idx; read the .bin beside it");
  }
  if (!bare_type) {
    return bad(Errc::kOptions, "no .npy header says the type of the numbers; give one of u16, u32, i32, i64");
  }
  array.type_ = *bare_type;
  array.offset_ = skip;
  const std::uint32_t width = number_bytes(array.type_);
  if (skip > size) {
    return bad(Errc::kInputArray,
               fmt::format("{} header bytes are to be skipped, the file has {}", skip, size));
  }
  if ((size - skip) % width != 0) {
    return bad(Errc::kInputArray,
               fmt::format("{} bytes are no whole number of {}, which take {} each; is the type right?",
                           size - skip, number_type_name(array.type_), width));
  }
  array.count_ = (size - skip) / width;
  return array;
}

Result<void> ArrayFile::read_part(std::uint64_t first, std::size_t count) {
  part_.resize(count * number_bytes(type_));
  return file_.read_at(byte_of(first), part_);
}

}  // namespace tokpack::input
