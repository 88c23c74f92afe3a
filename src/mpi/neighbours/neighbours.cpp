#include "mpi/neighbours/neighbours.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace {

/// By edge, the rank at its other end.
struct Ends {
  std::vector<int> sources, destinations;
  bool is_cartesian = false;
};

bool ends_of_cart(MPI_Comm comm, Ends& ends) {
  int dimensions = 0;
  if (host.Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    if (host.Cart_shift(comm, dimension, 1, &below, &above) != MPI_SUCCESS) return false;
    ends.sources.insert(ends.sources.end(), {below, above});
  }
  ends.destinations = ends.sources;
  ends.is_cartesian = true;
  return true;
}

bool ends_of_graph(MPI_Comm comm, Ends& ends) {
  int rank = 0, count = 0;
  if (host.Comm_rank(comm, &rank) != MPI_SUCCESS ||
      host.Graph_neighbors_count(comm, rank, &count) != MPI_SUCCESS)
    return false;
  ends.sources.resize(static_cast<std::size_t>(count) + 1);  // data() of none may be null
  if (host.Graph_neighbors(comm, rank, count, ends.sources.data()) != MPI_SUCCESS) return false;
  ends.sources.pop_back();
  ends.destinations = ends.sources;
  return true;
}

bool ends_of_dist_graph(MPI_Comm comm, Ends& ends) {
  int sources = 0, destinations = 0, weighted = 0;
  if (host.Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted) != MPI_SUCCESS) return false;
  const auto entries = [](int count) { return static_cast<std::size_t>(count) + 1; };
  ends.sources.resize(entries(sources));
  ends.destinations.resize(entries(destinations));
  std::vector<int> source_weights(entries(sources)), destination_weights(entries(destinations));
  if (host.Dist_graph_neighbors(comm, sources, ends.sources.data(), source_weights.data(), destinations,
                                ends.destinations.data(), destination_weights.data()) != MPI_SUCCESS)
    return false;
  ends.sources.pop_back();
  ends.destinations.pop_back();
  return true;
}

bool ends_of(MPI_Comm comm, Ends& ends) {
  int topology = MPI_UNDEFINED;
  if (host.Topo_test(comm, &topology) != MPI_SUCCESS) return false;
  if (topology == MPI_CART) return ends_of_cart(comm, ends);
  if (topology == MPI_GRAPH) return ends_of_graph(comm, ends);
  return topology == MPI_DIST_GRAPH && ends_of_dist_graph(comm, ends);
}

/// `swap`: of two edges of a dimension the second comes first.
EdgeList list_of(const std::vector<int>& ends, int ranks, bool swap) {
  EdgeList list;
  list.edges = ends.size();
  list.first.assign(static_cast<std::size_t>(ranks) + 1, 0);
  std::vector<std::size_t> edges(ends.size());
  std::iota(edges.begin(), edges.end(), std::size_t{0});
  if (swap)
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) std::swap(edges[i], edges[i + 1]);
  for (const std::size_t edge : edges)
    if (ends[edge] >= 0 && ends[edge] < ranks) {
      list.order.push_back(edge);
      ++list.first[static_cast<std::size_t>(ends[edge]) + 1];
    }
  std::partial_sum(list.first.begin(), list.first.end(), list.first.begin());
  std::stable_sort(list.order.begin(), list.order.end(),
                   [&](std::size_t a, std::size_t b) { return ends[a] < ends[b]; });
  return list;
}

}  // namespace

std::unique_ptr<const Neighbours> neighbours_of(MPI_Comm comm) {
  int ranks = 0;
  Ends ends;
  if (host.Comm_size(comm, &ranks) != MPI_SUCCESS || !ends_of(comm, ends)) return nullptr;
  return std::make_unique<const Neighbours>(
      Neighbours{list_of(ends.sources, ranks, ends.is_cartesian), list_of(ends.destinations, ranks, false)});
}

}  // namespace espalier::mpi
