#include "simulation/engine/call.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/multinode/stage/message_stage.hpp"
#include "collective/multinode/stage/shared_stage.hpp"
#include "simulation/engine/node_call.hpp"
#include "simulation/engine/nodes_call.hpp"
#include "topology/group.hpp"
#include "tree/compose.hpp"

namespace espalier::simulation {

using collective::ContiguousPosition;
using collective::TreePosition;
using plan::Algorithm;

namespace {

std::vector<TreePosition> places_in(const topology::Group& group, int ranks, const tree::Spec& spec, int root,
                                    TreePosition (*position)(const tree::Tree&,
                                                             int) = collective::position_of) {
  const tree::Tree tree = tree::compose(group, spec, root);
  std::vector<TreePosition> places;
  places.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) places.push_back(position(tree, rank));
  return places;
}

/// The shape as the call sees it.
Shape seen_by(const Call& call, const Shape& shape) {
  return call.stage == NodeStageKind::none ? Shape{shape.ranks(), 1} : shape;
}

collective::multinode::Placement placement_of(const Shape& shape) {
  collective::multinode::Placement placement;
  placement.ranks_of.resize(static_cast<std::size_t>(shape.nodes));
  for (int rank = 0; rank < shape.ranks(); ++rank) {
    placement.ranks_of[static_cast<std::size_t>(shape.node_of(rank))].push_back(rank);
    placement.node_of.push_back(shape.node_of(rank));
    placement.local_rank_of.push_back(shape.local(rank));
  }
  return placement;
}

/// From whom a node's ranks have what comes from other nodes: in a scan of totals, from their last.
int leader_of(const Call& call, const Shape& seen) {
  if (traits(call.collective).is_scan && call.spans(seen) && plan::scans_totals(call.network.algorithm, true))
    return seen.ranks_per_node - 1;
  return seen.local(call.root);
}

/// The groups of a node's ranks on the model's cores, as on a real node whose ranks are bound; where they exceed
/// cores, several to a core.
topology::Group groups_of(const NodeModel& node, const Shape& shape) {
  const int ranks = shape.ranks_per_node, cores = node.cores();
  std::vector<topology::Domain> pieces;
  for (const CoreLevel& level : node.levels)
    for (int first = 0; first < cores; first += level.cores)
      pieces.push_back({topology::parse_level(level.name),
                        topology::CpuSet::range(first, std::min(first + level.cores, cores) - 1),
                        {}});
  const topology::Topology made{topology::nest(topology::CpuSet::range(0, cores - 1), std::move(pieces)),
                                "a model"};
  std::vector<topology::CpuSet> affinity(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    affinity[static_cast<std::size_t>(rank)].set(shape.core(rank, cores));
  return topology::group_ranks(made, affinity);
}

}  // namespace

class TreePositions {
 public:
  TreePositions(const Call& call, const Shape& shape, const NodeModel& node)
      : placement(call.spans(shape) ? placement_of(seen_by(call, shape))
                                    : collective::multinode::Placement()) {
    const Shape seen = seen_by(call, shape);
    const topology::Group group = groups_of(node, seen);
    const int leader = leader_of(call, seen);
    gather_ = places_in(group, seen.ranks_per_node, call.node.gather_tree, leader,
                        collective::gathering_position_of);
    release_ = places_in(group, seen.ranks_per_node, call.node.release_tree, leader);
    nodes_ =
        places_in(topology::flat_group(seen.nodes), seen.nodes, call.network.tree, seen.node_of(call.root));
  }

  const collective::multinode::Placement placement;  ///< of a call over nodes
  const TreePosition& gather(int local) const { return gather_[static_cast<std::size_t>(local)]; }
  const TreePosition& release(int local) const { return release_[static_cast<std::size_t>(local)]; }
  const TreePosition& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

