#include "line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sniff.h"

namespace tokpack::input {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Bytes of `text` up to and with its last newline; 0 when there is none.
std::size_t last_cut(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? 0 : newline + 1;
}

}  // namespace

void PaddedBuffer::reserve(std::size_t capacity, std::size_t used) {
  if (capacity <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity + kPaddingBytes);
  if (used > 0) std::memcpy(larger.get(), data_.get(), used);
  data_ = std::move(larger);
  capacity_ = capacity;
}

LineReader::LineReader(std::unique_ptr<ByteStream> stream, std::string name, std::size_t chunk_bytes)
    : stream_(std::move(stream)),
      name_(std::move(name)),
      chunk_bytes_(std::max(chunk_bytes, kPaddingBytes)) {}

LineReader::LineReader(std::string_view text, std::string name, std::size_t chunk_bytes)
    : text_(text), name_(std::move(name)), chunk_bytes_(std::max(chunk_bytes, kPaddingBytes)) {}

Result<bool> LineReader::next(Chunk& chunk) {
  return stream_ ? next_in_stream(chunk) : next_in_memory(chunk);
}

Progress LineReader::progress() const {
  return stream_ ? stream_->progress() : Progress{offset_, text_.size()};
}

bool LineReader::is_plain() const { return !stream_ || stream_->is_plain(); }

Result<std::size_t> LineReader::start(std::string_view head) {
  started_ = true;
  if (auto error = refuse_foreign(head.substr(0, kSniffBytes), name_)) return std::move(*error);
  return head.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

Error LineReader::too_long(std::uint64_t offset) const {
  return {Errc::kTooLarge, is_plain() ? offset : Error::kNoOffset,
          fmt::format("{}: the line at byte {} is longer than {} bytes; expected one record a line", name_,
                      offset, kMaxLineBytes)};
}

Result<bool> LineReader::next_in_memory(Chunk& chunk) {
  if (!started_) {
    auto skip = start(text_);
    if (!skip) return skip.error();
    offset_ = *skip;
  }
  const std::string_view rest = text_.substr(static_cast<std::size_t>(offset_));
  if (rest.empty()) return false;
  std::size_t seen = 0, cut = 0;
  for (std::size_t wanted = chunk_bytes_; cut == 0; wanted *= 2) {
    const std::string_view window = rest.substr(0, wanted);
    // As a stream does, which knows its end only from a window that it cannot fill.
    const std::size_t more = last_cut(window.substr(seen));
    if (more > 0) cut = seen + more;
    if (window.size() < wanted) cut = window.size();
    if (cut == 0 && window.size() > kMaxLineBytes) return too_long(offset_);
    seen = window.size();
  }
  chunk.offset = offset_;
  chunk.text = rest.substr(0, cut);
  if (rest.size() - cut < kPaddingBytes) {
    chunk.storage.reserve(cut, 0);
    std::memcpy(chunk.storage.data(), rest.data(), cut);
    std::memset(chunk.storage.data() + cut, 0, kPaddingBytes);
    chunk.text = {chunk.storage.data(), cut};
  }
  offset_ += cut;
  return true;
}

Result<bool> LineReader::next_in_stream(Chunk& chunk) {
  if (ended_ && carry_bytes_ == 0) {
    if (error_) return *error_;
    return false;
  }
  PaddedBuffer& buffer = chunk.storage;
  std::size_t size = carry_bytes_, wanted = chunk_bytes_, cut = 0, skip = 0;
  while (wanted < size) wanted *= 2;
  buffer.reserve(wanted, 0);
  if (carry_bytes_ > 0) std::memcpy(buffer.data(), carry_.data(), carry_bytes_);
  carry_bytes_ = 0;
  while (true) {
    const std::size_t seen = size;
    if (!ended_ && size < wanted) {
      Filled filled = stream_->fill({buffer.data() + size, wanted - size});
      size += filled.bytes;
      ended_ = filled.end;
      error_ = std::move(filled.error);
    }
    if (!started_) {
      auto found = start({buffer.data(), size});
      if (!found) {
        ended_ = true;
        error_ = found.error();
        return *error_;
      }
      skip = *found;
    }
    // What was carried holds no newline: it stood behind the last one.
    const std::size_t more = last_cut({buffer.data() + seen, size - seen});
    if (more > 0) cut = seen + more;
    if (cut > 0 || ended_) break;
    if (size > kMaxLineBytes) {
      ended_ = true;
      error_ = too_long(offset_);
      return *error_;
    }
    wanted *= 2;
    buffer.reserve(wanted, size);
  }
  // The last line may lack its newline, unless an error cut it.
  if (ended_ && !error_) cut = size;
  carry_.reserve(size - cut, 0);
  if (size > cut) std::memcpy(carry_.data(), buffer.data() + cut, size - cut);
  carry_bytes_ = ended_ ? 0 : size - cut;
  std::memset(buffer.data() + size, 0, kPaddingBytes);
  if (cut <= skip) {
    offset_ += cut;
    if (error_) return *error_;
    if (ended_) return false;
  }
  chunk.text = std::string_view(buffer.data(), cut).substr(skip);
  chunk.offset = offset_ + skip;
  offset_ += cut;
  return true;
}

}  // namespace tokpack::input
