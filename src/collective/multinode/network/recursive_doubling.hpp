// Allreduce of short vectors: log2 n rounds, in each of which partners exchange all they have.
#pragma once

#include "collective/multinode/network/power_of_two_core.hpp"

namespace espalier::collective::multinode {

/// Scratch: `bytes`. Both partners fold the lower one's vector on the left, so they get the same bits.
template <Network N>
Task allreduce_doubling(N peers, Vector v) {
  const Core core(peers.rank(), peers.size());
  auto folded = fold_into_core(peers, core, v);
  co_await folded;
  for (int bit = 1; core.holds_me() && bit < core.size(); bit *= 2) {
    const int number = core.number() ^ bit;
    const int partner = core.peer_of(number);
    auto from_partner = peers.receive(partner, v.scratch, v.bytes);
    auto to_partner = peers.send(partner, v.data, v.bytes);
    co_await from_partner;
    co_await to_partner;
    if (number < core.number())
      fold(v.operation, v.data, v.scratch, v.data, v.bytes);
    else
      fold(v.operation, v.data, v.data, v.scratch, v.bytes);
  }
  auto returned = return_from_core(peers, core, v);
  co_await returned;
}

}  // namespace espalier::collective::multinode
