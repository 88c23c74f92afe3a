// What algorithms between nodes run on when they are checked: an Endpoint over checked messages.
#pragma once

#include <coroutine>
#include <limits>
#include <source_location>
#include <span>

#include "network/endpoint.hpp"
#include "simulation/checker/execution.hpp"

namespace espalier::simulation::checker {

/// network::Peers, of whose messages and waits a mutant may leave out some.
class Peers {
  using Where = std::source_location;

 public:
  class Message {
   public:
    Message(network::Endpoint& endpoint, network::Endpoint::Message message, bool kept)
        : endpoint_(&endpoint), message_(message), kept_(kept) {}
    Message(const Message& other)
        : endpoint_(other.endpoint_), message_(other.message_), kept_(other.kept_) {}
    Message& operator=(const Message& other) {
      endpoint_ = other.endpoint_, message_ = other.message_, kept_ = other.kept_;
      return *this;
    }
    // Letting go of a task that is not through leaves an endpoint behind that would resume it.
    ~Message() {
      if (!suspends_) return;
      endpoint_->abandon();
      Execution::current().blame(Wrong::message, "a task is given up while it awaits a message");
    }
    bool await_ready() const { return !kept_ || message_.await_ready(); }
    void await_suspend(std::coroutine_handle<> task) {
      suspends_ = true;
      message_.await_suspend(task);
    }
    void await_resume() {
      suspends_ = false;
      if (kept_) message_.await_resume();
    }

   private:
    network::Endpoint* endpoint_;
    network::Endpoint::Message message_;
    bool kept_;
    bool suspends_ = false;  // this very object keeps a task waiting
  };

  Peers(const network::Peers& peers) : peers_(peers) {}

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }
  Message send(int peer, const void* data, std::size_t bytes, Where where = Where::current()) const {
    const bool kept = is_kept(where, Operation::send);
    return {*peers_.endpoint, peers_.send(peer, data, bytes), kept};
  }
  Message receive(int peer, void* data, std::size_t bytes, Where where = Where::current()) const {
    const bool kept = is_kept(where, Operation::receive);
    return {*peers_.endpoint, peers_.receive(peer, data, bytes), kept};
  }
  template <class Done>
  void drive_until(Done done, Where where = Where::current()) const {
    if (Execution::current().at(where, Operation::drive) != Change::removed) peers_.drive_until(done);
  }
  Peers on(int lane) const { return peers_.on(lane); }

 private:
  static bool is_kept(const Where& where, Operation operation) {
    Execution& run = Execution::current();
    if (run.at(where, operation) != Change::removed) return true;
    run.messages().forget_next(run.rank());
    return false;
  }
  network::Peers peers_;
};

static_assert(network::Network<Peers>);

/// Looks again and again, never timed sleeps: the schedule says who runs.
inline constexpr network::SpinLimits untiring = {std::numeric_limits<int>::max(), 0};

/// An endpoint of the rank that runs: processes and ranks are the execution's. It goes on in all its waits.
class CheckedEndpoint {
 public:
  explicit CheckedEndpoint(std::vector<int> processes)
      : end_(Execution::current().messages().of(Execution::current().rank()), std::move(processes),
             Execution::current().rank(), 0, untiring) {
    end_.watch([] { Execution::current().idle(false); });
    Execution::current().drive_with([this] { end_.drive(); });
  }
  CheckedEndpoint(const CheckedEndpoint&) = delete;
  CheckedEndpoint& operator=(const CheckedEndpoint&) = delete;
  ~CheckedEndpoint() { Execution::current().drive_with(nullptr); }

  /// `ranks` must outlive what is returned.
  Peers peers(std::span<const int> ranks, int me) { return network::Peers{&end_, ranks, me, 0}; }

 private:
  network::Endpoint end_;
};

}  // namespace espalier::simulation::checker
