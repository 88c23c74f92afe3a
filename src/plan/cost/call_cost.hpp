// What one segment costs between nodes, and the pieces that algorithms are put together from.
#pragma once

#include <algorithm>

#include "plan/cost/parameters.hpp"

namespace espalier::plan {

/// Of one segment's network stage. Times in nanoseconds.
struct Cost {
  double time = 0;  ///< on an idle network, until the last leader has the result
  double cpu = 0;   ///< of the busiest leader's core
  double port = 0;  ///< how long the busiest leader's way into, or out of, the network is taken
  int rounds = 0;   ///< messages one after the other

  Cost& operator+=(const Cost& then) {
    time += then.time, cpu += then.cpu, port += then.port, rounds += then.rounds;
    return *this;
  }
  friend Cost operator+(Cost first, const Cost& then) { return first += then; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// How long a message waits for its receiver's answer before it goes.
inline double handshake(const Wire& wire, double bytes) {
  return bytes > wire.eager_bytes ? wire.handshake : 0;
}

/// From a sender's begin until the receiver has it: LogGP's o + L + bG + o, and the handshake of a long one.
inline double hop(const Wire& wire, double bytes) {
  return 2 * wire.overhead + wire.latency + handshake(wire, bytes) + bytes * wire.per_byte;
}

/// What a message takes of a way that others wait for.
inline double on_port(const Wire& wire, double bytes) { return std::max(wire.gap, bytes * wire.per_byte); }

/// After so long a rank that sends, or receives, several messages is ready for the next. HIER 3.1's alpha is
/// interval() / hop().
inline double interval(const Wire& wire, double bytes) {
  return std::max(wire.overhead, on_port(wire, bytes));
}

/// One message; a leader is at one end of it.
inline Cost message(const Wire& wire, double bytes) {
  return {hop(wire, bytes), wire.overhead, on_port(wire, bytes), 1};
}

/// A leader sends one message and receives one, at the same time.
inline Cost exchange(const Wire& wire, double bytes) {
  return {hop(wire, bytes), 2 * wire.overhead, on_port(wire, bytes), 1};
}

inline Cost work(double time) { return {time, time, 0, 0}; }
inline Cost fold(const Wire& wire, double bytes) { return work(bytes * wire.fold_per_byte); }
inline Cost copy(const Wire& wire, double bytes) { return work(bytes * wire.copy_per_byte); }

}  // namespace espalier::plan
