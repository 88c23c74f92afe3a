// The ranks that share a window, by node.
#pragma once

#include <cstddef>
#include <vector>

namespace espalier::network {

/// Equal on all ranks but for `node` and `local`.
struct WindowTeam {
  std::vector<std::vector<int>> processes;  ///< by node and rank on the node, as the transport numbers them
  std::vector<std::vector<int>> ranks;      ///< likewise, as the communicator numbers them
  int node = 0;                             ///< this rank's
  int local = 0;                            ///< this rank's number on its node

  int nodes() const { return static_cast<int>(processes.size()); }
  int size_of(int which) const { return static_cast<int>(processes[static_cast<std::size_t>(which)].size()); }
  int process() const { return processes[static_cast<std::size_t>(node)][static_cast<std::size_t>(local)]; }

  /// The rank of another node that this rank's puts are aimed at: the ranks of a node share the load.
  int aim(int which) const { return local % size_of(which); }
  /// The process that this is.
  int target(int which) const {
    return processes[static_cast<std::size_t>(which)][static_cast<std::size_t>(aim(which))];
  }
  /// How many ranks aim at this one.
  int senders() const {
    int count = 0;
    for (int other = 0; other < nodes(); ++other)
      if (other != node)
        for (int rank = local; rank < size_of(other); rank += size_of(node)) ++count;
    return count;
  }
};

}  // namespace espalier::network
