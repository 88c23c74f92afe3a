// Nonblocking collectives over nodes.
#include <cstring>
#include <mutex>
#include <utility>

#include "plan/nonblocking_rules.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/across/call_across.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/process/node.hpp"
#include "runtime/progress/only_thread.hpp"
#include "runtime/progress/spin_limits.hpp"
#include "runtime/statistics/sites.hpp"

namespace espalier::runtime {
namespace {

/// Of the letters. The last lane is that of failure notices.
constexpr int letters_lane = network::lanes - 2;
static_assert(letters_lane > collective::multinode::node_lane + 1);

}  // namespace

/// Of the others on this node, as they stand in the communicator's share.
NodePeers MultiNodeCommunicator::node_peers() const {
  NodePeers peers;
  if (!state_ || !Process::instance().node()->sees_processes()) return peers;
  const std::vector<int>& ranks = nodes_.placement.ranks_of[static_cast<std::size_t>(my_node())];
  const std::byte* const share = state_->arena.at(state_->share.offset);
  for (int local = 0; local < static_cast<int>(ranks.size()); ++local) {
    ProcessMark mark;
    std::memcpy(&mark, share + state_->layout.process(local), sizeof mark);
    if (local == local_rank())
      peers.be(mark);
    else
      peers.add(ranks[static_cast<std::size_t>(local)], mark);
  }
  return peers;
}

/// In this communicator's life once.
void MultiNodeCommunicator::open_mail() {
  const std::uint64_t use = static_cast<std::uint64_t>(nodes_.processes.front()) << 32 | nodes_.tags_use;
  mail_ = std::make_shared<across::Mail>(
      *Process::instance().transport(), across::SentLetters::instance(),
      across::MailPlace{nodes_.placement, nodes_.processes, rank(),
                        nodes_.tags * network::lanes + letters_lane, use, node_peers()});
}

// A rank that waits in a nonblocking call asks this one, which waits long in a blocking one, and may have skipped that.
void MultiNodeCommunicator::look_at_letters() {
  if (!mail_) open_mail();
  const CallLock lock(mail_->mutex(), std::try_to_lock);
  if (!lock) return;
  mail_->note_blocking(calls_.number());
  mail_->collect();
  if (!mail_->other_order().empty()) throw OutOfStep(mail_->other_order(), call_);
}

// Other ranks may wait for this one in calls that it does not begin any more.
void MultiNodeCommunicator::stop_letters(bool tells) noexcept {
  try {
    if (!mail_) open_mail();
    const CallLock lock(mail_->mutex());
    mail_->note_blocking(calls_.number());
    mail_->stop(failed_, tells);
  } catch (const std::exception&) {  // no memory: this rank's own failure is what matters
  }
}

void MultiNodeCommunicator::open_channel() {
  if (!mail_) open_mail();
  KeptNonblocking node;
  // Not by the progress thread: it may not call the host. What it did last on the node no rank would send, where all
  // have started the call and wait in the host for another node.
  constexpr bool by_thread = false;
  if (state_)
    node = Nonblocking::open({state_->arena, state_->share, state_->layout}, local_rank(),
                             state_->machine.waiter().policy(), by_thread,
                             nodes_.placement.ranks_of[static_cast<std::size_t>(my_node())]);
  channel_ = across::Channel::open(mail_, rank(), across::nonblocking_stream, std::move(node),
                                   spin_limits_for(nodes_.ranks_per_core, true));
}

/// `why` as of begin_across().
bool MultiNodeCommunicator::is_hosts_across(const machine::CallFacts& facts, bool by_nodes,
                                            std::string& why) {
  why.clear();
  if (!traits(facts.collective).node_only &&
      selector_(facts.collective, facts.bytes).algorithm == plan::Algorithm::host) {
    why = Communicator::why_host(facts.collective);
    return true;
  }
  const plan::OverNodes over_nodes = {size(), nodes_.placement.nodes(),
                                      static_cast<int>(nodes_.placement.largest()), by_nodes,
                                      facts.operation == reduce::user_operation};
  return plan::nonblocking_over_nodes_is_hosts(plan::known_host(), facts.collective, facts.bytes, over_nodes);
}

std::unique_ptr<SeparateCall> MultiNodeCommunicator::begin_across(across::Wanted wanted, std::string& why) {
  const machine::CallFacts facts = wanted.facts;
  if (plan::nonblocking_is_off()) return nullptr;
  if (wanted.operation && wanted.operation->at_once) return nullptr;
  if (!failed_.empty()) throw_out_of_step(failed_);
  if (is_hosts_across(facts, wanted.spec == nullptr, why)) return nullptr;
  if (!channel_) open_channel();
  channel_->note_blocking(calls_.number());
  statistics::Call counted{facts.collective, facts.bytes, plan::Algorithm::exchange,
                           statistics::Carrier::messages};
  counted.nonblocking = true;
  if (statistics::Row* row = counters_.row(counted)) statistics::count_untimed(*row);
  return std::make_unique<across::CallAcross>(channel_, std::move(wanted));
}

}  // namespace espalier::runtime
