// Scan and exscan over nodes whose ranks follow on each other (HIER 3.5): each node scans, the last rank of
// each, which then has its node's total, gets the fold of the nodes below, and hands it to its node.
#pragma once

#include <cstring>

#include "collective/multinode/network/prefix.hpp"
#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// Every rank needs `total` and `prefix`, of segments_under_way * the longest segment; scratch, of
/// scan_scratch_vectors() times that, the last of each node.
struct ScanRoom {
  std::byte *total, *prefix, *scratch;
};

inline std::size_t scan_scratch_vectors(plan::Algorithm algorithm, int nodes) {
  return algorithm == plan::Algorithm::gather_all ? static_cast<std::size_t>(nodes) : 1;
}

namespace detail {

/// The node's total at its last rank. `own` is a copy of its vector, since in place the scan overwrites it.
template <NodeStage S>
void scan_node(S& node, const void* send, std::byte* result, std::byte* total, std::size_t bytes,
               const reduce::Operation& operation, Prefix prefix) {
  const bool is_last = node.rank() == node.size() - 1;
  if (is_last && prefix == Prefix::exclusive) std::memcpy(total, send, bytes);
  node.scan(send, result, bytes, operation, prefix);
  if (!is_last) return;
  if (prefix == Prefix::inclusive)
    std::memcpy(total, result, bytes);
  else if (node.size() > 1)
    fold(operation, total, result, total, bytes);
}

/// Puts the fold of the nodes below in front of a rank's result.
template <NodeStage S>
void put_below(S& node, const std::byte* below, std::byte* result, std::size_t bytes,
               const reduce::Operation& operation, Prefix prefix) {
  if (prefix == Prefix::exclusive && node.rank() == 0)
    std::memcpy(result, below, bytes);
  else
    fold(operation, result, below, result, bytes);
}

}  // namespace detail

/// `last_ranks`: the last rank of this node among those of all nodes, in rank order; means something there
/// only. `is_first_node`: no rank is below.
template <NodeStage S, Network N>
void scan(S& node, N last_ranks, bool is_first_node, const Reduction& r, Prefix prefix, const ScanRoom& room,
          const plan::NetworkPlan& plan) {
  const Segments segments(r.bytes, plan.segment, r.operation.extent);
  const int last = node.size() - 1;
  const auto in_lane = [&](std::byte* buffer, std::size_t i) {
    return buffer + i % segments_under_way * segments.longest();
  };
  const auto fold_right = [&r](const std::byte* left, std::byte* right, std::size_t bytes) {
    fold(r.operation, right, left, right, bytes);
  };
  const auto gather = [&](std::size_t i) {
    detail::scan_node(node, at(r.send, segments.offset(i)), at(r.receive, segments.offset(i)),
                      in_lane(room.total, i), segments.bytes(i), r.operation, prefix);
  };
  const auto start = [&](std::size_t i, int lane, bool&) -> Task {
    if (node.rank() != last) return {};
    const std::size_t scratch = segments.longest() * scan_scratch_vectors(plan.algorithm, last_ranks.size());
    const PrefixBuffers buffers = {in_lane(room.total, i), in_lane(room.prefix, i),
                                   room.scratch + i % segments_under_way * scratch, segments.bytes(i)};
    if (plan.algorithm == plan::Algorithm::chain)
      return exscan_chain(last_ranks.on(lane), buffers, fold_right);
    if (plan.algorithm == plan::Algorithm::gather_all)
      return exscan_gather_all(last_ranks.on(lane), buffers, fold_right);
    return exscan_doubling(last_ranks.on(lane), buffers, fold_right);
  };
  const auto release = [&](std::size_t i) {
    if (is_first_node) return;
    node.bcast(last, in_lane(room.prefix, i), segments.bytes(i));
    detail::put_below(node, in_lane(room.prefix, i), at(r.receive, segments.offset(i)), segments.bytes(i),
                      r.operation, prefix);
  };
  join(last_ranks, segments.count(), gather, start, release);
}

}  // namespace espalier::collective::multinode
