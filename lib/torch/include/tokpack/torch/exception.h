// The exception of tokpack::torch: LibTorch's users throw and catch, so errors of core arrive as this, with
// their code and text. What LibTorch itself refuses arrives as its own c10::Error.
//
// The namespace is tokpack::libtorch, since a tokpack::torch would stand between a trainer's code and
// ::torch.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "tokpack/format/result.h"

namespace tokpack::libtorch {

class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.detail), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }
  Errc code() const noexcept { return error_.code; }

 private:
  Error error_;
};

/// The value of a Result, or its error thrown.
template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Exception(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace tokpack::libtorch
