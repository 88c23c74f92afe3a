// Blocks of message tags, one for each communicator that spans nodes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace espalier::runtime {

/// The blocks that communicators of this process use. Two communicators that share a pair of ranks must not
/// share a block, so a block is taken only if it is free at all ranks. Thread-safe.
class Tags {
 public:
  explicit Tags(int blocks) : blocks_(blocks > 0 ? static_cast<std::size_t>(blocks) : 0) {}

  /// The lowest free block from `first` on, which is taken now.
  std::optional<int> take_from(int first);
  /// Another number each time.
  std::uint32_t next_use();
  /// False if it is taken already.
  bool take(int block);
  /// One that was taken.
  void give_back(int block);

 private:
  bool is_taken(std::size_t block) const { return block < taken_.size() && taken_[block]; }
  void mark(std::size_t block);

  std::mutex mutex_;
  std::size_t blocks_;
  std::uint32_t uses_ = 0;
  std::vector<bool> taken_;  // up to the highest that ever was: a host may have 2^31 tags
};

}  // namespace espalier::runtime
