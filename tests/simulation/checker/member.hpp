// One rank of several nodes on the checking machine: node stages on the machine, network stages over checked
// messages.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "collective/multinode/bcast.hpp"
#include "collective/multinode/stage/placement.hpp"
#include "collective/multinode/stage/shared_stage.hpp"
#include "network/window/team.hpp"
#include "simulation/checker/peers.hpp"
#include "tests/simulation/checker/making.hpp"

namespace espalier::testing {

using collective::multinode::Placement;
using plan::NetworkPlan;
using simulation::checker::CheckedEndpoint;
using Network = simulation::checker::Peers;

/// What is the same in all executions of a scenario; shared by the ranks, as roles and places must outlive
/// the calls that refer to them.
class Nodes {
 public:
  /// `shape`: of the trees within nodes and between them.
  Nodes(const std::vector<int>& node_of, const char* shape, Algorithm meeting = Algorithm::exchange)
      : node_of_(node_of),
        placement_(collective::multinode::place_by(node_of)),
        tree_(plan_for(Algorithm::tree)),
        other_(plan_for(meeting, 1024)),
        between_(placement_.nodes(), shape) {
    processes_.resize(node_of.size());
    std::iota(processes_.begin(), processes_.end(), 0);
    for (const auto& ranks : placement_.ranks_of) {
      within_.emplace_back(static_cast<int>(ranks.size()), shape);
      last_ranks_.push_back(ranks.back());
    }
    counterparts_.resize(placement_.smallest());
    for (std::size_t i = 0; i < counterparts_.size(); ++i)
      for (const auto& ranks : placement_.ranks_of) counterparts_[i].push_back(ranks[i]);
    for (int root = 0; root < placement_.ranks(); ++root) add_leaders(root);
  }

  const std::vector<int>& node_of() const { return node_of_; }
  const Placement& placement() const { return placement_; }
  const std::vector<int>& processes() const { return processes_; }
  const std::vector<int>& last_ranks() const { return last_ranks_; }
  const std::vector<int>& counterparts(int number) const {
    return counterparts_[static_cast<std::size_t>(number)];
  }
  int most_leaders() const { return static_cast<int>(counterparts_.size()); }
  const std::vector<int>& leaders(int root) const { return leaders_[static_cast<std::size_t>(root)]; }
  const std::vector<int>& leaders_from(int root) const { return from_root_[static_cast<std::size_t>(root)]; }
  const TreePosition& position(int node, int root) const {
    return between_.of(node, placement_.node_of[static_cast<std::size_t>(root)]);
  }
  const Trees& within(int node) const { return within_[static_cast<std::size_t>(node)]; }
  const Plan& plan(Collective collective) const {
    const bool by_tree = collective == Collective::barrier || collective == Collective::bcast ||
                         collective == Collective::reduce;
    return by_tree ? tree_ : other_;
  }

 private:
  void add_leaders(int root) {
    const int node = placement_.node_of[static_cast<std::size_t>(root)];
    std::vector<int> leaders, from_root;
    for (const auto& ranks : placement_.ranks_of) leaders.push_back(ranks.front());
    leaders[static_cast<std::size_t>(node)] = root;
    for (int i = 0; i < placement_.nodes(); ++i)
      from_root.push_back(leaders[static_cast<std::size_t>((node + i) % placement_.nodes())]);
    leaders_.push_back(std::move(leaders));
    from_root_.push_back(std::move(from_root));
  }

  std::vector<int> node_of_;
  Placement placement_;
  Plan tree_, other_;
  Trees between_;
  std::vector<Trees> within_;
  std::vector<int> processes_, last_ranks_;
  std::vector<std::vector<int>> counterparts_, leaders_, from_root_;
};
using SharedNodes = std::shared_ptr<const Nodes>;

/// A window's, on the rank that runs.
inline network::WindowTeam team_of(const Nodes& nodes) {
  const int rank = Execution::current().rank();
  const Placement& placement = nodes.placement();
  return {placement.ranks_of, placement.ranks_of, placement.node_of[static_cast<std::size_t>(rank)],
          placement.local_rank_of[static_cast<std::size_t>(rank)]};
}

/// What SharedStage asks for.
struct FixedPlans {
  const Nodes* nodes;
  int node, local;
  const Plan& plan(Collective collective, std::size_t) const { return nodes->plan(collective); }
  collective::TreePositionPair positions(const Plan&, int root) const {
    const TreePosition& position = nodes->within(node).of(local, root);
    return {position, position};
  }
  collective::ContiguousPosition contiguous_position(int) const { return {}; }
};

class Member {
 public:
  using Stage = collective::multinode::SharedStage<CheckingMachine, FixedPlans>;

