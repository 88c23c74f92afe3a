// Neighbourhood collectives on any topology, with the edges that the reference goes by.
#pragma once

#include "group.hpp"

#include <cstdint>
#include <vector>

namespace checked {

// An edge as one of its ends sees it. What `label` tells apart are edges from one rank to another one.
struct Edge {
  int peer;  // MPI_PROC_NULL: nothing is moved
  int label;
};

struct Topology {
  Group group;
  std::vector<Edge> out, in;
};

// Of a communicator of MPI_Cart_create: what goes in one direction comes in from the other.
Topology cartesian(const Group& group);
// Of one with a graph: messages from one rank to another match in the order of their edges.
Topology of_lists(const Group& group, const std::vector<int>& out, const std::vector<int>& in);

// One of the five collectives. `longest`: of a block, in items of 12 ints.
enum class NeighbourKind { allgather, allgatherv, alltoall, alltoallv, alltoallw };
void one_neighbourhood(const Topology& topology, NeighbourKind kind, std::uint64_t seed, long longest,
                       bool derived, bool large);
void all_neighbourhoods(const Topology& topology, std::uint64_t seed);

}  // namespace checked
