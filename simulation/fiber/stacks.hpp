// Stacks of fibers: one mapping for all of them, because a guard page each would end at about 32,000 (every
// guard splits a mapping, and a process has 65,530).
#pragma once

#include <cstddef>
#include <span>

namespace espalier::simulation {

/// `count` stacks of `bytes` each (rounded up to whole pages), taken from the system when first touched. In
/// place of a guard page each has a canary at its low end.
class Stacks {
 public:
  /// Throws Error when the address space has no room.
  Stacks(std::size_t count, std::size_t bytes);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::size_t count() const { return count_; }
  std::span<std::byte> at(std::size_t index) const { return {base_ + index * bytes_, bytes_}; }

  /// False once something has written the low end of this stack, and maybe beyond it.
  bool is_intact(std::size_t index) const;

 private:
  std::size_t count_, bytes_;
  std::byte* base_;
};

}  // namespace espalier::simulation
