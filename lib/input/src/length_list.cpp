#include "length_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "quote.h"
#include "record_parser.h"

namespace tokpack::input {
namespace {

constexpr std::uint64_t kPart = 1 << 15;
constexpr std::size_t kTextBytes = 1 << 16;
constexpr std::int64_t kMaxLength = 0x7fffffff;

Error bad(std::string detail) { return {Errc::kInputArray, Error::kNoOffset, std::move(detail)}; }

}  // namespace

Result<LengthList> LengthList::open(const std::string& path) {
  LengthList list;
  list.name_ = escaped_name(path);
  // Opened as bytes first: a text has any size, and a type is asked of no .npy.
  auto array = ArrayFile::open(path, NumberType::kU8, 0);
  if (!array) return array.error();
  if (array->has_header()) {
    if (array->type() == NumberType::kBool || array->type() == NumberType::kU8) {
      return bad(fmt::format("{}: expected lengths of u16, u32, u64, i32 or i64, found {}", list.name_,
                             number_type_name(array->type())));
    }
    list.array_ = std::move(*array);
    return list;
  }
  auto stream = open_stream_raw(path);
  if (!stream) return stream.error();
  list.lines_ = std::make_unique<LineReader>(std::move(*stream), list.name_, kTextBytes);
  return list;
}

Result<std::optional<std::uint32_t>> LengthList::next() {
  while (taken_ == part_.size()) {
    if (ended_) return std::optional<std::uint32_t>();
    part_.clear();
    taken_ = 0;
    auto refilled = lines_ ? refill_from_text() : refill();
    if (!refilled) return refilled.error();
  }
  return std::optional<std::uint32_t>(part_[taken_++]);
}

Result<void> LengthList::refill() {
  const std::uint64_t count = std::min(kPart, array_->count() - read_);
  ended_ = read_ + count == array_->count();
  std::optional<std::uint64_t> wrong;
  std::uint64_t index = read_;
  auto read = array_->for_each(read_, count, [&](std::int64_t value) {
    if ((value < 0 || value > kMaxLength) && !wrong) wrong = index;
    part_.push_back(static_cast<std::uint32_t>(value));
    ++index;
  });
  if (!read) return read;
  if (wrong) {
    return bad(fmt::format("{}: position {}: expected a length from 0 to {}", name_, *wrong, kMaxLength));
  }
  read_ += count;
  return {};
}

Result<void> LengthList::refill_from_text() {
  Chunk chunk;
  auto more = lines_->next(chunk);
  if (!more) return more.error();
  ended_ = !*more;
  if (ended_) return {};
  std::optional<Error> wrong;
  const std::uint64_t lines =
      for_each_line(chunk.text, [&](std::string_view line, std::uint64_t number, std::size_t) {
        const std::size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
        const std::string_view digits = line.substr(first, last - first + 1);
        std::int64_t value = -1;
        const char* const end = digits.data() + digits.size();
        const auto read = std::from_chars(digits.data(), end, value);
        if (read.ec != std::errc{} || read.ptr != end || value < 0 || value > kMaxLength) {
          wrong = bad(fmt::format("{}:{}: expected a length from 0 to {}, found {}", name_,
                                  read_ + number + 1, kMaxLength, escaped(digits, 40)));
          return false;
        }
        part_.push_back(static_cast<std::uint32_t>(value));
        return true;
      });
  read_ += lines;
  if (wrong) return std::move(*wrong);
  return {};
}

}  // namespace tokpack::input
