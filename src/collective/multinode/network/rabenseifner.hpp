// Rabenseifner's algorithms for long vectors: halving leaves each of the core with one slice of the result;
// doubling brings the slices together again, at every rank (allreduce) or at peer 0 (reduce).
#pragma once

#include "collective/multinode/network/power_of_two_core.hpp"

namespace espalier::collective::multinode {

namespace detail {

/// The slices [first, last) that lie together after `bit` was decided.
struct SliceRange {
  int first, last;
};

/// The half of the 2 * bit slices around `number` that `number` itself is in.
inline SliceRange half_of(int number, int bit) {
  const int first = number / bit * bit;
  return {first, first + bit};
}

}  // namespace detail

/// Number k of the core ends up with slice k of the fold of all of them. Scratch: half the bytes, and an
/// element.
template <Network N>
Task reduce_scatter_halving(N peers, Core core, Vector v) {
  const Slices slices(v.bytes, v.operation.extent, core.size());
  for (int bit = core.size() / 2; core.holds_me() && bit > 0; bit /= 2) {
    const int number = core.number() ^ bit;
    const auto keep = detail::half_of(core.number(), bit), give = detail::half_of(number, bit);
    const std::size_t bytes = slices.bytes(keep.first, keep.last);
    std::byte* mine = v.data + slices.begin(keep.first);
    auto from_partner = peers.receive(core.peer_of(number), v.scratch, bytes);
    auto to_partner = peers.send(core.peer_of(number), v.data + slices.begin(give.first),
                                 slices.bytes(give.first, give.last));
    co_await from_partner;
    co_await to_partner;
    if (number < core.number())
      fold(v.operation, mine, v.scratch, mine, bytes);
    else
      fold(v.operation, mine, mine, v.scratch, bytes);
  }
}

/// Every one of the core gets all slices.
template <Network N>
Task allgather_doubling(N peers, Core core, Vector v) {
  const Slices slices(v.bytes, v.operation.extent, core.size());
  for (int bit = 1; core.holds_me() && bit < core.size(); bit *= 2) {
    const int number = core.number() ^ bit;
    const auto own = detail::half_of(core.number(), bit), theirs = detail::half_of(number, bit);
    auto from_partner = peers.receive(core.peer_of(number), v.data + slices.begin(theirs.first),
                                      slices.bytes(theirs.first, theirs.last));
    auto to_partner =
        peers.send(core.peer_of(number), v.data + slices.begin(own.first), slices.bytes(own.first, own.last));
    co_await from_partner;
    co_await to_partner;
  }
}

/// Number 0 of the core, which is peer 0, gets all slices.
template <Network N>
Task gather_doubling(N peers, Core core, Vector v) {
  const Slices slices(v.bytes, v.operation.extent, core.size());
  for (int bit = 1; core.holds_me() && bit < core.size(); bit *= 2) {
    const int number = core.number() ^ bit;
    if (core.number() & bit) {
      const auto own = detail::half_of(core.number(), bit);
      auto to_partner = peers.send(core.peer_of(number), v.data + slices.begin(own.first),
                                   slices.bytes(own.first, own.last));
      co_await to_partner;
      co_return;
    }
    const auto theirs = detail::half_of(number, bit);
    auto from_partner = peers.receive(core.peer_of(number), v.data + slices.begin(theirs.first),
                                      slices.bytes(theirs.first, theirs.last));
    co_await from_partner;
  }
}

/// Scratch: `bytes`.
template <Network N>
Task allreduce_rabenseifner(N peers, Vector v) {
  const Core core(peers.rank(), peers.size());
  auto folded = fold_into_core(peers, core, v);
  co_await folded;
  auto scattered = reduce_scatter_halving(peers, core, v);
  co_await scattered;
  auto gathered = allgather_doubling(peers, core, v);
  co_await gathered;
  auto returned = return_from_core(peers, core, v);
  co_await returned;
}

/// The result lands in peer 0's vector; the others' are used up. Scratch: `bytes`.
template <Network N>
Task reduce_rabenseifner(N peers, Vector v) {
  const Core core(peers.rank(), peers.size());
  auto folded = fold_into_core(peers, core, v);
  co_await folded;
  auto scattered = reduce_scatter_halving(peers, core, v);
  co_await scattered;
  auto gathered = gather_doubling(peers, core, v);
  co_await gathered;
}

}  // namespace espalier::collective::multinode
