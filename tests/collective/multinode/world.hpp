// Nodes of one process: each node's ranks are threads over one piece of memory (or have messages only), and
// the nodes are joined by the hostile network.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "collective/multinode/allgather_shared.hpp"
#include "collective/multinode/bcast.hpp"
#include "collective/multinode/stage/message_stage.hpp"
#include "collective/multinode/stage/placement.hpp"
#include "collective/multinode/stage/shared_stage.hpp"
#include "plan/selector.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::testing {

/// One rank's plans and places on its node, by the built-in rules: what SharedStage asks for.
class NodePlans {
 public:
  NodePlans(int rank, int size, double ranks_per_core)
      : rank_(rank), size_(size), selector_(table(), shape_of(size, ranks_per_core)) {}

  const plan::Plan& plan(Collective collective, std::size_t bytes) const {
    return selector_(collective, bytes);
  }
  collective::TreePositionPair positions(const plan::Plan& plan, int root) {
    return {position(plan.gather_tree, gather_[{&plan, root}], root),
            position(plan.release_tree, release_[{&plan, root}], root)};
  }
  const collective::ContiguousPosition& contiguous_position(int root) {
    return contiguous_.try_emplace(root, collective::contiguous_position(size_, rank_, root)).first->second;
  }

 private:
  using TreePositions =
      std::map<std::pair<const plan::Plan*, int>, std::unique_ptr<collective::TreePosition>>;

  static const plan::Table& table() {
    static const char* const nothing[] = {nullptr};
    static const plan::Table built_in{Config(nothing)};
    return built_in;
  }
  static plan::Query shape_of(int size, double ranks_per_core) {
    plan::Query shape;
    shape.ranks = shape.ranks_per_node = size;
    shape.ranks_per_core = ranks_per_core;
    shape.single_copy = Ranks::single_copy();
    return shape;
  }
  const collective::TreePosition& position(const tree::Spec& spec,
                                           std::unique_ptr<collective::TreePosition>& known, int root) const {
    if (!known)
      known = std::make_unique<collective::TreePosition>(
          collective::position_of(tree::compose(topology::flat_group(size_), spec, root), rank_));
    return *known;
  }

  int rank_, size_;
  plan::Selector selector_;
  TreePositions gather_, release_;
  std::map<int, collective::ContiguousPosition> contiguous_;
};

/// The same, to be handed over by value.
struct PlansOf {
  NodePlans* plans;
  const plan::Plan& plan(Collective collective, std::size_t bytes) const {
    return plans->plan(collective, bytes);
  }
  collective::TreePositionPair positions(const plan::Plan& plan, int root) const {
    return plans->positions(plan, root);
  }
  const collective::ContiguousPosition& contiguous_position(int root) const {
    return plans->contiguous_position(root);
  }
};

using SharedNode = collective::multinode::SharedStage<WatchedMachine, PlansOf>;
using MessageNode = collective::multinode::MessageStage<network::Peers>;
static_assert(collective::multinode::SplittingStage<SharedNode>);
static_assert(collective::multinode::NodeStage<MessageNode> &&
              !collective::multinode::SplittingStage<MessageNode>);

/// How the ranks of a node reach each other.
enum class Within { shared_memory, messages };

struct Setting {
  const char* name;
  std::vector<int> node_of;  ///< by rank
  Within within = Within::shared_memory;
  std::uint64_t seed = 1;
  double ranks_per_core = 1;
};

/// One rank of a world, in its thread.
class Member {
 public:
  using Peers = network::Peers;

  Member(const collective::multinode::Placement& placement, int rank, network::Endpoint& end,
         WatchedMachine* machine, std::byte* area, double ranks_per_core)
      : placement_(placement),
        rank_(rank),
        end_(end),
        machine_(machine),
        plans_(local_rank(), node_size(), ranks_per_core),
        last_ranks_(),
        all_ranks_(static_cast<std::size_t>(placement.ranks())) {
    if (area) area_ = {area, area_bytes, 0};
    std::iota(all_ranks_.begin(), all_ranks_.end(), 0);
    for (const auto& ranks : placement.ranks_of) last_ranks_.push_back(ranks.back());
    counterparts_.resize(placement.smallest());
    for (std::size_t i = 0; i < counterparts_.size(); ++i)
      for (const auto& ranks : placement.ranks_of) counterparts_[i].push_back(ranks[i]);
  }

  const collective::multinode::Placement& placement() const { return placement_; }
  int rank() const { return rank_; }
  int size() const { return placement_.ranks(); }
  int node() const { return placement_.node_of[static_cast<std::size_t>(rank_)]; }
  int local_rank() const { return placement_.local_rank_of[static_cast<std::size_t>(rank_)]; }
  int node_size() const { return static_cast<int>(placement_.size_of(node())); }

  /// This rank's counterparts on all nodes, by their number there; the last rank of each node.
  Peers counterparts(int number) {
    return {&end_, counterparts_[static_cast<std::size_t>(number)], node(), 0};
  }
  Peers all_ranks() { return {&end_, all_ranks_, rank_, 0}; }
  /// Null where the node's ranks have messages only.
  WatchedMachine* machine() { return machine_; }
  collective::multinode::SharedArea& area() { return area_; }
  const plan::Plan& node_plan(Collective collective, std::size_t bytes) {
    return plans_.plan(collective, bytes);
  }
  static constexpr std::size_t area_bytes = std::size_t{1} << 20;

  Peers last_ranks() { return {&end_, last_ranks_, node(), 0}; }

  /// Runs body(stage).
  template <class Body>
  void on_stage(Body body) {
    if (machine_) {
      SharedNode stage(*machine_, PlansOf{&plans_});
      body(stage);
    } else {
      MessageNode stage(Peers{&end_, placement_.ranks_of[static_cast<std::size_t>(node())], local_rank(),
                              collective::multinode::node_lane});
      body(stage);
    }
  }

