// Blocks of message tags, one for each communicator that spans nodes.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

namespace espalier::runtime {

/// The blocks that communicators of this process use. Two communicators that share a pair of ranks must not
/// share a block, so a block is taken only if it is free at all ranks. Thread-safe.
class Tags {
 public:
  explicit Tags(int blocks) : taken_(static_cast<std::size_t>(blocks > 0 ? blocks : 0)) {}

  /// The lowest free block from `first` on, which is taken now.
  std::optional<int> take_from(int first);
  /// False if it is taken already.
  bool take(int block);
  void give_back(int block);

 private:
  std::mutex mutex_;
  std::vector<bool> taken_;
};

}  // namespace espalier::runtime
