// Whether the other ranks of this rank's node still run.
#pragma once

#include <map>
#include <optional>

#include "runtime/failure/liveness.hpp"

namespace espalier::runtime {

/// By copies of their marks, which stay good when the communicator has been freed.
class NodePeers {
 public:
  void add(int rank, const ProcessMark& mark) { marks_.insert_or_assign(rank, mark); }
  /// `mine`: this rank's as the others see it. After a restart from a checkpoint it is of a former process, as theirs are.
  void be(const ProcessMark& mine) { mine_ = mine; }
  bool has_ended(int rank) const {
    const auto found = marks_.find(rank);
    return found != marks_.end() && liveness_of(found->second) == Liveness::ended && mine_ &&
           liveness_of(*mine_) == Liveness::runs;
  }
  /// Calls body(rank) for each that has ended.
  template <class Body>
  void for_each_ended(Body body) const {
    for (const auto& [rank, mark] : marks_)
      if (has_ended(rank)) body(rank);
  }

 private:
  std::map<int, ProcessMark> marks_;
  std::optional<ProcessMark> mine_;
};

}  // namespace espalier::runtime
