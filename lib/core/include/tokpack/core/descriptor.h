// A file descriptor that closes itself.
//
// Ownership: owns the number it was made from. Threads: a value. Errors: none; closing is not checked, so
// what must be on disk is synced before.
//
//   Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return errno;
#pragma once

#include <utility>

namespace tokpack {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  void close() noexcept;

 private:
  int number_ = -1;
};

}  // namespace tokpack
