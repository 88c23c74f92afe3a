// The communicators of a process that have had nonblocking collectives, which every long wait of it drives.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace espalier::runtime {

class Nonblocking;

/// Thread-safe.
class NonblockingList {
 public:
  static NonblockingList& instance();
  void add(const std::shared_ptr<Nonblocking>& one);
  /// Advances what is under way, where no other thread does so.
  void drive();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Nonblocking>> all_;
};

}  // namespace espalier::runtime
