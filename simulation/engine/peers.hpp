// What algorithms between nodes run on, in simulated time.
#pragma once

#include <coroutine>
#include <span>

#include "base/error.hpp"
#include "network/concept.hpp"
#include "simulation/engine/sink.hpp"

namespace espalier::simulation {

/// Some ranks, numbered from 0, as network::Peers. What a rank does must not depend on time, so that it can
/// be recorded: when it drives its tasks it waits for their messages in the order in which they began to, but
/// first for those of its node, which it needs before it lets others go on.
struct SimulatedPeers {
  int me = 0, count = 1;
  int first = 0, apart = 1;  ///< number k is rank first + (k + turned) % count * apart
  int lane = 0;
  int turned = 0;
  bool of_node = false;  ///< these are a node's, in a node stage by messages

  class Message {
   public:
    Message(std::uint32_t id, bool is_sent, bool of_node) : id_(id), is_sent_(is_sent), of_node_(of_node) {}
    // What is sent its card has, or its receiver's node; no rank waits for that.
    bool await_ready() const {
      if (is_sent_) Sink::current().complete(id_);
      return is_sent_;
    }
    void await_suspend(std::coroutine_handle<> task) const {
      Sink& sink = Sink::current();
      (of_node_ ? sink.awaiting_neighbours : sink.awaiting).emplace_back(id_, task);
    }
    void await_resume() const {}

   private:
    std::uint32_t id_;
    bool is_sent_, of_node_;
  };

  int rank() const { return me; }
  int size() const { return count; }
  int rank_of(int peer) const { return first + (peer + turned) % count * apart; }
  Message send(int peer, const void* data, std::size_t bytes) const {
    return {Sink::current().send(rank_of(peer), lane, data, bytes), true, of_node};
  }
  Message receive(int peer, void* data, std::size_t bytes) const {
    return {Sink::current().receive(rank_of(peer), lane, data, bytes), false, of_node};
  }
  template <class Done>
  void drive_until(Done done) const {
    Sink& sink = Sink::current();
    while (!done()) {
      auto& awaiting = sink.awaiting_neighbours.empty() ? sink.awaiting : sink.awaiting_neighbours;
      if (awaiting.empty()) throw Error("a rank waits for a task that awaits no message");
      const auto [message, task] = awaiting.front();
      awaiting.pop_front();
      sink.complete(message);
      task.resume();
    }
  }
  SimulatedPeers on(int other_lane) const { return {me, count, first, apart, other_lane, turned, of_node}; }
};
static_assert(network::Network<SimulatedPeers>);

}  // namespace espalier::simulation
