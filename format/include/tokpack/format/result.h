// A value or an Error. Read it as a test (`if (!r) return r.error();`) or take the value.
//
// REQUIRES: value() only when ok(), error() only when !ok(). Threads: a plain value.
//
//   Result<Reader> reader = Reader::open(path);
//   if (!reader) return reader.error();
//   use(reader.value());
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "tokpack/format/error.h"

namespace tokpack {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return checked(); }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && { return std::move(checked()); }
  /// Not on a temporary: what `make()->spans()` points to may die with the Result. Name it first.
  T* operator->() & { return &checked(); }
  const T* operator->() const& { return &value(); }
  T* operator->() const&& = delete;
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }

  const Error& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T& checked() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const& {
    assert(!ok());
    return *error_;
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tokpack
