// One collective call on one node, for any Machine: what is simulated, and what is measured beside it
// (simulation/measure), are one text.
#pragma once

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/dispatch.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "simulation/engine/call.hpp"

namespace espalier::simulation {

/// A rank's positions in the trees of the call's plan.
collective::TreePositionPair node_positions(const TreePositions& places, int local);

/// `sum` is of unsigned 64-bit integers. Throws Error for a collective that simulation
/// does not have on one node.
template <class M>
void call_on_one_node(M& m, const Call& call, const collective::TreePositionPair& position, const Buffers& b,
                      const reduce::Operation& sum) {
  namespace by_plan = collective::by_plan;
  const int root = call.root;
  const plan::Plan& plan = call.node;
  const collective::Reduction r{b.send, b.receive, call.bytes, sum};
  const auto trees = [&](const plan::Plan&, int) { return position; };
  switch (call.collective) {
    case Collective::barrier:
      return by_plan::barrier(m, trees, plan);
    case Collective::bcast:
      return by_plan::bcast(m, position.release, b.receive, call.bytes, plan);
    case Collective::reduce:
      return by_plan::reduce(m, position.gather, r, plan);
    case Collective::allreduce:
      return by_plan::allreduce(m, trees, r, plan);
    case Collective::allgather:
    case Collective::allgatherv:
      return by_plan::allgather(m, trees, b.send, b.receive, collective::EqualBlocks{call.bytes}, plan);
    case Collective::alltoall:
      return by_plan::alltoall(m, b.send, b.receive, call.bytes, plan);
    case Collective::alltoallv: {
      const auto blocks = listed_blocks(call.bytes, m.size());
      return collective::alltoallv(m, b.send, blocks.view(), b.receive, blocks.view(), plan);
    }
    case Collective::gather:
      return collective::gather(m, root, b.send, b.receive, call.bytes, plan);
    case Collective::gatherv:
      return by_plan::gatherv(m, root, b.send, call.bytes, b.receive,
                              listed_blocks(call.bytes, m.size()).view(), plan);
    case Collective::scatter:
      return collective::scatter(m, root, b.send, b.receive, call.bytes, plan);
    case Collective::scatterv:
      return by_plan::scatterv(m, root, b.send, listed_blocks(call.bytes, m.size()).view(), b.receive,
                               call.bytes, plan);
    case Collective::scan:
    case Collective::exscan: {
      const bool inclusive = call.collective == Collective::scan;
      return by_plan::scan(m, trees, r,
                           inclusive ? collective::Prefix::inclusive : collective::Prefix::exclusive, plan);
    }
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block: {
      const auto edges = block_edges(call.bytes, m.size());
      return by_plan::reduce_scatter(m, r, collective::PackedBlocks{edges}, plan);
    }
    default:
      throw Error(formatted("simulation has no {} on one node", to_string(call.collective)));
  }
}

}  // namespace espalier::simulation
