// Nonblocking collectives over nodes: calls that all ranks of a communicator start in one order.
//
// A start waits for no rank, and a rank that has started owes the others nothing: it may wait, in the host, for a
// message that comes when they are through. So no rank passes on what it has received. On a node the ranks give their
// data to each other through shared memory, and all of them fold or collect these; who is the first to see that all are
// there sends them, for all, to every rank that wants them on other nodes: at the latest the rank that has started last,
// in its start. Receivers take the letters when they test or wait. So there is one round of messages, and from a node one
// message to each rank.
//
// Other collectives, and operators of the user, have each rank send what it gives to each reader, in its start; nothing
// of it goes through shared memory (direct.cpp).
//
// Ranks that call different things find it in each other's letters (mail.hpp); one that waits long asks those that it
// awaits. What fails on one rank it tells all others. From that call on the stream is of no more use.
//
// The text is written against a Side, so that the checking machine runs this very text (docs/simulation.md): the node's
// calls, a lock, a wait, a fence, patience, and what else of the process a wait drives.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "network/spin_limits.hpp"
#include "runtime/across/stream_end.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/failure/node_failure.hpp"

namespace espalier::runtime::across {

/// The life of the calls at one rank's end of a stream. Side::has_come() says what it is given: on the checking machine
/// a mutant does not wait for it; so Side::speaks() says that a rank says what it knows.
template <class Side>
class BasicChannel : public StreamEnd {
 public:
  using KeptNode = typename Side::KeptNode;

  /// `node`: of this node's ranks; null: there is none, or no memory for it.
  BasicChannel(std::shared_ptr<Mail> mail, int rank, int stream, KeptNode node,
               network::SpinLimits spin_limits)
      : StreamEnd(std::move(mail), rank, stream), node_(std::move(node)), spin_limits_(spin_limits) {}
  ~BasicChannel() {
    const Lock lock(mail().mutex());
    mail().close(stream());
  }
  BasicChannel(const BasicChannel&) = delete;
  BasicChannel& operator=(const BasicChannel&) = delete;

  const network::SpinLimits& spin_limits() const { return spin_limits_; }

  /// Local: waits for no rank. In the order of the stream's calls. Throws AlreadyTold when the stream has failed.
  void start(Call& call);
  /// Whether complete() would return or throw at once; if not, all that is under way has been driven.
  bool is_ready(Call& call);
  /// Waits, while all else is driven, until this rank's part is done. Throws Error when a rank is gone, or has
  /// called something else.
  void complete(Call& call);
  /// The program gives the call up, done or not.
  void forget(Call& call);
  /// Drives what is under way, or hears what others ask, if no other thread does so.
  void drive_aside();
  /// This rank has begun so many blocking calls of the communicator.
  void note_blocking(std::uint64_t calls) {
    const Lock lock(mail().mutex());
    mail().note_blocking(calls);
  }

 private:
  using Lock = typename Side::Lock;

  void give(Call& call);
  bool begin_on_node(Call& call);
  void drive();
  /// At what this rank has of the others. Whether something has changed.
  bool look();
  bool step(Call& call, bool& may_claim);
  bool take(Call& call);
  /// No rank can do this call and later ones. An OutOfStep of the node's calls says from which on: all calls of the stream
  /// with a node are counted there.
  void fail(Call& call, const Error& error);
  bool has_failed(Call& call);
  /// After a look in vain.
  void look_after(Call& call);
  void be_patient(Call& call);
  void ask(Call& call);

