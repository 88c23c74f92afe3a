// The neighbours of a rank in the topology of its communicator.
#pragma once

#include <memory>
#include <vector>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// One side of the neighbourhood collectives, by edges: the e-th block of a buffer is that of the e-th edge.
struct EdgeList {
  std::size_t edges = 0;  ///< those to MPI_PROC_NULL included, which carry nothing
  /// Edges that lead to a rank, by rank: those of rank r are order[first[r]] to order[first[r + 1]], in the
  /// order in which their messages match.
  std::vector<std::size_t> order, first;
};

/// Messages from one rank to another match in the order of their edges at either end (MPI 4.1, 8.6). In a
/// Cartesian topology what goes in the negative direction comes in from the positive one. Where both are one
/// rank, for a dimension has only one or two, the edges that lead in match in the other order.
struct Neighbours {
  EdgeList sources, destinations;
};

/// Null: the communicator has no topology, or the host fails. Asks this rank's host alone; the ranks of a
/// communicator have all a topology of one kind, or none.
std::unique_ptr<const Neighbours> neighbours_of(MPI_Comm comm);

}  // namespace espalier::mpi
