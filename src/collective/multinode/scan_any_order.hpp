// Scan and exscan over nodes whose ranks are not consecutive (a cyclic placement, say): leaders gather their
// nodes' vectors, exchange them in one of two ways, fold in rank order, and hand each rank its result. The
// order is that of one node: from rank 0 up, so the bits are the same, too.
#pragma once

#include <cstring>
#include <vector>

#include "collective/multinode/network/bruck_allgather.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/placement.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// A scan of `bytes` of each rank, as a leader does it. `vectors`: those of the ranks of its node, one after
/// the other, which become the results. `scratch`: as much as any_order_room() says.
struct LeaderScan {
  const Placement& placement;
  const reduce::Operation& operation;
  Prefix prefix;
  std::byte* vectors;
  std::size_t bytes;
  std::byte* scratch;
};

namespace detail {

/// Folds in rank order what lies at vector_of(rank). The running fold goes to `sum`, and store(rank, sum)
/// gets the result of each rank. Exscan has none for rank 0.
template <class VectorOf, class Store>
void fold_in_rank_order(const LeaderScan& s, std::size_t bytes, std::byte* sum, VectorOf vector_of,
                        Store store) {
  for (int rank = 0; rank < s.placement.ranks(); ++rank) {
    const std::byte* vector = vector_of(rank);
    if (s.prefix == Prefix::exclusive && rank > 0) store(rank, sum);
    if (rank == 0)
      std::memcpy(sum, vector, bytes);
    else
      fold(s.operation, sum, sum, vector, bytes);
    if (s.prefix == Prefix::inclusive) store(rank, sum);
  }
}

inline std::size_t node_of(const Placement& placement, int rank) {
  return static_cast<std::size_t>(placement.node_of[static_cast<std::size_t>(rank)]);
}
inline std::size_t local_of(const Placement& placement, int rank) {
  return static_cast<std::size_t>(placement.local_rank_of[static_cast<std::size_t>(rank)]);
}

}  // namespace detail

/// For short vectors: every leader gets all of them. ceil(log2 nodes) rounds.
template <Network N>
Task scan_gather_all(N leaders, LeaderScan s) {
  const int n = leaders.size(), me = leaders.rank();
  const std::size_t block = s.placement.largest() * s.bytes, own_ranks = s.placement.size_of(me);
  std::memcpy(s.scratch, s.vectors, own_ranks * s.bytes);
  auto gathered = allgather_bruck(leaders, s.scratch, block);
  co_await gathered;
  const auto vector_of = [&](int rank) {
    const int node = static_cast<int>(detail::node_of(s.placement, rank));
    return s.scratch + bruck_place(node, me, n) * block + detail::local_of(s.placement, rank) * s.bytes;
  };
  const auto store = [&](int rank, const std::byte* sum) {
    if (detail::node_of(s.placement, rank) == static_cast<std::size_t>(me))
      std::memcpy(s.vectors + detail::local_of(s.placement, rank) * s.bytes, sum, s.bytes);
  };
  detail::fold_in_rank_order(s, s.bytes, s.scratch + static_cast<std::size_t>(n) * block, vector_of, store);
}

