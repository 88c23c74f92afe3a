// Nonblocking collectives over nodes.
#include <algorithm>
#include <array>
#include <utility>

#include "plan/nonblocking_rules.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/across/call_across.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/spin_limits.hpp"
#include "runtime/statistics/sites.hpp"

namespace espalier::runtime {
namespace {

/// Of the letters. The last lane is that of failure notices.
constexpr int letters_lane = network::lanes - 2;
static_assert(letters_lane > collective::multinode::node_lane + 1);

bool goes_across(Collective collective) {
  using enum Collective;
  constexpr std::array known = {barrier, bcast, reduce, allreduce, allgather};
  return std::count(known.begin(), known.end(), collective) > 0;
}

}  // namespace

/// In this communicator's life once.
void MultiNodeCommunicator::open_channel() {
  network::Transport& transport = *Process::instance().transport();
  mail_ = std::make_shared<across::Mail>(transport, nodes_.placement, nodes_.processes,
                                         nodes_.tags * network::lanes + letters_lane);
  std::shared_ptr<Nonblocking> node;
  if (state_)
    node = Nonblocking::open({state_->arena, state_->share, state_->layout}, local_rank(),
                             state_->machine.waiter().policy());
  channel_ =
      across::Channel::open(mail_, rank(), 0, std::move(node), spin_limits_for(nodes_.ranks_per_core, true));
}

std::unique_ptr<SeparateCall> MultiNodeCommunicator::begin_across(across::Wanted wanted, std::string& why) {
  const machine::CallFacts facts = wanted.facts;
  if (plan::nonblocking_is_off() || !goes_across(facts.collective)) return nullptr;
  if (wanted.operation && wanted.operation->at_once) return nullptr;
  if (!failed_.empty()) throw_out_of_step(failed_);
  why.clear();
  if (selector_(facts.collective, facts.bytes).algorithm == plan::Algorithm::host) {
    why = Communicator::why_host(facts.collective);
    return nullptr;
  }
  if (plan::nonblocking_over_nodes_is_hosts(plan::known_host(), facts.collective, facts.bytes, size(),
                                            static_cast<int>(nodes_.placement.largest())))
    return nullptr;
  if (!channel_) open_channel();
  statistics::Call counted{facts.collective, facts.bytes, plan::Algorithm::exchange,
                           statistics::Carrier::messages};
  counted.nonblocking = true;
  if (statistics::Row* row = counters_.row(counted)) statistics::count_untimed(*row);
  return std::make_unique<across::CallAcross>(channel_, std::move(wanted));
}

}  // namespace espalier::runtime
