#include "simulate/engine/call.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/nodes/allreduce.hpp"
#include "collective/nodes/barrier.hpp"
#include "collective/nodes/bcast.hpp"
#include "collective/nodes/reduce.hpp"
#include "collective/nodes/shared_stage.hpp"
#include "simulate/engine/node_call.hpp"
#include "simulate/engine/peers.hpp"
#include "topology/group.hpp"
#include "tree/compose.hpp"

namespace espalier::simulate {

using collective::ContiguousPlace;
using collective::Place;
using collective::Reduction;
using plan::Algorithm;

namespace {

constexpr int leader = 0;  // of every node; rank 0 is the root

std::vector<Place> places_in(const topology::Group& group, int ranks, const tree::Spec& spec) {
  const tree::Tree tree = tree::compose(group, spec, leader);
  std::vector<Place> places;
  for (int rank = 0; rank < ranks; ++rank) places.push_back(collective::place_of(tree, rank));
  return places;
}

/// The groups of a node's ranks on the model's cores, as on a real node. Where ranks exceed cores they meet
/// at the machine alone.
topology::Group groups_of(const NodeModel& node, const Shape& shape) {
  const int ranks = shape.ranks_per_node, cores = node.cores();
  if (ranks > cores) return topology::flat_group(ranks);
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

class Places {
 public:
  Places(const Call& call, const Shape& shape, const NodeModel& node) {
    const topology::Group group = groups_of(node, shape);
    gather_ = places_in(group, shape.ranks_per_node, call.node.gather_tree);
    release_ = places_in(group, shape.ranks_per_node, call.node.release_tree);
    nodes_ = places_in(topology::flat_group(shape.nodes), shape.nodes, call.network.tree);
  }

  const Place& gather(int local) const { return gather_[static_cast<std::size_t>(local)]; }
  const Place& release(int local) const { return release_[static_cast<std::size_t>(local)]; }
  const Place& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

 private:
  std::vector<Place> gather_, release_, nodes_;
};

std::shared_ptr<const Places> places_for(const Call& call, const Shape& shape, const NodeModel& node) {
  return std::make_shared<const Places>(call, shape, node);
}

NodePlaces node_places(const Places& places, int local) {
  return {places.gather(local), places.release(local)};
}

machine::Layout layout_for(const Shape& shape, std::size_t slot_bytes) {
  machine::Layout layout;
  layout.ranks = shape.ranks_per_node;
  layout.slot_bytes = slot_bytes;
  return layout;
}

namespace {

/// The node's plans, as SharedStage looks them up: one for all.
struct OnePlan {
  const plan::Plan& only;
  const Places& places;
  int local;

  const plan::Plan& plan(Collective, std::size_t) const { return only; }
  const Place& gather_place(const plan::Plan&, int) const { return places.gather(local); }
  const Place& release_place(const plan::Plan&, int) const { return places.release(local); }
  ContiguousPlace contiguous_place(int root) const { return collective::contiguous_place(1, local, root); }
};
using Stage = collective::nodes::SharedStage<SimulatedMachine, OnePlan>;

[[noreturn]] void refuse(const Call& call, const char* where) {
  throw Error(formatted("simulation has no {} {}", to_string(call.collective), where));
}

std::size_t scratch_of(const Call& call, int nodes) {
  using namespace collective::nodes;
  std::size_t vectors = call.network.algorithm == Algorithm::gather_all ? static_cast<std::size_t>(nodes) : 1;
  if (call.network.algorithm == Algorithm::tree || call.collective == Collective::reduce)
    for (const Place& place : places_in(topology::flat_group(nodes), nodes, call.network.tree))
      vectors = std::max(vectors, place.children.size());
  return vectors * (std::min(call.bytes, call.network.segment) + 8) * segments_under_way;
}

void aggregate(SimulatedMachine& m, Stage& stage, const Call& call, const Buffers& b) {
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
      refuse(call, "by aggregation nodes");
  }
}

void over_nodes(SimulatedMachine& m, const Call& call, const Shape& shape, const Places& places,
                const Buffers& b) {
  namespace nodes = collective::nodes;
  Stage stage(m, OnePlan{call.node, places, m.rank()});
  if (call.aggregated) return aggregate(m, stage, call, b);
  const int node = shape.node_of(Sink::current().rank());
  const SimulatedPeers leaders{node, shape.nodes, 0, shape.ranks_per_node};
  const nodes::Rooted<SimulatedPeers> rooted{leader, leaders, leaders, places.node(node)};
  const Reduction r{b.send, b.receive, call.bytes, simulated_sum()};
  switch (call.collective) {
    case Collective::barrier:
      return nodes::barrier(stage, leaders, places.node(node), call.network.algorithm);
    case Collective::bcast:
      return nodes::bcast(stage, rooted, b.receive, call.bytes, call.network);
    case Collective::reduce:
      return nodes::reduce(stage, rooted, r, {b.receive, b.scratch}, call.network);
    case Collective::allreduce:
      return nodes::allreduce(stage, leaders, places.node(node), r, b.scratch, call.network);
    default:
      refuse(call, "over nodes");
  }
}

}  // namespace

BufferSizes buffer_sizes(const Call& call, const Shape& shape) {
  const auto ranks = static_cast<std::size_t>(shape.ranks_per_node);
  const bool blocks = shape.nodes == 1 &&
                      (call.collective == Collective::allgather || call.collective == Collective::alltoall ||
                       call.collective == Collective::gather || call.collective == Collective::scatter);
  std::size_t own = call.bytes + 8, all = blocks ? own * ranks : own;
  if (shape.nodes > 1 && call.collective == Collective::reduce)
    all = (call.bytes + 8) * (collective::nodes::segments_under_way + 1);  // partial results of each lane
  return {blocks ? all : own, all, shape.nodes > 1 ? scratch_of(call, shape.nodes) : 8};
}

bool can_be_recorded(const Call& call) { return call.node.algorithm != Algorithm::central; }

void run_call(SimulatedMachine& machine, const Call& call, const Shape& shape, const Places& places,
              const Buffers& buffers) {
  if (shape.nodes == 1)
    call_on_one_node(machine, call, node_places(places, machine.rank()), buffers, simulated_sum());
  else
    over_nodes(machine, call, shape, places, buffers);
}

}  // namespace espalier::simulate
