// The ranks of one node in a collective over several: what the node stages may be.
#pragma once

#include <concepts>
#include <cstddef>

#include "collective/core/blocks.hpp"
#include "collective/multinode/network/vector.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "collective/node/scan/scan.hpp"

namespace espalier::collective::multinode {

/// The node's ranks are numbered from 0. All of them call the same with the same arguments, but for buffers;
/// results and blocks mean something at the leader, or (bcast, scan, scatter) at the others. Shared memory
/// (SharedStage) and messages (MessageStage) are two of them.
template <class S>
concept NodeStage = requires(S s, int leader, const void* source, void* target, std::size_t bytes,
                             const reduce::Operation& operation, const WholeOperation& whole, Prefix prefix,
                             const Slices& slices, const Blocks& blocks) {
  { s.rank() } -> std::same_as<int>;
  { s.size() } -> std::same_as<int>;
  /// Calls the function at the leader when all have come; no rank leaves before it has returned.
  s.meet(leader, [] {});
  s.bcast(leader, target, bytes);
  s.reduce(leader, source, target, bytes, operation);
  s.reduce_whole(leader, source, target, bytes, whole);
  s.scan(source, target, bytes, operation, prefix);
  s.scan_whole(source, target, bytes, whole, prefix);
  /// Blocks of equal size, in the order of the node's ranks.
  s.gather(leader, source, target, bytes);
  s.scatter(leader, source, target, bytes);
  /// Blocks of any size, each known to its rank and to the leader, where they lie at the leader. A block may
  /// be in its place already.
  s.gatherv(leader, source, bytes, target, blocks);
  s.scatterv(leader, source, blocks, target, bytes);
  /// What each has for each, itself too; both ends know how long it is.
  s.alltoallv(source, blocks, target, blocks);
};

/// One whose ranks can do a slice each.
template <class S>
concept SplittingStage =
    NodeStage<S> && requires(S s, const void* source, void* target, std::size_t bytes, const Slices& slices,
                             const Blocks& blocks, const reduce::Operation& operation) {
      /// Slice k of the folded vector to rank k, in its place in `target`; ranks beyond the slices get none.
      s.reduce_scatter(source, target, slices, operation);
      /// Block k of the folded vector to rank k.
      s.reduce_scatter(source, target, blocks, bytes, operation);
      /// The other way: every rank's slice is in its place and goes to all.
      s.allgather(target, slices);
    };

}  // namespace espalier::collective::multinode
