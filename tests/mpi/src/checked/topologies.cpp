// Neighbourhood collectives on Cartesian, general and distributed topologies: dimensions of one and two ranks,
// borders, edges that are there twice, edges to oneself, ranks without any.
#include "checks.hpp"
#include "neighbours.hpp"
#include "values.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace checked {
namespace {

void on_cart(MPI_Comm comm, std::vector<int> sizes, std::vector<int> periods, const char* name,
             std::uint64_t seed) {
  // What Intel MPI 2021.18 by itself gets wrong: dimensions in which both neighbours are the same rank.
  const bool short_ones = std::any_of(sizes.begin(), sizes.end(), [](int length) { return length <= 2; });
  if (short_ones && std::getenv("CHECKED_CARTS")) return;
  MPI_Comm made;
  MPI_Cart_create(comm, static_cast<int>(sizes.size()), sizes.data(), periods.data(), 0, &made);
  if (made == MPI_COMM_NULL) return;
  Group group(made, name);
  all_neighbourhoods(cartesian(group), seed);
  group.free();
}

void on_carts(const Group& world, std::uint64_t seed) {
  const int size = world.size;
  on_cart(world.comm, {size}, {1}, "ring", seed += 100);
  on_cart(world.comm, {size}, {0}, "line", seed += 100);
  on_cart(world.comm, {1, size, 1}, {1, 1, 0}, "ring with dimensions of one", seed += 100);
  on_cart(world.comm, {std::min(size, 2)}, {1}, "ring of two", seed += 100);
  on_cart(MPI_COMM_SELF, {1, 1}, {1, 1}, "oneself, twice", seed += 100);
  std::vector<int> sizes(2, 0);
  MPI_Dims_create(size, 2, sizes.data());
  on_cart(world.comm, sizes, {1, 1}, "torus", seed += 100);
  on_cart(world.comm, sizes, {0, 1}, "cylinder", seed += 100);
  sizes.assign(3, 0);
  MPI_Dims_create(size, 3, sizes.data());
  on_cart(world.comm, sizes, {1, 1, 1}, "torus of three dimensions", seed += 100);
}

// Edges of the whole graph, the same on all ranks: each end lists them in an order of its own, but for those
// between the same two ranks, which are alike.
using Edges = std::vector<std::pair<int, int>>;

std::vector<int> ends_at(const Edges& edges, int rank, bool out, std::uint64_t seed) {
  std::vector<int> peers;
  for (auto [source, target] : edges)
    if ((out ? source : target) == rank) peers.push_back(out ? target : source);
  for (std::size_t i = peers.size(); i > 1; --i)
    std::swap(peers[i - 1], peers[random_bits(seed, static_cast<std::uint64_t>(rank) * 2 + out, i) % i]);
  return peers;
}

// Half of the ranks have many edges, some none.
Edges random_edges(int size, std::uint64_t seed) {
  Edges edges;
  Dice dice(seed);
  for (int i = 0; i < 3 * size; ++i) {
    int source = dice.roll(size), target = dice.roll(size);
    if (source % 4 == 3) source = 0;
    for (int copies = dice.roll(3); copies >= 0; --copies) edges.emplace_back(source, target);
  }
  return edges;
}

void on_adjacent(const Group& world, bool weighted, std::uint64_t seed) {
  const Edges edges = random_edges(world.size, seed);
  const std::vector<int> out = ends_at(edges, world.rank, true, seed),
                         in = ends_at(edges, world.rank, false, seed);
  std::vector<int> weights(std::max(out.size(), in.size()) + 1, 7);
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(world.comm, static_cast<int>(in.size()), in.data(),
                                 weighted ? weights.data() : MPI_UNWEIGHTED, static_cast<int>(out.size()),
                                 out.data(), weighted ? weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &made);
  Group group(made, weighted ? "adjacent, weighted" : "adjacent");
  all_neighbourhoods(of_lists(group, out, in), seed);
  group.free();
}

// Rank 0 tells all edges: the host says in which order each rank has its own.
void on_distributed(const Group& world, std::uint64_t seed) {
  const Edges edges = random_edges(world.size, seed);
  std::vector<int> sources, degrees, targets;
  if (world.rank == 0)
    for (auto [source, target] : edges) {
      sources.push_back(source);
      degrees.push_back(1);
      targets.push_back(target);
    }
  MPI_Comm made;
  MPI_Dist_graph_create(world.comm, static_cast<int>(sources.size()), sources.data(), degrees.data(),
                        targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  Group group(made, "distributed");
  int in_degree, out_degree, weighted;
  MPI_Dist_graph_neighbors_count(made, &in_degree, &out_degree, &weighted);
  std::vector<int> in(static_cast<std::size_t>(in_degree)), out(static_cast<std::size_t>(out_degree));
  MPI_Dist_graph_neighbors(made, in_degree, in.data(), MPI_UNWEIGHTED, out_degree, out.data(),
                           MPI_UNWEIGHTED);
  all_neighbourhoods(of_lists(group, out, in), seed);
  group.free();
}

// A star, whose edges are there in both directions, and an edge of each rank to itself.
void on_graph(const Group& world, std::uint64_t seed) {
  std::vector<int> index, edges;
  const auto neighbours = [&](int rank) {
    std::vector<int> peers = {rank};
    for (int other = rank == 0 ? 1 : 0; other < (rank == 0 ? world.size : 1); ++other) peers.push_back(other);
    return peers;
  };
  for (int rank = 0; rank < world.size; ++rank) {
    for (int peer : neighbours(rank)) edges.push_back(peer);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm made;
  MPI_Graph_create(world.comm, world.size, index.data(), edges.data(), 0, &made);
  Group group(made, "star");
  all_neighbourhoods(of_lists(group, neighbours(world.rank), neighbours(world.rank)), seed);
  group.free();
}

}  // namespace

void check_neighbours(const Group& world) {
  on_carts(world, 31000);
  on_adjacent(world, false, 35001);
  on_adjacent(world, true, 36001);
  on_distributed(world, 37001);
  on_graph(world, 38001);
}

}  // namespace checked