 private:
  std::vector<TreePosition> gather_, release_, nodes_;
};

std::shared_ptr<const TreePositions> places_for(const Call& call, const Shape& shape, const NodeModel& node) {
  return std::make_shared<const TreePositions>(call, shape, node);
}

collective::TreePositionPair node_positions(const TreePositions& places, int local) {
  return {places.gather(local), places.release(local)};
}

machine::Layout layout_for(const Call& call, const Shape& shape) {
  machine::Layout layout;
  layout.ranks = shape.ranks_per_node;
  layout.slots = call.slots;
  layout.slot_bytes = call.slot_bytes;
  return layout;
}

namespace {

/// The node's plans, as SharedStage looks them up: one for all.
struct OnePlan {
  const plan::Plan& only;
  const TreePositions& places;
  int local;

  const plan::Plan& plan(Collective, std::size_t) const { return only; }
  collective::TreePositionPair positions(const plan::Plan&, int) const {
    return node_positions(places, local);
  }
  ContiguousPosition contiguous_position(int root) const {
    return collective::contiguous_position(1, local, root);
  }
};
using Stage = collective::multinode::SharedStage<SimulatedMachine, OnePlan>;

std::size_t scratch_of(const Call& call, const Shape& seen) {
  using namespace collective::multinode;
  std::size_t vectors = 1;
  const auto places =
      places_in(topology::flat_group(seen.nodes), seen.nodes, call.network.tree, seen.node_of(call.root));
  for (int node = 0; node < seen.nodes; ++node) {
    const TreePosition& position = places[static_cast<std::size_t>(node)];
    const std::size_t some =
        call.collective == Collective::reduce
            ? position.children.size()
            : scratch_vectors(call.network.algorithm, node, seen.nodes, position, simulated_sum());
    vectors = std::max(vectors, some);
  }
  return vectors * (std::min(call.bytes, call.network.segment) + 8) * segments_under_way;
}

void aggregate(SimulatedMachine& m, const Call& call, const TreePositions& places, const Buffers& b) {
  constexpr int leader = 0;
  Stage stage(m, OnePlan{call.node, places, m.rank()});
  const auto in_network = [&] {
    if (m.rank() == leader) Sink::current().act({Act::aggregate, 0, 0, call.bytes});
  };
  switch (call.collective) {
    case Collective::barrier:
      return stage.meet(leader, in_network);
    case Collective::reduce:
    case Collective::allreduce:
      stage.reduce(leader, b.send, b.receive, call.bytes, simulated_sum());
      in_network();
      if (call.collective == Collective::allreduce) stage.bcast(leader, b.receive, call.bytes);
      return;
    default:
      throw Error(formatted("simulation has no {} by aggregation nodes", to_string(call.collective)));
  }
}

// Through a window the ranks of a node write one memory together and see each other's notifications; an allgather
// in which several ranks of a node carry does, too. The simulated machine has no such memory: it would run
// what serves where there is no window, and say that to be the plan's time.
void refuse_what_is_written_together(const Call& call) {
  const bool is_allgather =
      call.collective == Collective::allgather || call.collective == Collective::allgatherv;
  const auto refuse = [](const std::string& plan, std::string_view instead) {
    throw Error(
        formatted("{} has the ranks of a node write one memory together, which the simulated machine "
                  "does not have; simulate {}, or measure it on emulated nodes (docs/cluster.md)",
                  plan, instead));
  };
  if (plan::goes_through_window(call.network.algorithm))
    refuse(std::string(plan::to_string(call.network.algorithm)),
           plan::to_string(plan::by_messages(call.network.algorithm)));
  if (is_allgather && call.network.leaders != 1 && call.stage == NodeStageKind::shared)
    refuse(formatted("an {} with several leaders", to_string(call.collective)), "it with leaders=1");
}

void over_nodes(SimulatedMachine& m, const Call& call, const Shape& shape, const TreePositions& places,
                const Buffers& b) {
  if (call.aggregated) return aggregate(m, call, places, b);
  refuse_what_is_written_together(call);
  const Shape seen = seen_by(call, shape);
  const int rank = Sink::current().rank(), node = seen.node_of(rank);
  const auto run_on = [&](auto stage) {
    NodesCall(stage, call, seen, rank, places.placement, places.node(node), b, simulated_sum()).run();
  };
  if (call.stage == NodeStageKind::shared) return run_on(Stage(m, OnePlan{call.node, places, m.rank()}));
  SimulatedPeers neighbours{seen.local(rank), seen.ranks_per_node, node * seen.ranks_per_node, 1,
                            collective::multinode::node_lane};
  neighbours.of_node = true;
  run_on(collective::multinode::MessageStage(neighbours));
}

}  // namespace

collective::multinode::BlocksOfSome listed_blocks(std::size_t bytes, int ranks) {
  collective::multinode::BlocksOfSome blocks;
  for (int rank = 0; rank < ranks; ++rank) blocks.add(bytes, bytes * static_cast<std::size_t>(rank));
  return blocks;
}

std::vector<std::size_t> block_edges(std::size_t bytes, int ranks) {
  std::vector<std::size_t> edges;
  for (int rank = 0; rank <= ranks; ++rank)
    edges.push_back(bytes / 8 * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks) * 8);
  return edges;
}

