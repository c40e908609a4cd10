#include "block_stream.h"

#include <algorithm>

#include "tokpack/format/checksum.h"

namespace tokpack::detail {

Result<int> BlockStream::file() {
  if (in_place_) return output_->descriptor();
  if (!spool_.is_open()) {
    auto opened = output_->open_spool();
    if (!opened) return opened.error();
    spool_ = std::move(*opened);
  }
  return spool_.number();
}

Result<void> BlockStream::flush_block() {
  const format::Bytes block(buffer_.data(), filled_);
  checksums_.push_back(format::xxh3_64(block));
  auto target = file();
  if (!target) return target.error();
  if (auto ok = write_all(*target, output_->path(), base_ + flushed_, block); !ok) return ok;
  flushed_ += filled_;
  filled_ = 0;
  return {};
}

Result<std::size_t> BlockStream::reserve_blocks(std::size_t count) {
  if (filled_ != 0) {
    if (auto ok = flush_block(); !ok) return ok.error();
  }
  if (auto target = file(); !target) return target.error();
  const std::size_t first = checksums_.size();
  checksums_.resize(first + count);
  flushed_ += std::uint64_t{count} * kBlock;
  return first;
}

Result<void> BlockStream::write_block(std::size_t number, format::Bytes block) {
  checksums_[number] = format::xxh3_64(block);
  return write_all(in_place_ ? output_->descriptor() : spool_.number(), output_->path(),
                   base_ + std::uint64_t{number} * kBlock, block);
}

Result<void> BlockStream::append_across(const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    if (filled_ == kBlock) {
      if (auto ok = flush_block(); !ok) return ok;
    }
    const std::size_t part = std::min(size, kBlock - filled_);
    std::memcpy(room(part), bytes, part);
    filled_ += part;
    bytes += part;
    size -= part;
  }
  return {};
}

Result<void> BlockStream::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset < flushed_) {
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), flushed_ - offset));
    const int source = in_place_ ? output_->descriptor() : spool_.number();
    if (auto ok = read_all(source, output_->path(), base_ + offset, out.first(part)); !ok) return ok;
    out = out.subspan(part);
    offset += part;
  }
  if (!out.empty()) std::memcpy(out.data(), buffer_.data() + (offset - flushed_), out.size());
  return {};
}

template <typename Narrow, typename Wide>
Result<void> BlockStream::widen() {
  constexpr std::size_t kPerBlock = kBlock / sizeof(Wide);
  const std::uint64_t count = size() / sizeof(Narrow);
  if (count == 0) return {};
  auto target = file();
  if (!target) return target.error();
  // All old elements go to the file, so that each block below reads from one place.
  if (filled_ > 0) {
    const format::Bytes rest(buffer_.data(), filled_);
    if (auto ok = write_all(*target, output_->path(), base_ + flushed_, rest); !ok) return ok;
    flushed_ += filled_;
    filled_ = 0;
  }
  const std::uint64_t blocks = (count + kPerBlock - 1) / kPerBlock;
  std::vector<Narrow> narrow(kPerBlock);
  std::vector<Wide> wide(kPerBlock);
  GrowArray<std::byte> last;  // the unfinished block becomes the buffer
  std::vector<std::uint64_t> checksums(count / kPerBlock);
  for (std::uint64_t b = blocks; b-- > 0;) {
    const std::uint64_t first = b * kPerBlock;
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(kPerBlock, count - first));
    const std::span<Narrow> in = std::span(narrow).first(n);
    if (auto ok = read(first * sizeof(Narrow), std::as_writable_bytes(in)); !ok) return ok;
    std::copy(in.begin(), in.end(), wide.begin());
    const format::Bytes bytes = std::as_bytes(std::span(wide).first(n));
    if (n < kPerBlock) {
      last.append(bytes.data(), bytes.size());
      continue;
    }
    checksums[b] = format::xxh3_64(bytes);
    if (auto ok = write_all(*target, output_->path(), base_ + b * kBlock, bytes); !ok) return ok;
  }
  checksums_ = std::move(checksums);
  flushed_ = count / kPerBlock * kBlock;
  filled_ = last.size();
  buffer_ = std::move(last);
  return {};
}

Result<void> BlockStream::widen_u16_to_u32() { return widen<std::uint16_t, std::uint32_t>(); }
Result<void> BlockStream::widen_u32_to_u64() { return widen<std::uint32_t, std::uint64_t>(); }

Result<void> BlockStream::finish() {
  if (filled_ == 0) return {};
  if (in_place_ || flushed_ > 0) return flush_block();
  checksums_.push_back(format::xxh3_64(format::Bytes(buffer_.data(), filled_)));  // never left memory
  return {};
}

Result<void> BlockStream::copy_to_output(std::uint64_t offset) const {
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, flushed_)));
  for (std::uint64_t done = 0; done < flushed_;) {
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), flushed_ - done));
    const std::span<std::byte> bytes = std::span(chunk).first(part);
    if (auto ok = read_all(spool_.number(), output_->path(), done, bytes); !ok) return ok;
    if (auto ok = write_all(output_->descriptor(), output_->path(), offset + done, bytes); !ok) return ok;
    done += part;
  }
  return write_all(output_->descriptor(), output_->path(), offset + flushed_,
                   format::Bytes(buffer_.data(), filled_));
}

void BlockStream::close() noexcept {
  buffer_.release();
  spool_.close();
}

}  // namespace tokpack::detail
