// Both sides of a call whose blocks are pieces of any layout, as blocking, nonblocking and persistent calls
// look at them.
#pragma once

#include "mpi/datatype/piece_side.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/neighbours/neighbours.hpp"

namespace espalier::mpi {

/// Alltoallw. In place: of `receive` alone. False: the call is the host's, to report what is wrong.
inline bool look_at_sides(const Transfer& call, int ranks, PieceSide& send, PieceSide& receive) {
  const BlockOrder by_rank{{}, {}, ranks};
  if (!call.receive.counts.data() || !receive.look_at(call.receive, by_rank)) return false;
  return call.send.buffer == MPI_IN_PLACE || (call.send.counts.data() && send.look_at(call.send, by_rank));
}

inline bool has_counts(const Part& part, const EdgeList& edges) {
  return part.counts.data() || edges.edges == 0;
}

/// The neighbourhood collectives, which differ in what the program's arrays say. False: as above.
template <Collective collective>
bool look_at_sides(const Transfer& call, const Neighbours& neighbours, int ranks, PieceSide& send,
                   PieceSide& receive) {
  constexpr bool gathers =
      collective == Collective::neighbor_allgather || collective == Collective::neighbor_allgatherv;
  constexpr bool counts_in =
      collective != Collective::neighbor_allgather && collective != Collective::neighbor_alltoall;
  const auto order_of = [ranks](const EdgeList& edges) {
    return BlockOrder{edges.order, edges.first, ranks};
  };
  if ((counts_in && !has_counts(call.receive, neighbours.sources)) ||
      (counts_in && !gathers && !has_counts(call.send, neighbours.destinations)))
    return false;
  return receive.look_at(call.receive, order_of(neighbours.sources)) &&
         send.look_at(call.send, order_of(neighbours.destinations), gathers);
}

}  // namespace espalier::mpi
