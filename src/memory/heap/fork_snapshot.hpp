// Shared memory as it was when a process forked, for the child.
#pragma once

#include <cstddef>

namespace espalier::memory {

/// The bytes of a file from `begin` to `end`, taken by the thread that is about to fork. Where nothing was
/// ever written there is nothing to copy. Plain values and system calls only, so that fork() may be called
/// where malloc() may not.
class ForkSnapshot {
 public:
  /// Where the machine has no memory for a copy, or the process no address space, the child gets a view of
  /// the file: it writes for itself alone, but sees what its parent writes later into pages that it has not
  /// written. Then `is_copy()` is false.
  void take(int descriptor, std::size_t begin, std::size_t end);
  bool is_copy() const { return copy_ != nullptr; }
  bool is_empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// In the child: the bytes lie at `address` from now on, in place of what was there, and are its own.
  void move_to(void* address);
  /// In the parent.
  void drop();

 private:
  std::size_t begin_ = 0, size_ = 0;
  void* copy_ = nullptr;
  int file_ = -1;  // for the view, where there is no copy
};

}  // namespace espalier::memory
