// The life of a communicator over several nodes, and what its collectives need; they are in the
// files of their families.
#include "runtime/multinode/multinode_communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/nonblocking_rules.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/process/process.hpp"
#include "runtime/process/tags.hpp"
#include "runtime/progress/spin_limits.hpp"
#include "tree/compose.hpp"

namespace espalier::runtime {
namespace {

/// The last of the endpoint's, which no algorithm uses.
constexpr int notices_lane = network::lanes - 1;
static_assert(notices_lane > collective::multinode::node_lane + 1);

plan::Query shape_of(const NodesShare& nodes) {
  plan::Query shape;
  shape.ranks = nodes.placement.ranks();
  shape.nodes = nodes.placement.nodes();
  shape.ranks_per_node = static_cast<int>(nodes.placement.largest());
  shape.ranks_per_core = nodes.ranks_per_core;
  shape.consecutive = nodes.placement.is_consecutive();
  return shape;
}

}  // namespace

MultiNodeCommunicator::MultiNodeCommunicator(const Agreement& agreement, int rank)
    : Communicator(rank, agreement.nodes.placement.ranks()),
      nodes_(agreement.nodes),
      selector_(plan::Table::instance(), shape_of(agreement.nodes)),
      endpoint_(*Process::instance().transport(), agreement.nodes.processes, rank,
                agreement.nodes.tags * network::lanes, spin_limits_for(agreement.nodes.ranks_per_core, true),
                Process::instance().tag_marks()),
      notices_(
          *Process::instance().transport(),
          {agreement.nodes.processes, rank, agreement.nodes.tags * network::lanes + notices_lane,
           agreement.nodes.tags_use},
          calls_, [this] { return endpoint_.awaited(); }, [this] { return node_peers(); }),
      all_ranks_(static_cast<std::size_t>(agreement.nodes.placement.ranks())),
      counterparts_(agreement.nodes.placement.smallest()) {
  leaves_nonblocking_ = plan::nonblocking_over_nodes_is_always_hosts(plan::known_host(), size());
  std::iota(all_ranks_.begin(), all_ranks_.end(), 0);
  for (const std::vector<int>& ranks : nodes_.placement.ranks_of) {
    for (std::size_t i = 0; i < counterparts_.size(); ++i) counterparts_[i].push_back(ranks[i]);
    last_ranks_.push_back(ranks.back());
  }
  // While a rank waits for others of its node its own messages go on; and what they have failed in it need
  // not wait for.
  const machine::ProgressHook drive = {[](void* self) {
                                         auto* communicator = static_cast<MultiNodeCommunicator*>(self);
                                         communicator->endpoint_.drive();
                                         communicator->look_for_failure();
                                       },
                                       this, Process::instance().progress_in_waits()};
  endpoint_.watch([this] { look_for_failure(); });
  if (agreement.node.share) {
    state_ =
        std::make_unique<SharedState>(*Process::instance().node(), agreement.node, local_rank(),
                                      nodes_.placement.ranks_of[static_cast<std::size_t>(my_node())], drive);
    std::byte* share = state_->arena.at(state_->share.offset);
    failure_ = NodeFailure(*reinterpret_cast<memory::FlagLine*>(share + state_->layout.failure()));
  }
  meet_aggregation_nodes();
}

MultiNodeCommunicator::~MultiNodeCommunicator() {
  try {
    leave_ring();
  } catch (const Error& error) {
    print_to(stderr, "espalier: rank {}, freeing a communicator of {} ranks: {}\n", rank(),
             nodes_.placement.ranks(), error.what());
  }
  // A communicator that failed keeps its tags: its last messages must not meet those of another. At finalize
  // the process may have left already.
  Tags* tags = Process::instance().tags();
  if (!tags || endpoint_.is_abandoned()) return;
  if (mail_)
    mail_->take_tags(nodes_.tags);  // calls may be under way still
  else
    tags->give_back(nodes_.tags);
}

std::unique_ptr<Persistent> MultiNodeCommunicator::prepare(const Bootstrap&, collective::PersistentSpec&,
                                                           const std::string&, std::string& why) {
  if (Config::instance().flag("ESPALIER_PERSISTENT"))
    why = "persistent collectives over nodes are the host's";
  return nullptr;
}

void MultiNodeCommunicator::look_for_failure() {
  failure_.check(call_);
  if (notices_.look(call_, failure_)) look_at_letters();
}

void MultiNodeCommunicator::stop(std::string_view why) {
  be_out_of_step(why, false);  // the rank that found it tells the others, and knows to which it can send
}

void MultiNodeCommunicator::give_up(std::string_view why, std::uint64_t first_call) {
  be_out_of_step(formatted("rank {}: {}", rank(), why), true);
  failure_.tell(first_call, failed_);
  notices_.send(first_call, failed_);
}

void MultiNodeCommunicator::be_out_of_step(std::string_view why, bool tells) {
  endpoint_.abandon();
  failed_ = why;
  leaves_nonblocking_ = false;  // each is an error now
  stop_letters(tells);
}

/// The nodes' lowest ranks speak to them.
void MultiNodeCommunicator::meet_aggregation_nodes() {
  Process& process = Process::instance();
  passed_over_ = process.no_sharp();
  if (!process.sharp() || nodes_.placement.nodes() < 2) return;
  plan::Query shape = shape_of(nodes_);
  shape.sharp = true;
  with_sharp_.emplace(plan::Table::instance(), shape);
  std::vector<std::uint32_t> processes;
  for (const int leader : counterparts_.front())
    processes.push_back(static_cast<std::uint32_t>(nodes_.processes[static_cast<std::size_t>(leader)]));
  // A leader that has no result is helped by those that have it, and may be in the next call.
  constexpr int lane = collective::multinode::node_lane + 1;
  endpoint_.join_calls_on(lane);
  offload_ = std::make_unique<Offload>(*process.sharp(), one_a_node(counterparts_.front()).on(lane),
                                       local_rank() == 0, std::move(processes));
}

int MultiNodeCommunicator::my_node() const {
  return nodes_.placement.node_of[static_cast<std::size_t>(rank())];
}
int MultiNodeCommunicator::local_rank() const {
  return nodes_.placement.local_rank_of[static_cast<std::size_t>(rank())];
}

MultiNodeCommunicator::Peers MultiNodeCommunicator::one_a_node(const std::vector<int>& ranks) {
  return {&endpoint_, ranks, my_node(), 0};
}
MultiNodeCommunicator::Peers MultiNodeCommunicator::all_ranks() {
  return {&endpoint_, all_ranks_, rank(), collective::multinode::node_lane};
}

// HIER 3: the lowest rank of a node leads it; but the root its own, which saves a hop.
const MultiNodeCommunicator::Roles& MultiNodeCommunicator::roles(const plan::NetworkPlan& plan, int root) {
  const auto [known, fresh] = roles_.try_emplace({&plan, root});
  Roles& roles = known->second;
  if (!fresh) return roles;
  const collective::multinode::Placement& placement = nodes_.placement;
  const int root_node = placement.node_of[static_cast<std::size_t>(root)];
  for (const std::vector<int>& ranks : placement.ranks_of) roles.leaders.push_back(ranks.front());
  roles.leaders[static_cast<std::size_t>(root_node)] = root;
  roles.leaders_from_root = roles.leaders;
  std::rotate(roles.leaders_from_root.begin(), roles.leaders_from_root.begin() + root_node,
              roles.leaders_from_root.end());
  roles.leader = my_node() == root_node ? placement.local_rank_of[static_cast<std::size_t>(root)] : 0;
  roles.position = collective::position_of(tree::compose(nodes_.groups, plan.tree, root_node), my_node());
  return roles;
}

collective::multinode::Rooted<MultiNodeCommunicator::Peers> MultiNodeCommunicator::rooted(
    const Roles& roles) {
  const int n = nodes_.placement.nodes();
  const int from_root = collective::multinode::around(my_node() - roles.position.root, n);
  return {roles.leader,
          one_a_node(roles.leaders),
          {&endpoint_, roles.leaders_from_root, from_root, 0},
          roles.position};
}

std::byte* MultiNodeCommunicator::Room::of(std::size_t bytes) {
  if (bytes > bytes_) {
    memory_.reset(new std::byte[bytes]);
    bytes_ = bytes;
  }
  return memory_.get();
}

}  // namespace espalier::runtime
