// The life of a call: its start, what drives it, its end. What is sent and taken is in letters.cpp and direct.cpp.
#include "runtime/across/channel.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.hpp"
#include "runtime/across/sent_letters.hpp"
#include "runtime/communicator/only_thread.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::runtime::across {

Channel::Channel(std::shared_ptr<Mail> mail, int rank, int stream, std::shared_ptr<Nonblocking> node,
                 network::SpinLimits spin_limits)
    : mail_(std::move(mail)),
      rank_(rank),
      my_node_(node_of(rank)),
      local_rank_(local_rank_of(rank)),
      stream_(stream),
      node_(std::move(node)),
      spin_limits_(spin_limits) {}

// Behind the node's calls in the list: what these have brought forward this finds (see drive()).
std::shared_ptr<Channel> Channel::open(std::shared_ptr<Mail> mail, int rank, int stream,
                                       std::shared_ptr<Nonblocking> node, network::SpinLimits spin_limits) {
  std::shared_ptr<Channel> made(new Channel(std::move(mail), rank, stream, std::move(node), spin_limits));
  NonblockingList::instance().add(made);
  return made;
}

void Channel::start(Call& call) {
  const CallLock lock(mail_->mutex());
  call.number = ++calls_;
  call.claim = 0;
  call.done = false;
  call.error.clear();
  call.active = true;
  call.heard = 0;
  call.node_part = Call::NodePart::none;
  under_way_.push_back(&call);
  if (call.direct) {
    send_direct(call);
  } else {
    begin_on_node(call);
    send_own(call);
  }
  drive();
}

void Channel::begin_on_node(Call& call) {
  const Wanted& wanted = call.wanted;
  const bool is_bcast = wanted.facts.collective == Collective::bcast;
  if (ranks_here() == 1 || (is_bcast && node_of(wanted.facts.root) != my_node_)) return;
  call.node_part = Call::NodePart::by_letters;
  if (!node_) return;
  make_spec(call);
  call.of_node.forget_progress();
  if (!node_->start_part(call.of_node)) return;
  call.node_part = Call::NodePart::under_way;
  const bool goes_out =
      wanted.facts.collective != Collective::reduce || node_of(wanted.facts.root) != my_node_;
  if (!is_bcast && goes_out) call.claim = ++claims_;
}

bool Channel::is_ready(Call& call) {
  {
    const CallLock lock(mail_->mutex());
    if (!call.done) drive();
    if (call.done) return true;
  }
  // These drive the host, and this channel as well.
  if (call.node_part == Call::NodePart::under_way)
    node_->is_ready(call.of_node);
  else
    Process::instance().make_progress();
  const CallLock lock(mail_->mutex());
  return call.done;
}

void Channel::complete(Call& call) {
  network::Wait wait(spin_limits_);
  while (!is_ready(call)) wait.pass();
  asking::note_collective();
  forget(call);
  if (!call.error.empty()) throw Error(call.error);
}

void Channel::forget(Call& call) {
  const CallLock lock(mail_->mutex());
  if (!call.active) return;
  call.active = false;
  std::erase(under_way_, &call);
  if (call.node_part == Call::NodePart::under_way) node_->forget(call.of_node);
  mail_->forget(stream_, call.number);
}

void Channel::advance_aside() {
  const CallLock lock(mail_->mutex(), std::try_to_lock);
  if (lock && !under_way_.empty()) drive();
}

// A rank publishes its data, then looks for those of the others, with a fence in between: so of ranks that start at the
// same time at least one sees all. Likewise a rank that has finished what another one waits for looks again.
void Channel::drive() {
  for (bool any = true; any;) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    any = mail_->collect();
    bool may_claim = true;
    for (Call* call : under_way_) any |= step(*call, may_claim);
    std::erase_if(under_way_, [](const Call* call) { return call->done; });
  }
  SentLetters::instance().look();
}

/// Whether something has changed. In order: a rank claims a call when it has seen to all claims before.
bool Channel::step(Call& call, bool& may_claim) try {
  bool any = false;
  if (call.node_part == Call::NodePart::under_way && node_->advance(call.of_node)) {
    call.node_part = Call::NodePart::done;
    any = true;
  }
  if (call.claim != 0) may_claim = may_claim && call.node_part == Call::NodePart::done;
  if (call.claim != 0 && may_claim) {
    if (node_->claim(call.claim)) send_for_node(call);
    call.claim = 0;
    any = true;
  }
  if (!(call.direct ? has_sources(call) : has_all(call))) return any;
  call.direct ? take_direct(call) : finish(call);
  call.done = true;
  return true;
} catch (const Error& error) {
  call.error = error.what();
  call.done = true;
  return true;
}

}  // namespace espalier::runtime::across
