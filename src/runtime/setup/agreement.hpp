// How the ranks of a communicator agree to share memory, or not to (docs/design.md, invariant 1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collective/multinode/stage/placement.hpp"
#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "memory/share_directory.hpp"
#include "runtime/process/bootstrap.hpp"
#include "topology/group.hpp"

namespace espalier::runtime {

/// Of a share that ranks found in the directory (memory/share_directory.hpp), without an exchange.
struct Registered {
  memory::Identity group;
  std::uint64_t generation = 0;
};

/// What the ranks of one node share of a communicator; equal on all of them.
struct NodeShare {
  memory::Share share;  ///< none: they share no memory
  machine::Layout layout;
  double ranks_per_core = 1;
  bool single_copy = false;   ///< ranks may read each other's memory
  bool shared_heaps = false;  ///< ranks can map each other's MPI_Alloc_mem memory
  bool prompt_yields = true;  ///< a yield makes room for any other rank at once
  std::optional<Registered> registered;
};

/// Of a communicator that spans nodes, or whose nodes use messages; equal on all ranks.
struct NodesShare {
  collective::multinode::Placement placement;  ///< empty: one node that shares memory
  std::vector<int> processes;                  ///< by rank, as the transport numbers them
  topology::Group groups;                      ///< of nodes, by the switches between them
  int tags = 0;                                ///< the communicator's block of tags
  std::uint32_t tags_use = 0;                  ///< which use of it (tags_agreement.hpp)
  double ranks_per_core = 1;                   ///< of the most oversubscribed node
  bool all_share_memory = false;
};

/// The outcome. `refusal`: why the communicator is the host's, the same on all ranks; empty: it is not.
struct Agreement {
  NodeShare node;
  NodesShare nodes;
  std::string refusal;
};

/// The layout of a node's share for so many ranks, by the configuration. Number and size of the slots do not
/// depend on the number of ranks, so that all nodes decide alike.
machine::Layout layout_for(int ranks);
/// The same for a communicator on one node, which has `ranks_of_node` ranks in all: with long rings where the
/// communicator has all ranks of the node, and with pairwise exchange buffers for more than two ranks where
/// ranks share cores.
machine::Layout layout_on_one_node(int ranks, int ranks_of_node, double ranks_per_core);

/// Collective over the communicator. On one node two rounds. First every rank sends its eligibility, and
/// rank 0 offers a share. Then every rank says whether its part of the share is backed by memory; before that
/// it zeroes its flag lines. Over several nodes the lowest rank of each node offers a share, and rank 0 a
/// block of tags.
Agreement agree(const Bootstrap& bootstrap);

}  // namespace espalier::runtime
