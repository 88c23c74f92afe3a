// The communicators of a process that have had nonblocking collectives, which every long wait of it drives.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace espalier::runtime {

/// What has calls under way.
class Driven {
 public:
  virtual ~Driven() = default;
  /// Does what is to be done for them, if no other thread does so.
  virtual void advance_aside() = 0;
};

/// In the order in which they were added. Thread-safe.
class NonblockingList {
 public:
  static NonblockingList& instance();
  void add(const std::shared_ptr<Driven>& one);
  /// Advances what is under way, where no other thread does so.
  void drive();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Driven>> all_;
};

}  // namespace espalier::runtime
