// Memory that several processes map: memfd where there is one, a POSIX shared-memory object elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "memory/kept_descriptor.hpp"

namespace espalier::memory {

/// A mapped piece of shared memory. Moves, does not copy; unmaps and closes when it goes. The address space
/// is reserved, the pages are not: see reserve(). Not thread-safe beyond const members. A child process has
/// neither mapping nor descriptor, but what share_with_children() names.
class Segment {
 public:
  Segment() = default;
  /// An anonymous file of `bytes` (memfd_create): nothing in any file system. It is sealed, so no process can
  /// make it shorter, and an access behind its end cannot happen. Empty when the system refuses; `why` says so.
  static Segment create_memfd(std::size_t bytes, std::string& why);
  /// A named object ("/espalier-..."); unlink() it as soon as every process has mapped it.
  static Segment create_named(const std::string& name, std::size_t bytes, std::string& why);
  /// Refuses what is not this user's, what others may open, and what has another size.
  static Segment open_named(const std::string& name, std::size_t bytes, std::string& why);
  /// Maps an anonymous file that another process made; refuses what open_named() does, and what can be made
  /// shorter.
  static Segment adopt(Descriptor descriptor, std::size_t bytes, std::string& why);
  static void unlink(const std::string& name);

  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Segment();

  explicit operator bool() const { return base_ != nullptr; }
  std::byte* base() const { return base_; }
  std::size_t size() const { return size_; }
  /// -1: it is closed, by close_descriptor() or by the program.
  int descriptor() const { return descriptor_.get(); }
  /// When it has been handed to all and its pages are reserved.
  void close_descriptor() { descriptor_ = {}; }

  /// Backs [offset, offset + bytes) with pages now, so that a full machine is a refusal here and not a SIGBUS
  /// later. The pages come from the caller's NUMA domain: call it from the rank that will use them most.
  /// False: no space, or no descriptor; errno says why.
  bool reserve(std::size_t offset, std::size_t bytes) const;

  /// Child processes see these whole pages too, as shared memory: the program has something there.
  void share_with_children(std::size_t offset, std::size_t bytes) const;

 private:
  void swap(Segment& other) noexcept;
  static Segment map(Descriptor descriptor, std::size_t bytes, std::string& why);
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  KeptDescriptor descriptor_;
};

}  // namespace espalier::memory
