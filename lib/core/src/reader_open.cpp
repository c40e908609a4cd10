// Opening: a fixed number of system calls (openat, fstat, mmap, close; in pread mode openat, fstat and one or
// two preads), whatever the size of the file.
#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reader_state.h"

namespace tokpack::detail {

using format::Bytes;

namespace {

/// Page 0 of a file that is not mapped: two reads at most.
Result<std::vector<std::byte>> read_page0(const File& file) {
  std::vector<std::byte> page(static_cast<std::size_t>(std::min(file.size(), format::kPageBytes)));
  if (auto read = file.read_at(0, page); !read) return read.error();
  const auto bytes = format::page0_bytes(page, file.size());
  if (!bytes) return bytes.error();
  const std::size_t known = page.size();
  if (bytes.value() > known) {  // at most 1 MiB and within the file: checked
    page.resize(bytes.value());
    if (auto read = file.read_at(known, std::span(page).subspan(known)); !read) return read.error();
  }
  return page;
}

int posix_advice(AccessHint hint) noexcept {
  switch (hint) {
    case AccessHint::kSequential:
      return POSIX_FADV_SEQUENTIAL;
    case AccessHint::kRandom:
      return POSIX_FADV_RANDOM;
    case AccessHint::kWillNeed:
      return POSIX_FADV_WILLNEED;
    case AccessHint::kNormal:
      break;
  }
  return POSIX_FADV_NORMAL;
}

}  // namespace

Result<std::shared_ptr<const ReaderState>> open_state(const std::string& path, const ReaderOptions& options) {
  auto opened = File::open(path);
  if (!opened) return std::move(opened).error();
  File& file = opened.value();

  auto state = std::make_shared<ReaderState>();
  state->path = path;
  if (options.mode != ReadMode::kPread && file.size() > 0) {
    auto mapping = Mapping::map(file);
    if (mapping) {
      state->mapping = std::move(mapping).value();
    } else if (options.mode == ReadMode::kMmap) {
      return std::move(mapping).error();
    }
  }
  std::vector<std::byte> page;
  if (!state->mapped()) {
    auto read = read_page0(file);
    if (!read) return std::move(read).error();
    page = std::move(read).value();
  }
  auto layout = format::parse_page0(state->mapped() ? state->mapping->bytes() : Bytes(page), file.size());
  if (!layout) return std::move(layout).error();
  state->layout = std::move(layout).value();
  if (state->mapped()) {
    state->bind_arrays();
  } else {
    state->file = std::move(file);
  }
  if (options.hint != AccessHint::kNormal) state->advise(options.hint, 0, state->layout.header.file_size);
  return std::shared_ptr<const ReaderState>(std::move(state));
}

void ReaderState::advise(AccessHint hint, std::uint64_t offset, std::uint64_t length) const noexcept {
  if (mapped()) {
    mapping->advise(hint, offset, length);
  } else {
    ::posix_fadvise(file->descriptor(), static_cast<off_t>(offset), static_cast<off_t>(length),
                    posix_advice(hint));
  }
}

}  // namespace tokpack::detail
