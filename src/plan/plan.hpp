// Which algorithm serves a call, with what parameters, and why (DESIGN, idea 4).
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "plan/algorithms.hpp"
#include "tree/spec.hpp"

namespace espalier::plan {

/// Where a rule stands.
struct Origin {
  std::string file;
  int line = 0;
  std::string rule;      ///< the rule as it is written there
  std::string evidence;  ///< what the rule's author says of it: measured, and where, or modelled
};

struct Plan {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  Algorithm algorithm = Algorithm::host;
  std::size_t chunk = 32 * 1024;  ///< bytes; may span several slots
  bool inlined = true;            ///< small data rides in the flag line (RG III-D)
  bool read_from_parent = true;   ///< children poll their parent's flag (RG III-B)
  bool skip_gather = true;     ///< a bcast's root waits for readers only when it needs their slot (RG III-C)
  bool copy_avoidance = true;  ///< the root reduces straight into the receive buffer (RG III-E)
  /// Blocks of so many bytes are read where they lie, if that is in memory that all ranks of the node can map
  /// (MPI_Alloc_mem's).
  std::size_t zero_copy = never;
  bool or_slots = false;  ///< a scatter(v)'s root tries exposed blocks and slots, and takes what is quicker
  int index = -1;         ///< among all of its selector's: caches of trees are kept by it
  tree::Spec gather_tree;
  tree::Spec release_tree;
  Origin origin;
};

/// So many segments may be on the network at once, each on a lane of its own
/// (collective/multinode/stage/join.hpp).
inline constexpr std::size_t segments_under_way = 8;

/// How many parts come together in a round of the algorithms between nodes for short messages (dissemination
/// and Bruck's allgather): a leader's own and those of so many others. On most networks a few more messages
/// cost less than another round, so that few leaders need but one; of more leaders three others' come.
constexpr int parts_a_round(int leaders) { return leaders <= 7 ? leaders : 4; }

/// The network stage of a communicator that spans nodes; its node stages have a Plan each.
struct NetworkPlan {
  Algorithm algorithm = Algorithm::host;
  /// Bytes that travel while the node works on others. Allgather by a ring: of a block. Gather, scatter and
  /// alltoall: so long a rank's block travels by itself, not with those of its node.
  std::size_t segment = 128 * 1024;
  int leaders = 1;  ///< ranks of each node that carry a share of an allreduce or allgather; 0: all
  tree::Spec tree;  ///< between the nodes, where the algorithm is `tree`
  Origin origin;
};

}  // namespace espalier::plan
