// One neighbourhood collective on a topology: how long the blocks of its edges are, and what they carry.
#pragma once

#include "manner.hpp"
#include "mixed.hpp"
#include "neighbours.hpp"
#include "side.hpp"
#include "values.hpp"

#include <memory>

namespace checked {

inline const char* name_of(NeighbourKind kind) {
  switch (kind) {
    case NeighbourKind::allgather:
      return "neighbor_allgather";
    case NeighbourKind::allgatherv:
      return "neighbor_allgatherv";
    case NeighbourKind::alltoall:
      return "neighbor_alltoall";
    case NeighbourKind::alltoallv:
      return "neighbor_alltoallv";
    default:
      return "neighbor_alltoallw";
  }
}

// Of the rank at the other end, so that edges that are alike carry unlike data.
inline int target_of(NeighbourKind kind, int target, int label) {
  const bool gathers = kind == NeighbourKind::allgather || kind == NeighbourKind::allgatherv;
  return gathers ? 0 : target * 64 + label;
}

struct NeighbourCase {
  const Topology& topology;
  NeighbourKind kind;
  std::uint64_t seed;
  long longest;
  bool derived, large;
  Manner manner = Manner::blocking;
  int round = 0;  // of a request that is started again

  int rank() const { return topology.group.rank; }
  bool gathers() const { return kind == NeighbourKind::allgather || kind == NeighbourKind::allgatherv; }
  bool is_even() const { return kind == NeighbourKind::allgather || kind == NeighbourKind::alltoall; }
  std::uint64_t own(int side) const { return seed * 64 + static_cast<std::uint64_t>(rank() * 2 + side); }
  long ints(int source, int target) const {
    if (is_even()) return longest * ints_per_item;
    const std::uint64_t bits =
        random_bits(seed, 66 + static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(target));
    if (bits % 10 < 2 || longest == 0) return 0;
    return ints_per_item * static_cast<long>(1 + (bits >> 8) % static_cast<std::uint64_t>(longest));
  }
  // What an edge carries. Nothing goes to or comes from MPI_PROC_NULL, whatever its block's length.
  long out_ints(const Edge& edge) const { return ints(rank(), target_of(kind, edge.peer, edge.label)); }
  long in_ints(const Edge& edge) const { return ints(edge.peer, target_of(kind, rank(), edge.label)); }
  std::vector<long> out_lengths() const {
    std::vector<long> lengths;
    if (gathers()) return {ints(rank(), 0)};
    for (const Edge& edge : topology.out) lengths.push_back(out_ints(edge));
    return lengths;
  }
  std::vector<long> in_lengths() const {
    std::vector<long> lengths;
    for (const Edge& edge : topology.in) lengths.push_back(in_ints(edge));
    return lengths;
  }
  const Layout& layout(int side) const {
    return derived ? any_layout(random_bits(own(side), 7, 0)) : plain_layout();
  }
  template <class Buffer>
  void fill(Buffer& send, Buffer& expected) const {
    if (gathers())
      put(send, 0, rank(), 0);
    else
      for (std::size_t i = 0; i < topology.out.size(); ++i)
        if (topology.out[i].peer >= 0)
          put(send, i, rank(), target_of(kind, topology.out[i].peer, topology.out[i].label));
    for (std::size_t i = 0; i < topology.in.size(); ++i)
      if (topology.in[i].peer >= 0)
        put(expected, i, topology.in[i].peer, target_of(kind, rank(), topology.in[i].label));
  }
  std::uint64_t data_seed() const { return seed + static_cast<std::uint64_t>(round) * 1000003; }
  void put(Side& side, std::size_t block, int source, int target) const {
    side.put(static_cast<int>(block), data_seed(), source, target);
  }
  void put(Mixed& side, std::size_t block, int source, int target) const {
    side.put(block, data_seed(), source, target);
  }
};

// Does or begins the call. Afterwards `held` has what MPI may look at until the request is complete.
void call_neighbours(const NeighbourCase& one, Side& send, Side& receive, std::shared_ptr<void>& held,
                     MPI_Request* request);
void call_neighbours(const NeighbourCase& one, Mixed& send, Mixed& receive, std::shared_ptr<void>& held,
                     MPI_Request* request);

}  // namespace checked
