// File descriptors of our own. All that Espalier opens in a program's process comes through here.
#pragma once

#include <utility>

namespace espalier {

/// Closes its descriptor when it goes. Moves, does not copy.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  /// -1: it has none.
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  /// Leaves errno as it is.
  void close();

 private:
  int number_ = -1;
};

/// Takes over what the system has just returned for a new descriptor: -1, with errno, or one with
/// close-on-exec. A program may have closed its descriptors 0 to 2, and what prints there must not write into
/// something of ours: such a descriptor is moved to a number above. errno is kept.
Descriptor own_descriptor(int number);

/// open() with close-on-exec. None: errno says why.
Descriptor open_file(const char* path, int flags, unsigned mode = 0);

}  // namespace espalier
