// What algorithms between nodes run on, in simulated time.
#pragma once

#include <coroutine>
#include <span>

#include "network/concept.hpp"
#include "simulate/engine/sink.hpp"

namespace espalier::simulate {

/// Some ranks, numbered from 0, as network::Peers. A task that awaits a message keeps its rank until the
/// message is there: segments of one call do not overtake each other.
struct SimulatedPeers {
  int me = 0, count = 1;
  int first = 0, apart = 1;  ///< number k is rank first + k * apart
  int lane = 0;

  class Message {
   public:
    explicit Message(std::uint32_t id) : id_(id) {}
    bool await_ready() const {
      Sink::current().complete(id_);
      return true;
    }
    void await_suspend(std::coroutine_handle<>) const {}
    void await_resume() const {}

   private:
    std::uint32_t id_;
  };

  int rank() const { return me; }
  int size() const { return count; }
  int rank_of(int peer) const { return first + peer * apart; }
  Message send(int peer, const void* data, std::size_t bytes) const {
    return Message(Sink::current().send(rank_of(peer), lane, data, bytes));
  }
  Message receive(int peer, void* data, std::size_t bytes) const {
    return Message(Sink::current().receive(rank_of(peer), lane, data, bytes));
  }
  template <class Done>
  void drive_until(Done done) const {
    done();  // tasks have run to their end; this throws what they threw
  }
  SimulatedPeers on(int other_lane) const { return {me, count, first, apart, other_lane}; }
};
static_assert(network::Network<SimulatedPeers>);

}  // namespace espalier::simulate
