#include "error_text.h"

#include <new>
#include <string>
#include <utility>

namespace tokpack::cuda {

Error error_of(Errc code, std::initializer_list<ErrorPart> parts) noexcept {
  try {
    std::string detail;
    for (const ErrorPart& part : parts) detail += part.text();
    return Error{code, Error::kNoOffset, std::move(detail)};
  } catch (const std::bad_alloc&) {
    return Error{Errc::kOutOfMemory, Error::kNoOffset, {}};
  }
}

}  // namespace tokpack::cuda
