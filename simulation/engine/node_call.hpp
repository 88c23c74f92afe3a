// One collective call on one node, for any Machine: what is simulated, and what is measured beside it
// (simulation/measure), are one text.
#pragma once

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/node/allgather.hpp"
#include "collective/node/allreduce.hpp"
#include "collective/node/allreduce_central.hpp"
#include "collective/node/allreduce_exchange.hpp"
#include "collective/node/allreduce_sliced.hpp"
#include "collective/node/alltoall.hpp"
#include "collective/node/alltoallv.hpp"
#include "collective/node/barrier.hpp"
#include "collective/node/bcast.hpp"
#include "collective/node/gather.hpp"
#include "collective/node/gatherv.hpp"
#include "collective/node/reduce.hpp"
#include "collective/node/reduce_scatter.hpp"
#include "collective/node/scan.hpp"
#include "collective/node/scan_sliced.hpp"
#include "collective/node/scatter.hpp"
#include "collective/node/scatterv.hpp"
#include "simulation/engine/call.hpp"

namespace espalier::simulation {

/// A rank's places in the trees of a plan.
struct NodePlaces {
  const collective::TreePosition &up, &down;
};
NodePlaces node_places(const TreePositions& places, int local);

/// `sum` is of unsigned 64-bit integers. Throws Error for a collective that simulation
/// does not have on one node.
template <class M>
void call_on_one_node(M& m, const Call& call, const NodePlaces& places, const Buffers& b,
                      const reduce::Operation& sum) {
  using plan::Algorithm;
  const int root = call.root;
  const plan::Plan& plan = call.node;
  const collective::Reduction r{b.send, b.receive, call.bytes, sum};
  switch (call.collective) {
    case Collective::barrier:
      if (plan.algorithm == Algorithm::exchange) return collective::barrier_exchange(m);
      if (plan.algorithm == Algorithm::central) return collective::barrier_central(m);
      return collective::barrier_tree(m, places.up, places.down, plan);
    case Collective::bcast:
      return collective::bcast_tree(m, places.down, b.receive, call.bytes, plan);
    case Collective::reduce:
      return collective::reduce_tree(m, places.up, r, plan);
    case Collective::allreduce:
      if (plan.algorithm == Algorithm::exchange) return collective::allreduce_exchange(m, r, plan);
      if (plan.algorithm == Algorithm::central) return collective::allreduce_central(m, r, plan);
      if (plan.algorithm == Algorithm::sliced) return collective::allreduce_sliced(m, r, plan);
      return collective::allreduce_tree(m, places.up, places.down, r, plan);
    case Collective::allgather:
    case Collective::allgatherv:
      return collective::allgather(m, b.send, b.receive, collective::EqualBlocks{call.bytes}, plan);
    case Collective::alltoall:
      return collective::alltoall(m, b.send, b.receive, call.bytes, plan);
    case Collective::alltoallv: {
      const auto blocks = listed_blocks(call.bytes, m.size());
      return collective::alltoallv(m, b.send, blocks.view(), b.receive, blocks.view(), plan);
    }
    case Collective::gather:
      return collective::gather(m, root, b.send, b.receive, call.bytes, plan);
    case Collective::gatherv:
      if (m.rank() != root) return collective::send_gatherv(m, root, b.send, call.bytes, plan);
      return collective::receive_gatherv(m, b.send, b.receive, listed_blocks(call.bytes, m.size()).view(),
                                         plan);
    case Collective::scatter:
      return collective::scatter(m, root, b.send, b.receive, call.bytes, plan);
    case Collective::scatterv:
      if (m.rank() != root) return collective::receive_scatterv(m, root, b.receive, call.bytes, plan);
      return collective::send_scatterv(m, b.send, b.receive, listed_blocks(call.bytes, m.size()).view(),
                                       plan);
    case Collective::scan:
    case Collective::exscan: {
      const auto prefix =
          call.collective == Collective::scan ? collective::Prefix::inclusive : collective::Prefix::exclusive;
      if (plan.algorithm == Algorithm::sliced) return collective::scan_sliced(m, r, prefix, plan);
      return collective::scan(m, r, prefix, plan);
    }
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block: {
      const auto edges = block_edges(call.bytes, m.size());
      return collective::reduce_scatter(m, r, collective::PackedBlocks{edges}, plan);
    }
    default:
      throw Error(formatted("simulation has no {} on one node", to_string(call.collective)));
  }
}

}  // namespace espalier::simulation