  KeptNode node_;
  network::SpinLimits spin_limits_;
  std::uint64_t claims_ = 0;
  std::vector<Call*> under_way_;  // in order
  typename Side::Patience patience_;
};

template <class Side>
void BasicChannel<Side>::start(Call& call) {
  const Lock lock(mail().mutex());
  call.number = mail().begin(stream(), call.wanted.facts);
  call.history = mail().history_of(stream(), call.number);
  call.claim = 0;
  call.done = false;
  call.error.clear();
  call.kind_of_error = Error::Kind::other;
  call.active = true;
  call.heard = 0;
  call.node_part = Call::NodePart::none;
  under_way_.push_back(&call);
  give(call);
  drive();
}

/// All that this rank alone has to give. Where it cannot, the others would wait for it.
template <class Side>
void BasicChannel<Side>::give(Call& call) try {
  if (!begin_on_node(call) && node_) node_->note_call(call.wanted.facts);
  call.direct ? send_direct(call) : send_own(call);
} catch (const Error& error) {
  fail(call, error);
  throw;
}

/// Whether the node's ranks hear of it there.
template <class Side>
bool BasicChannel<Side>::begin_on_node(Call& call) {
  const Wanted& wanted = call.wanted;
  const bool is_bcast = wanted.facts.collective == Collective::bcast;
  if (call.direct || ranks_here() == 1 || (is_bcast && !is_here(wanted.facts.root))) return false;
  call.node_part = Call::NodePart::by_letters;
  if (!node_) return false;
  make_spec(call);
  call.of_node.forget_progress();
  if (!node_->start_part(call.of_node, wanted.facts)) return true;
  call.node_part = Call::NodePart::under_way;
  call.has_given = call.of_node.published;
  const bool goes_out = wanted.facts.collective != Collective::reduce || !is_here(wanted.facts.root);
  if (!is_bcast && goes_out) call.claim = ++claims_;
  return true;
}

template <class Side>
bool BasicChannel<Side>::is_ready(Call& call) {
  {
    const Lock lock(mail().mutex());
    if (!call.done) drive();
    if (call.done) return true;
  }
  // These drive the host, and this channel as well, but not always last.
  if (call.node_part == Call::NodePart::under_way)
    node_->is_ready(call.of_node);
  else
    Side::make_progress();
  const Lock lock(mail().mutex());
  // What this rank has done on its node meanwhile may have been the last that was missing there, and the program may not
  // come again before another node has heard of it.
  while (!call.done && look()) {
  }
  if (!call.done) look_after(call);
  return call.done;
}

template <class Side>
void BasicChannel<Side>::look_after(Call& call) {
  if (call.node_part == Call::NodePart::under_way) {
    std::uint64_t from = 0;
    if (const std::string why = node_->failure(from); !why.empty()) fail(call, OutOfStep(why, from));
  }
  // Who is late in the oldest call is late in all.
  Call& oldest = *under_way_.front();
  if (!oldest.done) be_patient(oldest);
  std::erase_if(under_way_, [](const Call* each) { return each->done; });
}

template <class Side>
void BasicChannel<Side>::be_patient(Call& call) {
  using Step = typename Side::Patience::Step;
  switch (patience_.next_step(call.number)) {
    case Step::look_at_node:
      mail().look_at_node();
      break;
    case Step::ask:
      ask(call);
      break;
    case Step::none:
      break;
  }
}

template <class Side>
void BasicChannel<Side>::ask(Call& call) {
  for (const int rank : missing(call))
    if (mail().is_gone(rank))
      return fail(call, Error(formatted("rank {} has ended before the {} in which rank {} waits", rank,
                                        print(call.wanted.facts), this->rank())));
  if (Side::speaks()) mail().ask(stream(), call.number, {call.wanted.facts, call.history}, awaited(call));
}

template <class Side>
void BasicChannel<Side>::fail(Call& call, const Error& error) {
  const auto* told = dynamic_cast<const AlreadyTold*>(&error);
  const auto* found = dynamic_cast<const OutOfStep*>(&error);
  const std::uint64_t from = found && found->first_call() > 0 ? found->first_call() : call.number;
  mail().fail(stream(), std::min(from, call.number), told ? told->why() : error.what(), Side::speaks());
  call.error = error.what();
  call.done = true;
}

template <class Side>
bool BasicChannel<Side>::has_failed(Call& call) {
  const Failure* failure = mail().failure(stream(), call.number);
  if (!failure) return false;
  call.error = failure->is_told ? AlreadyTold(failure->why).what() : failure->why;
  return call.done = true;
}

template <class Side>
void BasicChannel<Side>::complete(Call& call) {
  typename Side::Wait wait(spin_limits_);
  while (!is_ready(call)) wait.pass();
  Side::note_completed();
  forget(call);
  if (!call.error.empty()) throw Error(call.error, call.kind_of_error);
}

template <class Side>
void BasicChannel<Side>::forget(Call& call) {
  const Lock lock(mail().mutex());
  if (!call.active) return;
  call.active = false;
  std::erase(under_way_, &call);
  if (call.node_part == Call::NodePart::under_way) node_->forget(call.of_node);
  mail().forget(stream(), call.number);
}

template <class Side>
void BasicChannel<Side>::drive_aside() {
  const Lock lock(mail().mutex(), std::try_to_lock);
  if (!lock) return;
  if (under_way_.empty())
    mail().listen();
  else
    drive();
}

template <class Side>
void BasicChannel<Side>::drive() {
  for (bool any = true; any;) {
    any = mail().collect();
    any |= look();
  }
  mail().look_at_sent();
}

// A rank publishes its data, then looks for those of the others, with a fence in between: so of ranks that start at the
// same time at least one sees all. Likewise a rank that has finished what another one waits for looks again.
template <class Side>
bool BasicChannel<Side>::look() {
  Side::fence(std::memory_order_seq_cst);
  bool any = false, may_claim = true;
  for (Call* call : under_way_) any |= step(*call, may_claim);
  std::erase_if(under_way_, [](const Call* call) { return call->done; });
  return any;
}

/// Whether something has changed. In order: a rank claims a call when it has seen to all claims before.
template <class Side>
bool BasicChannel<Side>::step(Call& call, bool& may_claim) try {
  if (has_failed(call)) return true;
  bool any = false;
  if (call.node_part == Call::NodePart::under_way && Side::has_come(node_->advance(call.of_node))) {
    call.node_part = Call::NodePart::done;
    if (call.of_node.excess.peer >= 0) collective::refuse_damaged();  // all ranks name one length there
    any = true;
  }
  if (call.node_part == Call::NodePart::under_way && call.of_node.published && !call.has_given) {
    call.has_given = true;  // this rank found no memory before; now it has to look as one that starts
    any = true;
  }
  if (call.claim != 0) may_claim = Side::has_come(may_claim) && call.node_part == Call::NodePart::done;
  if (call.claim != 0 && may_claim) {
    if (node_->claim(call.claim)) send_for_node(call);
    call.claim = 0;
    any = true;
  }
  return take(call) || any;
} catch (const Error& error) {
  fail(call, error);
  return true;
}

/// Lengths that only two ranks know may differ: that is an error of the one that receives, and no other waits for it.
template <class Side>
bool BasicChannel<Side>::take(Call& call) {
  if (!Side::has_come(call.direct ? has_sources(call) : has_all(call))) return false;
  try {
    call.direct ? take_direct(call) : finish(call);
  } catch (const Error& error) {
    call.error = error.what();
    call.kind_of_error = error.kind();
  }
  return call.done = true;
}

}  // namespace espalier::runtime::across