  /// Who leads for a root, and the node's place in a tree of nodes.
  struct Roles {
    int leader;
    std::vector<int> leaders, leaders_from_root;
    collective::TreePosition position;
  };
  Roles roles(const char* tree, int root) const {
    const int root_node = placement_.node_of[static_cast<std::size_t>(root)];
    Roles roles;
    for (const auto& ranks : placement_.ranks_of) roles.leaders.push_back(ranks.front());
    roles.leaders[static_cast<std::size_t>(root_node)] = root;
    for (int i = 0; i < placement_.nodes(); ++i)
      roles.leaders_from_root.push_back(
          roles.leaders[static_cast<std::size_t>((root_node + i) % placement_.nodes())]);
    roles.leader = node() == root_node ? placement_.local_rank_of[static_cast<std::size_t>(root)] : 0;
    roles.position = places_in(tree, placement_.nodes(), root_node)[static_cast<std::size_t>(node())];
    return roles;
  }
  collective::multinode::Rooted<Peers> rooted(const Roles& roles) {
    const int n = placement_.nodes();
    return {roles.leader,
            {&end_, roles.leaders, node(), 0},
            {&end_, roles.leaders_from_root, (node() - roles.position.root + n) % n, 0},
            roles.position};
  }

 private:
  const collective::multinode::Placement& placement_;
  int rank_;
  network::Endpoint& end_;
  WatchedMachine* machine_;
  NodePlans plans_;
  std::vector<std::vector<int>> counterparts_;
  std::vector<int> last_ranks_, all_ranks_;
  collective::multinode::SharedArea area_;
};

class World {
 public:
  explicit World(const Setting& setting)
      : setting_(setting),
        placement_(collective::multinode::place_by(setting.node_of)),
        boxes_(placement_.ranks(), setting.seed) {
    const int n = placement_.ranks();
    std::vector<int> processes;
    for (int rank = 0; rank < n; ++rank) processes.push_back(n - 1 - rank);
    for (int rank = 0; rank < n; ++rank)
      ends_.emplace_back(new network::Endpoint(boxes_.of(processes[static_cast<std::size_t>(rank)]),
                                               processes, rank, 16, oversubscribed_spin_limits));
    for (const auto& ranks : placement_.ranks_of) {
      nodes_.push_back(memory_of(ranks));
      areas_.emplace_back(nodes_.back() ? Member::area_bytes : 0);
    }
  }

  /// Runs body(member) on every rank at once, and expects that nothing is left over on the network. A rank
  /// that throws ends the program: the others would wait for it for ever.
  void run(const std::function<void(Member&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < placement_.ranks(); ++rank) threads.emplace_back([&, rank] { be(rank, body); });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(boxes_.complaints(), std::vector<std::string>()) << setting_.name;
  }

  const collective::multinode::Placement& placement() const { return placement_; }

 private:
  // A rank that is alone has messages only, as in the library.
  std::unique_ptr<Ranks> memory_of(const std::vector<int>& ranks) {
    if (setting_.within == Within::messages || ranks.size() == 1) return nullptr;
    const auto drive = [](void* end) { static_cast<network::Endpoint*>(end)->drive(); };
    return std::make_unique<Ranks>(
        static_cast<int>(ranks.size()), 8, 4096, machine::WaitMode::yield, [&](int local) {
          return machine::ProgressHook{
              drive, ends_[static_cast<std::size_t>(ranks[static_cast<std::size_t>(local)])].get()};
        });
  }

  void be(int rank, const std::function<void(Member&)>& body) {
    const auto node = static_cast<std::size_t>(placement_.node_of[static_cast<std::size_t>(rank)]);
    const int local = placement_.local_rank_of[static_cast<std::size_t>(rank)];
    Member member(placement_, rank, *ends_[static_cast<std::size_t>(rank)],
                  nodes_[node] ? &nodes_[node]->machine(local) : nullptr,
                  nodes_[node] ? areas_[node].data() : nullptr, setting_.ranks_per_core);
    try {
      body(member);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s, rank %d: %s\n", setting_.name, rank, error.what());
      std::abort();
    }
  }

  Setting setting_;
  collective::multinode::Placement placement_;
  Mailboxes boxes_;
  std::vector<std::unique_ptr<network::Endpoint>> ends_;
  std::vector<std::unique_ptr<Ranks>> nodes_;
  std::vector<std::vector<std::byte>> areas_;  // by node
};

/// Placements of all sorts, with shared memory and with messages within the nodes.
inline std::vector<Setting> settings() {
  const std::pair<const char*, std::vector<int>> placements[] = {{"block", {0, 0, 0, 1, 1, 1}},
                                                                 {"cyclic", {0, 1, 2, 0, 1, 2, 0}},
                                                                 {"3+1+3", {0, 0, 0, 1, 2, 2, 2}},
                                                                 {"one rank a node", {0, 1, 2, 3, 4}},
                                                                 {"all on one node", {0, 0, 0, 0}}};
  std::vector<Setting> all;
  for (const auto& [name, node_of] : placements) {
    const double crowd = all.size() % 4 == 0 ? 4 : 1;  // both kinds of rules for the nodes
    all.push_back({name, node_of, Within::shared_memory, all.size() + 1, crowd});
    all.push_back({name, node_of, Within::messages, all.size() + 1, crowd});
  }
  return all;
}

/// For elements of 8 bytes: nothing, one, around a segment, beyond a window of them.
inline constexpr std::size_t segment_bytes = 512;
inline std::vector<std::size_t> segment_counts() { return {0, 1, 63, 64, 65, 8 * 64 + 1, 19 * 64 + 5}; }

}  // namespace espalier::testing