/// For long vectors: each leader gets one slice of all vectors, scans it, and gives the slices back, so what
/// a node sends does not grow with the number of nodes: twice its ranks' vectors, where exchanges of whole
/// vectors send them log2(ranks) times. Two rounds.
template <Network N>
Task scan_transpose(N leaders, LeaderScan s) {
  const int n = leaders.size(), me = leaders.rank();
  const Placement& p = s.placement;
  const Slices slices(s.bytes, s.operation.extent, n);
  const std::size_t mine = slices.bytes(me), own_ranks = p.size_of(me);
  // Scratch: [rows: my slice of every rank's vector, node by node][results: the same, and one row for the
  // running fold][packed: the slices of this node's vectors that leave, then the results that come back]
  std::vector<std::size_t> first_row = {0};
  for (int node = 0; node < n; ++node) first_row.push_back(first_row.back() + p.size_of(node));
  std::byte* const rows = s.scratch;
  std::byte* const results = rows + first_row.back() * mine;
  std::byte* const packed = results + (first_row.back() + 1) * mine;
  const auto row = [&](std::byte* base, int rank) {
    return base + (first_row[detail::node_of(p, rank)] + detail::local_of(p, rank)) * mine;
  };
  const auto rows_of = [&](std::byte* base, int node) {
    return base + first_row[static_cast<std::size_t>(node)] * mine;
  };
  const auto packed_for = [&](int node) { return packed + own_ranks * slices.begin(node); };
  const auto move_slices = [&](bool out) {
    for (int node = 0; node < n; ++node)
      for (std::size_t local = 0; local < own_ranks; ++local) {
        std::byte* there = packed_for(node) + local * slices.bytes(node);
        std::byte* here = s.vectors + local * s.bytes + slices.begin(node);
        std::memcpy(out ? there : here, out ? here : there, slices.bytes(node));
      }
  };
  move_slices(true);
  std::vector<decltype(leaders.receive(0, rows, mine))> under_way;
  for (int distance = 1; distance < n; ++distance) {
    const int from = around(me - distance, n), to = around(me + distance, n);
    under_way.push_back(leaders.receive(from, rows_of(rows, from), p.size_of(from) * mine));
    under_way.push_back(leaders.send(to, packed_for(to), own_ranks * slices.bytes(to)));
  }
  std::memcpy(rows_of(rows, me), packed_for(me), own_ranks * mine);
  for (auto& message : under_way) co_await message;
  under_way.clear();
  std::byte* const sum = results + first_row.back() * mine;
  detail::fold_in_rank_order(
      s, mine, sum, [&](int rank) { return row(rows, rank); },
      [&](int rank, const std::byte* result) { std::memcpy(row(results, rank), result, mine); });
  for (int distance = 1; distance < n; ++distance) {
    const int from = around(me - distance, n), to = around(me + distance, n);
    under_way.push_back(leaders.receive(from, packed_for(from), own_ranks * slices.bytes(from)));
    under_way.push_back(leaders.send(to, rows_of(results, to), p.size_of(to) * mine));
  }
  std::memcpy(packed_for(me), rows_of(results, me), own_ranks * mine);
  for (auto& message : under_way) co_await message;
  move_slices(false);
}

/// Bytes of one lane for the vectors of a node, and for the scratch of the algorithm. A slice has at most
/// segment / nodes bytes and one element.
struct AnyOrderRoom {
  std::size_t vectors, scratch;
};
inline AnyOrderRoom any_order_room(const Placement& p, std::size_t segment, std::size_t extent,
                                   plan::Algorithm algorithm) {
  const std::size_t vectors = p.largest() * segment;
  const auto nodes = static_cast<std::size_t>(p.nodes()), ranks = static_cast<std::size_t>(p.ranks());
  if (algorithm == plan::Algorithm::gather_all) return {vectors, nodes * vectors + segment};
  return {vectors, (2 * ranks + 1) * (segment / nodes + extent) + vectors};
}

/// Only each node's rank 0 uses `leaders`, the network of these ranks, and `room`: segments_under_way times
/// both sizes of any_order_room().
template <NodeStage S, Network N>
void scan_any_order(S& node, N leaders, int my_rank, const Placement& placement, const Reduction& r,
                    Prefix prefix, std::byte* room, const plan::NetworkPlan& plan) {
  constexpr int leader = 0;
  const Segments segments(r.bytes, plan.segment, r.operation.extent);
  const AnyOrderRoom sizes =
      any_order_room(placement, segments.longest(), r.operation.extent, plan.algorithm);
  std::vector<std::byte> unwanted(prefix == Prefix::exclusive && my_rank == 0 ? segments.longest() : 0);
  const auto vectors = [&](std::size_t i) {
    return room + i % segments_under_way * (sizes.vectors + sizes.scratch);
  };
  const auto gather = [&](std::size_t i) {
    node.gather(leader, at(r.send, segments.offset(i)), vectors(i), segments.bytes(i));
  };
  const auto start = [&](std::size_t i, int lane, bool&) -> Task {
    if (node.rank() != leader) return {};
    const LeaderScan scan = {placement,  r.operation,       prefix,
                             vectors(i), segments.bytes(i), vectors(i) + sizes.vectors};
    if (plan.algorithm == plan::Algorithm::gather_all) return scan_gather_all(leaders.on(lane), scan);
    return scan_transpose(leaders.on(lane), scan);
  };
  // Exscan leaves rank 0's buffer alone.
  const auto release = [&](std::size_t i) {
    void* result = unwanted.empty() ? at(r.receive, segments.offset(i)) : unwanted.data();
    node.scatter(leader, vectors(i), result, segments.bytes(i));
  };
  join(leaders, segments.count(), gather, start, release);
}

}  // namespace espalier::collective::multinode
