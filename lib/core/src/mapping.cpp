#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <limits>
#include <new>
#include <utility>

#include "reader_text.h"
#include "tokpack/core/file.h"

namespace tokpack {
namespace {

namespace ipc = boost::interprocess;

/// What mapped_region asks of a mappable: File's descriptor. Boost's own file_mapping is not used, because it
/// opens without O_NONBLOCK and O_CLOEXEC: it hangs on a FIFO and leaks its descriptor into children.
class BorrowedDescriptor {
 public:
  explicit BorrowedDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ipc::mapping_handle_t get_mapping_handle() const noexcept {
    ipc::mapping_handle_t handle{};
    handle.handle = descriptor_;
    return handle;
  }

 private:
  int descriptor_;
};

int system_advice(AccessHint hint) noexcept {
  switch (hint) {
    case AccessHint::kSequential:
      return MADV_SEQUENTIAL;
    case AccessHint::kRandom:
      return MADV_RANDOM;
    case AccessHint::kWillNeed:
      return MADV_WILLNEED;
    case AccessHint::kNormal:
      break;
  }
  return MADV_NORMAL;
}

}  // namespace

struct Mapping::Impl {
  ipc::mapped_region region;
};

Mapping::Mapping(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Mapping::~Mapping() = default;

Result<std::shared_ptr<const Mapping>> Mapping::map(const File& file) try {
  if (file.size() == 0 || file.size() > std::numeric_limits<std::size_t>::max() / 2) {
    return Error{
        Errc::kIo, Error::kNoOffset,
        fmt::format("cannot map {}: its size is {} bytes", detail::quoted(file.path()), file.size())};
  }
  try {
    // read_only is PROT_READ and MAP_SHARED. read_private would do as well, copy_on_write would not: it
    // charges the whole file to the commit limit. The size is given, so that a file that grows in between
    // is mapped as it was measured.
    auto impl = std::make_unique<Impl>();
    impl->region = ipc::mapped_region(BorrowedDescriptor(file.descriptor()), ipc::read_only, 0,
                                      static_cast<std::size_t>(file.size()));
    return std::shared_ptr<const Mapping>(new Mapping(std::move(impl)));
  } catch (const ipc::interprocess_exception& refusal) {
    return detail::system_error(fmt::format("map the {} bytes of", file.size()), file.path(), "mmap",
                                refusal.get_native_error());
  }
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to map a file");
}

format::Bytes Mapping::bytes() const& noexcept {
  return {static_cast<const std::byte*>(impl_->region.get_address()), impl_->region.get_size()};
}

void Mapping::advise(AccessHint hint, std::uint64_t offset, std::uint64_t length) const noexcept {
  const format::Bytes all = bytes();
  if (offset >= all.size() || length == 0) return;
  length = std::min<std::uint64_t>(length, all.size() - offset);
  // The kernel wants a page boundary; its page may be larger than the format's.
  const std::uint64_t page = ipc::mapped_region::get_page_size();
  const std::uint64_t begin = offset / page * page;
  // mapped_region::advise takes no range. madvise does not write through the pointer.
  ::madvise(const_cast<std::byte*>(all.data() + begin), static_cast<std::size_t>(offset - begin + length),
            system_advice(hint));
}

}  // namespace tokpack
