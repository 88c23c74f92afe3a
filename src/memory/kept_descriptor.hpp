// Descriptors that stay open as long as the memory behind them is used.
#pragma once

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace espalier::memory {

/// Of a file that is memory. A program may close what it has not opened, and get the same number for a file
/// of its own: so each use asks first whether the file is still ours. A child of fork() has it closed, else
/// it would keep the memory of a job that has ended. Moves, does not copy.
class KeptDescriptor {
 public:
  KeptDescriptor() = default;
  explicit KeptDescriptor(Descriptor descriptor);
  KeptDescriptor(KeptDescriptor&& other) noexcept { swap(other); }
  KeptDescriptor& operator=(KeptDescriptor&& other) noexcept {
    KeptDescriptor(std::move(other)).swap(*this);
    return *this;
  }
  ~KeptDescriptor();

  /// -1: there is none, or it is another file's by now.
  int get() const;

 private:
  void swap(KeptDescriptor& other) noexcept;
  int number_ = -1;
  dev_t device_ = 0;
  ino_t file_ = 0;
};

}  // namespace espalier::memory
