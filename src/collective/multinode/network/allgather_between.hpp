// Allgather between nodes: each has its part of the whole, in node order, and gets all others'.
#pragma once

#include <deque>
#include <vector>

#include "collective/multinode/network/ring_blocks.hpp"
#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

namespace detail {

/// The blocks that this carrier (a rank that sends and receives for its node) gets from the node below (the
/// previous one of the ring), in the order in which they arrive.
inline std::vector<Stretch> coming_blocks(const RingBlocks& blocks, int me, int carrier) {
  std::vector<Stretch> result;
  for (int distance = 1; distance < blocks.nodes(); ++distance) {
    const int node = around(me - distance, blocks.nodes());
    const RingBlocks::Share share = blocks.share(node, carrier);
    for (std::size_t i = 0; i < share.count; ++i) result.push_back(blocks.block(node, share.first + i));
  }
  return result;
}

}  // namespace detail

/// NOTIFY II-A, 9: the blocks of carrier number `carrier` of each node go around the ring. A carrier sends
/// its own to the node above (the next one) at once. What comes from below it passes on as it comes, except
/// the blocks of the node above. A link carries the whole once, however uneven the parts are. `whole` is
/// where the data lie, in memory of this rank or of all ranks of its node. arrived() is called for every
/// block, in the order of coming_blocks(). Blocks have at most Transport::longest bytes.
template <Network N, class Arrived>
Task allgather_around(N peers, std::byte* whole, RingBlocks blocks, int carrier, Arrived arrived) {
  // Receives are posted before they are needed, so that the sender of a long message need not wait for one.
  constexpr std::size_t ahead = 8;
  const int n = peers.size(), me = peers.rank(), above = around(me + 1, n), below = around(me - 1, n);
  if (n == 1) co_return;
  const std::vector<Stretch> order = detail::coming_blocks(blocks, me, carrier);
  const std::size_t to_pass = order.size() - blocks.share(above, carrier).count;
  std::deque<decltype(peers.receive(below, whole, 0))> coming;
  std::vector<decltype(peers.send(above, whole, 0))> leaving;
  const auto expect = [&](std::size_t i) {
    if (i < order.size()) coming.push_back(peers.receive(below, whole + order[i].offset, order[i].bytes));
  };
  const auto send = [&](const Stretch& s) {
    leaving.push_back(peers.send(above, whole + s.offset, s.bytes));
  };
  for (std::size_t i = 0; i < ahead; ++i) expect(i);
  const RingBlocks::Share own = blocks.share(me, carrier);
  for (std::size_t i = 0; i < own.count; ++i) send(blocks.block(me, own.first + i));
  for (std::size_t i = 0; i < order.size(); ++i) {
    co_await coming.front();
    coming.pop_front();
    expect(i + ahead);
    if (i < to_pass) send(order[i]);
    arrived();
  }
  for (auto& message : leaving) co_await message;
}

namespace detail {

/// The data of `count` nodes from `first` on, around the ring, as up to two stretches; empty ones are left
/// out.
inline std::vector<Stretch> stretches(std::span<const std::size_t> edges, int first, int count) {
  const int n = static_cast<int>(edges.size()) - 1, last = first + count;
  std::vector<Stretch> result;
  const auto add = [&](int begin, int end) {
    const std::size_t from = edges[static_cast<std::size_t>(begin)],
                      to = edges[static_cast<std::size_t>(end)];
    if (from < to) result.push_back({from, to - from});
  };
  add(first, std::min(last, n));
  if (last > n) add(0, last - n);
  return result;
}

}  // namespace detail

/// Bruck's allgather with several partners a round, for parts of any lengths: ceil(log n) rounds, to the base
/// parts_a_round(n), in each of which a node sends all it has. `edges` as in RingBlocks.
template <Network N>
Task allgather_disseminated(N peers, std::byte* whole, std::vector<std::size_t> edges) {
  const int n = peers.size(), me = peers.rank();
  for (int distance = 1; distance < n; distance *= parts_a_round(n)) {
    std::vector<decltype(peers.receive(0, whole, 0))> under_way;
    for (int way = 1; way < parts_a_round(n) && way * distance < n; ++way) {
      const int first = way * distance, some = std::min(distance, n - first);
      const int above = around(me + first, n), below = around(me - first, n);
      for (const Stretch& s : detail::stretches(edges, above, some))
        under_way.push_back(peers.receive(above, whole + s.offset, s.bytes));
      for (const Stretch& s : detail::stretches(edges, me, some))
        under_way.push_back(peers.send(below, whole + s.offset, s.bytes));
    }
    for (auto& message : under_way) co_await message;
  }
}

}  // namespace espalier::collective::multinode