namespace {

/// Whether ranks read in slots how long the others' blocks are.
bool asks_for_lengths(Collective collective) {
  const CollectiveTraits& of = traits(collective);
  return of.moves_blocks && of.length == Length::none;
}

}  // namespace

BufferSizes buffer_sizes(const Call& call, const Shape& shape) {
  const std::size_t own = call.bytes + 8;
  const std::size_t all =
      traits(call.collective).moves_blocks ? own * static_cast<std::size_t>(shape.ranks()) : own;
  if (!call.spans(shape)) return {all, all, 8};
  // Of a reduce over nodes, the partial results of each lane.
  const std::size_t results =
      call.collective == Collective::reduce ? own * (collective::multinode::segments_under_way + 1) : all;
  return {all, results, scratch_of(call, seen_by(call, shape))};
}

std::optional<int> only_leader(const Call& call, const Shape& shape) {
  if (call.aggregated) return 0;
  if (call.stage == NodeStageKind::none) return {};
  switch (call.collective) {
    case Collective::allreduce:
      if (call.network.leaders != 1) return {};
      [[fallthrough]];
    case Collective::barrier:
    case Collective::bcast:
    case Collective::reduce:
    case Collective::scan:
    case Collective::exscan:
      return leader_of(call, shape);
    default:
      return {};
  }
}

// At a central counter the last to come does what others wait for. How long the blocks of scatterv and
// alltoallv are stands in slots, which no rank writes when they are recorded; the node stages of scatter and
// alltoall use those. A gatherv's root knows it.
bool can_be_recorded(const Call& call, const Shape& shape) {
  const bool is_central = call.node.algorithm == Algorithm::central;
  if (asks_for_lengths(call.collective)) return false;
  if (!call.spans(shape)) return !is_central;
  switch (call.collective) {
    case Collective::barrier:
    case Collective::bcast:
    case Collective::reduce:  // along trees
      return true;
    case Collective::allreduce:
      return !is_central || call.network.leaders == 1;
    case Collective::scan:
    case Collective::exscan:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return !is_central || call.stage != NodeStageKind::shared;
    case Collective::allgather:
    case Collective::gather:
      return true;
    default:
      return call.stage != NodeStageKind::shared;
  }
}

bool is_alike_on_all_nodes(const Call& call, const Shape& shape) {
  return shape.nodes > 1 && call.collective == Collective::allgather && call.stage != NodeStageKind::none &&
         call.network.algorithm == Algorithm::ring;
}

void run_call(SimulatedMachine& machine, const Call& call, const Shape& shape, const TreePositions& places,
              const Buffers& buffers) {
  if (call.spans(shape))
    over_nodes(machine, call, shape, places, buffers);
  else
    call_on_one_node(machine, call, node_positions(places, machine.rank()), buffers, simulated_sum());
}

}  // namespace espalier::simulation