  Member(CheckingMachine& m, const Nodes& nodes)
      : nodes_(nodes),
        rank_(Execution::current().rank()),
        end_(nodes.processes()),
        stage_(m, FixedPlans{&nodes, node(), m.rank()}) {}

  Stage& stage() { return stage_; }
  const Nodes& nodes() const { return nodes_; }
  int rank() const { return rank_; }
  int node() const { return nodes_.placement().node_of[static_cast<std::size_t>(rank_)]; }
  int local() const { return stage_.rank(); }
  /// This rank's counterparts on all nodes, by their number there; the last rank of each node.
  Network counterparts(int number) { return end_.peers(nodes_.counterparts(number), node()); }
  Network last_ranks() { return end_.peers(nodes_.last_ranks(), node()); }
  const TreePosition& position(int root = 0) const { return nodes_.position(node(), root); }
  collective::multinode::Rooted<Network> rooted(int root) {
    const int n = nodes_.placement().nodes();
    const int root_node = nodes_.placement().node_of[static_cast<std::size_t>(root)];
    const int leader =
        node() == root_node ? nodes_.placement().local_rank_of[static_cast<std::size_t>(root)] : 0;
    return {leader, end_.peers(nodes_.leaders(root), node()),
            end_.peers(nodes_.leaders_from(root), (node() - root_node + n) % n), position(root)};
  }

 private:
  const Nodes& nodes_;
  int rank_;
  CheckedEndpoint end_;
  Stage stage_;
};

/// Words in memory that lasts as long as the execution, so that a message that is late finds it, and what it
/// holds by then.
class Buffer {
 public:
  explicit Buffer(std::size_t most)
      : words_(reinterpret_cast<std::uint64_t*>(Execution::current().keep(most * 8))), most_(most) {}

  std::uint64_t* words() const { return words_; }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(words_); }
  void fill(const Words& values) const { std::copy(values.begin(), values.end(), words_); }
  Words values(std::size_t count) const { return Words(words_, words_ + count); }
  /// Uses all of it for something else.
  void spoil() const { std::fill_n(words_, most_, 0xdeadull); }

 private:
  std::uint64_t* words_;
  std::size_t most_;
};

inline Scenario make_over_nodes(const std::string& name, const SharedNodes& nodes, bool fenced,
                                const Ring& ring, Body body, std::size_t area_bytes = 0) {
  std::string where;
  for (const int node : nodes->node_of()) where += std::to_string(node);
  Scenario scenario = make(formatted("{} on nodes {}", name, where), nodes->placement().ranks(), fenced, ring,
                           std::move(body));
  scenario.node_of = nodes->node_of();
  scenario.area_bytes = area_bytes;
  return scenario;
}

inline NetworkPlan between(Algorithm algorithm, std::size_t segment, int leaders = 1) {
  NetworkPlan plan;
  plan.algorithm = algorithm;
  plan.segment = segment;
  plan.leaders = leaders;
  return plan;
}

/// Placements of so many ranks whose ranks follow on each other; and one whose ranks do not.
inline std::vector<int> in_blocks(int ranks) {
  static const std::vector<int> all[] = {{0, 1}, {0, 0, 1}, {0, 0, 1, 1}, {0, 0, 1, 1, 2}};
  return all[ranks - 2];
}
inline std::vector<int> in_turns(int ranks) {
  static const std::vector<int> all[] = {{0, 1}, {0, 1, 0}, {0, 1, 0, 1}, {0, 1, 2, 0, 1}};
  return all[ranks - 2];
}
/// As many nodes as possible.
inline std::vector<int> apart(int ranks) {
  static const std::vector<int> all[] = {{0, 1}, {0, 1, 2}, {0, 1, 2, 2}, {0, 1, 1, 2, 2}};
  return all[ranks - 2];
}

}  // namespace espalier::testing
