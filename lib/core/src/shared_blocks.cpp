#include "shared_blocks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "reader_text.h"

namespace tokpack::detail {
namespace {

/// Calls `use(bytes, count)` for each stretch of `count` values from fragment `k`, token `token` on, until it
/// says no; ends behind the last.
template <typename Cut, typename Use>
Cut for_each_stretch(const TokenArray& array, const WindowPair& pair, const FragmentList& fragments, Cut cut,
                     std::uint64_t count, Use use) {
  while (count > 0) {
    const Fragment fragment = fragments[cut.fragment];
    const WindowPair::Place place = pair.at(fragment.sample);
    const std::byte* base = place.window == pair.carried ? array.carried : array.fresh;
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, fragment.length - cut.token));
    use(base + (place.start + fragment.first_token + cut.token) * array.width, part);
    count -= part;
    cut.token += part;
    if (cut.token == fragment.length) cut = {cut.fragment + 1, 0};
  }
  return cut;
}

}  // namespace

void SharedBlocks::clear() noexcept {
  sources_.clear();
  tasks_.clear();
  next_ = 0;
  failed_ = false;
  error_.reset();
}

SharedBlocks::Cut SharedBlocks::Source::gather(Cut from, std::uint64_t count, std::byte* out) const noexcept {
  std::size_t ahead = from.fragment;
  return for_each_stretch(array, pair, fragments, from, count, [&](const std::byte* bytes, std::uint32_t n) {
    prefetch_place(pair, fragments, ahead + kPlacesAhead);
    if (ahead + kFragmentsAhead < fragments.size()) {
      const Fragment next = fragments[ahead + kFragmentsAhead];
      const WindowPair::Place place = pair.at(next.sample);
      const std::byte* base = place.window == pair.carried ? array.carried : array.fresh;
      prefetch_bytes(base + (place.start + next.first_token) * array.width, next.length * array.width);
    }
    ++ahead;
    std::memcpy(out, bytes, n * array.width);
    out += n * array.width;
  });
}

Result<void> SharedBlocks::prepare(const TokenArray& array, const WindowPair& pair,
                                   const FragmentList& fragments) {
  BlockStream& stream = *array.stream;
  std::uint64_t left = 0;
  for (std::size_t k = 0; k < fragments.size(); ++k) left += fragments[k].length;

  Result<void> appended;
  const auto append = [&](const std::byte* bytes, std::uint32_t count) {
    if (appended.ok()) appended = stream.append(bytes, count * array.width);
  };
  const std::uint64_t head = std::min<std::uint64_t>(left, stream.room_in_block() / array.width);
  Cut cut = for_each_stretch(array, pair, fragments, Cut{0, 0}, head, append);
  if (!appended) return appended;
  left -= head;

  const std::uint64_t per_block = format::kBlockBytes / array.width;
  const auto blocks = static_cast<std::size_t>(left / per_block);
  if (blocks > 0) {
    const auto first = stream.reserve_blocks(blocks);
    if (!first) return first.error();
    tasks_.reserve(tasks_.size() + blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
      tasks_.push_back({sources_.size(), cut, *first + b});
      cut = for_each_stretch(array, pair, fragments, cut, per_block, [](const std::byte*, std::uint32_t) {});
    }
    sources_.push_back({array, pair, fragments});
    left -= blocks * per_block;
  }
  for_each_stretch(array, pair, fragments, cut, left, append);
  return appended;
}

bool SharedBlocks::write_one(GrowArray<std::byte>& scratch) noexcept {
  const std::size_t number = next_.fetch_add(1);
  if (number >= tasks_.size()) return false;
  if (failed_) return true;
  try {
    if (auto ok = write(tasks_[number], scratch); !ok) fail(std::move(ok).error());
  } catch (const std::bad_alloc&) {
    fail(out_of_memory("for the window; choose a smaller one"));
  }
  return true;
}

Result<void> SharedBlocks::write(const Task& task, GrowArray<std::byte>& scratch) const {
  const Source& source = sources_[task.array];
  if (scratch.size() < format::kBlockBytes) scratch.extend(format::kBlockBytes - scratch.size());
  source.gather(task.begin, format::kBlockBytes / source.array.width, scratch.data());
  return source.array.stream->write_block(task.block, scratch.span().first(format::kBlockBytes));
}

void SharedBlocks::fail(Error error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!failed_) error_ = std::move(error);
  failed_ = true;
}

Result<void> SharedBlocks::result() const {
  if (error_) return copied(*error_);
  return {};
}

}  // namespace tokpack::detail
