// One collective call of one simulated rank: the algorithms' own text.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/collective.hpp"
#include "collective/multinode/stage/node_order.hpp"
#include "plan/plan.hpp"
#include "simulation/engine/engine.hpp"
#include "simulation/engine/platform.hpp"

namespace espalier::simulation {

/// What goes on within the nodes of a call over several.
enum class NodeStageKind {
  shared,    ///< slots in shared memory
  messages,  ///< messages between the node's ranks
  none       ///< nothing: every rank is a node of its own, as for who does not know of nodes
};

/// What all ranks call. Vectors are of unsigned 64-bit integers, reductions sum them.
struct Call {
  Collective collective = Collective::barrier;
  std::size_t bytes = 8;  ///< of each rank, its block, or (reduce_scatter) all blocks; a multiple of 8
  int root = 0;
  plan::Plan node;            ///< with its trees, over the model's domains
  plan::NetworkPlan network;  ///< of a call over nodes
  NodeStageKind stage = NodeStageKind::shared;
  bool aggregated = false;  ///< aggregation nodes in place of the network's algorithm
  int slots = 8;            ///< of each rank, a power of two (RG III-C)
  std::size_t slot_bytes = std::size_t{32} * 1024;

  /// Whether it is a call over nodes: also one on a single node that does not use what its ranks share.
  bool spans(const Shape& shape) const { return shape.nodes > 1 || stage != NodeStageKind::shared; }
};

/// Where a rank's data lie. All as long as the call needs; for a recorder they may be memory that no rank
/// touches.
struct Buffers {
  std::byte *send, *receive, *scratch;
};
/// Bytes of each buffer.
struct BufferSizes {
  std::size_t send, receive, scratch;
};
BufferSizes buffer_sizes(const Call& call, const Shape& shape);

/// Whether control flow depends neither on data nor on time, so that the call can be recorded.
bool can_be_recorded(const Call& call, const Shape& shape);

/// Whether ranks of the same number do the same on all nodes, with partners at the same distances: blocks of one
/// length around a ring.
bool is_alike_on_all_nodes(const Call& call, const Shape& shape);

/// The local number of the one rank of each node that speaks to other nodes; nothing where several do.
std::optional<int> only_leader(const Call& call, const Shape& shape);

/// One block for each rank, as those collectives take them whose blocks may be of any length.
collective::multinode::BlocksOfSome listed_blocks(std::size_t bytes, int ranks);

/// Where the blocks of ranks begin in a reduce_scatter of so many bytes, and where the last ends.
std::vector<std::size_t> block_edges(std::size_t bytes, int ranks);

/// The places of a node's ranks in the plan's trees, made once: slots refer to them as lists of readers.
class TreePositions;
std::shared_ptr<const TreePositions> places_for(const Call& call, const Shape& shape, const NodeModel& node);

/// Runs the call on the current sink. Throws Error for what simulation does not have.
void run_call(SimulatedMachine& machine, const Call& call, const Shape& shape, const TreePositions& places,
              const Buffers& buffers);

machine::Layout layout_for(const Call& call, const Shape& shape);

}  // namespace espalier::simulation
