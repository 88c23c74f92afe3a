// Calls the algorithm of collective/node/ that a plan names. Programs, the node stages of collectives over
// nodes, and the simulator all choose here.
#pragma once

#include <concepts>

#include "collective/node/all_to_all/allgather.hpp"
#include "collective/node/all_to_all/allgather_grouped.hpp"
#include "collective/node/all_to_all/allgather_tree.hpp"
#include "collective/node/all_to_all/alltoall.hpp"
#include "collective/node/all_to_all/alltoall_grouped.hpp"
#include "collective/node/barrier.hpp"
#include "collective/node/reductions/allreduce.hpp"
#include "collective/node/reductions/allreduce_central.hpp"
#include "collective/node/reductions/allreduce_exchange.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "collective/node/reductions/reduce.hpp"
#include "collective/node/reductions/reduce_scatter.hpp"
#include "collective/node/reductions/reduce_scatter_grouped.hpp"
#include "collective/node/rooted/bcast.hpp"
#include "collective/node/rooted/bcast_single_copy.hpp"
#include "collective/node/rooted/gather.hpp"
#include "collective/node/rooted/gatherv.hpp"
#include "collective/node/rooted/scatter.hpp"
#include "collective/node/rooted/scatterv.hpp"
#include "collective/node/scan/scan.hpp"
#include "collective/node/scan/scan_chain.hpp"
#include "collective/node/scan/scan_sliced.hpp"
#include "collective/node/scan/scan_tree.hpp"

namespace espalier::collective::by_plan {

using plan::Algorithm;

/// trees(plan, root): this rank's positions in a plan's trees. Only algorithms along trees ask, since trees
/// are built when they are first needed.
template <class T>
concept Trees = requires(T trees, const Plan& plan, int root) {
  { trees(plan, root) } -> std::convertible_to<TreePositionPair>;
};

template <Machine M, Trees T>
void barrier(M& m, T&& trees, const Plan& plan) {
  if (plan.algorithm == Algorithm::exchange) return barrier_exchange(m);
  if (plan.algorithm == Algorithm::central) return barrier_central(m);
  const TreePositionPair position = trees(plan, 0);
  barrier_tree(m, position.gather, position.release, plan);
}

template <Machine M>
void bcast(M& m, const TreePosition& position, void* buffer, std::size_t bytes, const Plan& plan) {
  if (plan.algorithm == Algorithm::single_copy) return bcast_single_copy(m, position, buffer, bytes, plan);
  bcast_tree(m, position, buffer, bytes, plan);
}

template <Machine M>
void reduce(M& m, const TreePosition& position, const Reduction& r, const Plan& plan) {
  reduce_tree(m, position, r, plan);
}

template <Machine M, Trees T>
void allreduce(M& m, T&& trees, const Reduction& r, const Plan& plan) {
  if (plan.algorithm == Algorithm::exchange) return allreduce_exchange(m, r, plan);
  if (plan.algorithm == Algorithm::central) return allreduce_central(m, r, plan);
  if (plan.algorithm == Algorithm::sliced) return allreduce_sliced(m, r, plan);
  const TreePositionPair position = trees(plan, 0);
  allreduce_tree(m, position.gather, position.release, r, plan);
}

/// `own`: this rank's block, which may be in its place in `receive` already.
template <Machine M, Trees T, class B>
void allgather(M& m, T&& trees, const void* own, void* receive, const B& blocks, const Plan& plan) {
  if (plan.algorithm == Algorithm::tree) return allgather_tree(m, trees(plan, 0), own, receive, blocks, plan);
  if (plan.algorithm == Algorithm::grouped) return allgather_grouped(m, own, receive, blocks, plan);
  collective::allgather(m, own, receive, blocks, plan);
}

template <Machine M>
void alltoall(M& m, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  if (plan.algorithm == Algorithm::grouped && GroupedExchange<M>::fits(m, 1))
    return alltoall_grouped(m, send, receive, bytes, plan);
  collective::alltoall(m, send, receive, bytes, plan);
}

/// In groups go blocks of one length alone.
template <Machine M, class B>
void reduce_scatter(M& m, const Reduction& r, const B& blocks, const Plan& plan) {
  if (plan.algorithm == Algorithm::grouped && GroupedExchange<M>::fits(m, r.operation.extent))
    if (const std::size_t block = blocks.bytes_of(0);
        block == largest_of(blocks, m.size()) && block == smallest_of(blocks, m.size()))
      return reduce_scatter_grouped(m, r, block, plan);
  collective::reduce_scatter(m, r, blocks, plan);
}

/// `exchange` and `central` differ in how ranks meet, which scan() asks the plan itself.
template <Machine M, Trees T>
void scan(M& m, T&& trees, const Reduction& r, Prefix prefix, const Plan& plan) {
  if (plan.algorithm == Algorithm::sliced) return scan_sliced(m, r, prefix, plan);
  if (plan.algorithm == Algorithm::chain) return scan_chain(m, r, prefix, plan);
  if (plan.algorithm == Algorithm::tree && scan_tree_fits(m, r))
    return scan_tree(m, trees(plan, 0), r, prefix, plan);
  collective::scan(m, r, prefix, plan);
}

/// `own`: this rank's block, at the root, too. `blocks`: where all blocks lie; read at the root only.
template <Machine M, class B>
void gatherv(M& m, int root, const void* own, std::size_t own_bytes, void* receive, const B& blocks,
             const Plan& plan) {
  if (m.rank() == root) return receive_gatherv(m, own, receive, blocks, plan);
  send_gatherv(m, root, own, own_bytes, plan);
}

/// `more`: what send_scatterv() takes after the plan.
template <Machine M, class B, class... More>
void scatterv(M& m, int root, const void* send, const B& blocks, void* receive, std::size_t own_bytes,
              const Plan& plan, More&... more) {
  if (m.rank() == root) return send_scatterv(m, send, receive, blocks, plan, more...);
  receive_scatterv(m, root, receive, own_bytes, plan);
}

}  // namespace espalier::collective::by_plan
