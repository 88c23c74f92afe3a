// The ranks of a node in a call that goes through a window: how they meet, copy and fold.
#pragma once

#include <cstring>

#include "collective/core/meeting.hpp"
#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// The ranks of a node that share memory.
template <Machine M>
class NodeRanks {
 public:
  NodeRanks(M& m, const Plan& plan) : m_(m), meeting_(m, plan) {}
  int rank() const { return m_.rank(); }
  int size() const { return m_.size(); }
  /// More ranks than cores: each time that they meet costs more than what is moved meanwhile.
  bool is_oversubscribed() const { return meeting_.is_central(); }
  void copy(void* target, const void* source, std::size_t bytes) { m_.copy(target, source, bytes); }
  /// target = left op right; target may be either.
  void fold(const reduce::Operation& operation, std::byte* target, const std::byte* left,
            const std::byte* right, std::size_t bytes) {
    // Not the machine's array: that has a place for each rank of the node, which may be one.
    const void* sources[] = {left, right};
    m_.reduce(operation, target, sources, 2, bytes);
  }
  /// Until all have come; what each has written before is visible then.
  void meet() {
    const Step step = m_.advance(1).last();
    meeting_.meet(step);
    m_.finish(step);
  }
  /// A step to be finished when this rank reads nothing more.
  Step begin_reading() { return m_.advance(1).last(); }
  void end_reading(Step step) { m_.finish(step); }

 private:
  M& m_;
  Meeting<M> meeting_;
};

/// A rank that is alone on its node.
class NodeOfOne {
 public:
  int rank() const { return 0; }
  int size() const { return 1; }
  bool is_oversubscribed() const { return false; }
  void copy(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }
  void fold(const reduce::Operation& operation, std::byte* target, const std::byte* left,
            const std::byte* right, std::size_t bytes) {
    multinode::fold(operation, target, left, right, bytes);
  }
  void meet() {}
  Step begin_reading() { return 0; }
  void end_reading(Step) {}
};

}  // namespace espalier::collective::multinode
