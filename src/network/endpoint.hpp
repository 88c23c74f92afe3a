// One communicator's end of the transport: its messages under way and the tasks that await them.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "network/concept.hpp"
#include "network/spin_limits.hpp"
#include "network/tag_marks.hpp"
#include "network/transport.hpp"

namespace espalier::network {

/// So many messages between two ranks may be under way without being told apart by their order: each has a
/// lane, which is a tag of its own.
inline constexpr int lanes = 16;

/// Something other than a message that tasks await, such as an operation inside the network.
class Event {
 public:
  virtual ~Event() = default;
  /// Whether it has come; drives what it depends on. Never asked again after it has said true or thrown.
  virtual bool test() = 0;
};

/// A communicator's messages. Used by one thread at a time.
class Endpoint {
 public:
  /// `processes`: those of the communicator's ranks. Uses the tags from `first_tag` to first_tag + lanes - 1,
  /// with the marks of calls above them.
  Endpoint(Transport& transport, std::vector<int> processes, int rank, int first_tag, SpinLimits spin_limits,
           TagMarks marks = {})
      : transport_(transport),
        processes_(std::move(processes)),
        rank_(rank),
        first_tag_(first_tag),
        marks_(marks),
        spin_limits_(spin_limits) {}

  /// From now on messages are of the call that `hash` stands for: they meet those of ranks in the same call
  /// alone. Ranks that have called something else wait for each other, instead of taking the one's data for
  /// the other's.
  void begin_call(std::uint32_t hash) { call_tag_ = marks_.of(hash); }
  /// But not on this lane: there a rank may send in one call what another rank awaits in the one before.
  void join_calls_on(int lane) { joined_lane_ = lane; }

  /// Whose messages this rank's tasks await now, each once: their ranks.
  std::vector<int> awaited() const;

  /// A message under way, which a task awaits exactly once.
  class Message {
   public:
    Message(Endpoint& endpoint, Ticket ticket, int peer)
        : endpoint_(&endpoint), ticket_(ticket), peer_(peer) {}
    bool await_ready() const { return endpoint_->test(ticket_); }
    void await_suspend(std::coroutine_handle<> task) const {
      endpoint_->waiting_.push_back({ticket_, task, nullptr, peer_});
    }
    void await_resume() const { endpoint_->rethrow(); }

   private:
    Endpoint* endpoint_;
    Ticket ticket_;
    int peer_;
  };

  /// An event that a task awaits; it must outlive that.
  class Awaited {
   public:
    Awaited(Endpoint& endpoint, Event& event) : endpoint_(&endpoint), event_(&event) {}
    bool await_ready() const { return event_->test(); }
    void await_suspend(std::coroutine_handle<> task) const {
      endpoint_->waiting_.push_back({0, task, event_, 0});
    }
    void await_resume() const { endpoint_->rethrow(); }

   private:
    Endpoint* endpoint_;
    Event* event_;
  };
  Awaited until(Event& event) { return {*this, event}; }
  /// Tasks that await events are not resumed any more and may be destroyed; messages are not touched.
  void forget_events();

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(processes_.size()); }

  /// Both throw Error for a message longer than Transport::longest, and after abandon().
  Message send(int rank, int lane, const void* data, std::size_t bytes) {
    check(bytes);
    return {*this, transport_.send(process_of(rank), tag_of(lane), data, bytes), rank};
  }
  Message receive(int rank, int lane, void* data, std::size_t bytes) {
    check(bytes);
    receives_.push_back(transport_.receive(process_of(rank), tag_of(lane), data, bytes));
    return {*this, receives_.back(), rank};
  }

  /// Looks at all messages that tasks await and resumes those whose message is done; true if there was one.
  /// Never blocks. Called in a rank's waits, too, so that its network goes on meanwhile.
  bool drive();

  /// What drive_until() calls after each look in vain; it may throw, which ends the wait.
  void watch(std::function<void()> look) { watch_ = std::move(look); }

  /// Drives until done() says true; spins, yields, and timed sleeps as SpinLimits says.
  template <class Done>
  void drive_until(Done done) {
    Wait wait(spin_limits_);
    while (!done())
      if (drive()) {
        wait.begin_anew();
      } else {
        if (watch_) watch_();
        wait.pass();
      }
  }

  /// After an error: forgets the tasks, which may then be destroyed. Nothing comes into their buffers any
  /// more. This endpoint is of no more use, since a new message might meet an old one.
  void abandon();
  bool is_abandoned() const { return abandoned_; }

 private:
  struct Waiting {
    Ticket ticket;
    std::coroutine_handle<> task;
    Event* event;  // instead of a ticket
    int peer;      // whose message it is
  };
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void check(std::size_t bytes) const;
  bool test(Ticket ticket);
  int tag_of(int lane) const { return first_tag_ + lane + (lane == joined_lane_ ? 0 : call_tag_); }
  int process_of(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

  Transport& transport_;
  std::vector<int> processes_;
  int rank_;
  int first_tag_;
  TagMarks marks_;
  int call_tag_ = 0;
  int joined_lane_ = -1;
  SpinLimits spin_limits_;
  std::vector<Waiting> waiting_;
  std::vector<Ticket> receives_;  // under way
  bool abandoned_ = false;
  std::function<void()> watch_;
  std::exception_ptr failure_;  // of the message whose task is being resumed
};

/// Some ranks of an endpoint that run an algorithm among themselves, on one lane; they are numbered from 0.
/// A small value; `ranks` must outlive it.
struct Peers {
  Endpoint* endpoint = nullptr;
  std::span<const int> ranks;  ///< of the communicator
  int me = 0;                  ///< this rank's number among them
  int lane = 0;

  int rank() const { return me; }
  int size() const { return static_cast<int>(ranks.size()); }
  auto send(int peer, const void* data, std::size_t bytes) const {
    return endpoint->send(ranks[static_cast<std::size_t>(peer)], lane, data, bytes);
  }
  auto receive(int peer, void* data, std::size_t bytes) const {
    return endpoint->receive(ranks[static_cast<std::size_t>(peer)], lane, data, bytes);
  }
  template <class Done>
  void drive_until(Done done) const {
    endpoint->drive_until(done);
  }
  Peers on(int other_lane) const { return {endpoint, ranks, me, other_lane}; }
};

static_assert(Network<Peers>);

}  // namespace espalier::network
