// How the ranks of a node hear that one of them has failed between nodes: what they wait for will not come.
#pragma once

#include <string_view>

#include "memory/flag_line.hpp"

namespace espalier::runtime {

/// A communicator's word of failure, on a line that its ranks of a node share. The first word stays: their
/// calls are out of step from then on. Thread-safe.
class NodeFailure {
 public:
  NodeFailure() = default;  ///< ranks that share no memory hear nothing
  /// `line` was zero when the communicator was made, and belongs to this alone.
  explicit NodeFailure(memory::FlagLine& line) : line_(&line) {}

  /// `rank`: whose failure it is. A long reason is cut.
  void tell(int rank, std::string_view why);
  /// Throws Error with what has been told; nothing otherwise. One load: to be called in every wait.
  void check() const;

 private:
  memory::FlagLine* line_ = nullptr;
};

}  // namespace espalier::runtime
