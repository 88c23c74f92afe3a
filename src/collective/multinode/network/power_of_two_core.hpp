// Algorithms whose partners are found by flipping a bit of a rank need a power of two of them: the others
// hand their vector to a neighbour first and get the result last.
#pragma once

#include <bit>

#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// The first 2 * extra peers go in pairs, of which the even one is in the core. So peer 0 is always in it, as
/// number 0.
class Core {
 public:
  Core(int peer, int peers)
      : peer_(peer),
        size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(peers)))),
        extra_(peers - size_) {}

  int size() const { return size_; }
  bool is_paired() const { return peer_ < 2 * extra_; }
  bool holds_me() const { return !is_paired() || peer_ % 2 == 0; }
  /// The other of the pair.
  int partner() const { return peer_ ^ 1; }
  int number() const { return is_paired() ? peer_ / 2 : peer_ - extra_; }
  int peer_of(int number) const { return number < extra_ ? 2 * number : number + extra_; }

 private:
  int peer_, size_, extra_;
};

/// Afterwards the core's vectors hold everything.
template <Network N>
Task fold_into_core(N peers, Core core, Vector v) {
  if (!core.is_paired()) co_return;
  if (core.holds_me()) {
    auto from_partner = peers.receive(core.partner(), v.scratch, v.bytes);
    co_await from_partner;
    fold(v.operation, v.data, v.data, v.scratch, v.bytes);
  } else {
    auto to_partner = peers.send(core.partner(), v.data, v.bytes);
    co_await to_partner;
  }
}

template <Network N>
Task return_from_core(N peers, Core core, Vector v) {
  if (!core.is_paired()) co_return;
  if (core.holds_me()) {
    auto to_partner = peers.send(core.partner(), v.data, v.bytes);
    co_await to_partner;
  } else {
    auto from_partner = peers.receive(core.partner(), v.data, v.bytes);
    co_await from_partner;
  }
}

}  // namespace espalier::collective::multinode
