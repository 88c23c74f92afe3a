// This process's part of shares that are idle: with the share it goes on as the next communicator of the same
// ranks.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "memory/share_directory.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

/// Thread-safe.
class IdleCommunicators {
 public:
  static IdleCommunicators& instance();

  /// This rank makes no more calls on a communicator whose share is registered.
  void release(std::unique_ptr<NodeCommunicator> communicator);
  /// The one of that share; null: this process has none.
  std::unique_ptr<NodeCommunicator> take(const NodeShare& share);
  /// While there is an arena.
  void clear();

 private:
  /// Forgets those whose shares have gone back to the arena.
  void sweep();

  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<NodeCommunicator>> by_generation_;
  std::size_t sweep_above_ = 512;
};

}  // namespace espalier::runtime
