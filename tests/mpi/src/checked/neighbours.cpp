#include "neighbours.hpp"

#include "harness.hpp"
#include "mixed.hpp"
#include "side.hpp"
#include "values.hpp"

#include <algorithm>
#include <utility>

namespace checked {
namespace {

const char* name_of(NeighbourKind kind) {
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
int target_of(NeighbourKind kind, int target, int label) {
  const bool gathers = kind == NeighbourKind::allgather || kind == NeighbourKind::allgatherv;
  return gathers ? 0 : target * 64 + label;
}

struct NeighbourCase {
  const Topology& topology;
  NeighbourKind kind;
  std::uint64_t seed;
  long longest;
  bool derived, large;

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
      send.put(0, seed, rank(), 0);
    else
      for (std::size_t i = 0; i < topology.out.size(); ++i)
        if (topology.out[i].peer >= 0)
          put(send, i, rank(), target_of(kind, topology.out[i].peer, topology.out[i].label));
    for (std::size_t i = 0; i < topology.in.size(); ++i)
      if (topology.in[i].peer >= 0)
        put(expected, i, topology.in[i].peer, target_of(kind, rank(), topology.in[i].label));
  }
  void put(Side& side, std::size_t block, int source, int target) const {
    side.put(static_cast<int>(block), seed, source, target);
  }
  void put(Mixed& side, std::size_t block, int source, int target) const {
    side.put(block, seed, source, target);
  }
};

Mixed mixed_side(const NeighbourCase& one, bool sends) {
  std::vector<MixedBlock> blocks;
  std::uint64_t at = 0;
  for (const long ints : sends ? one.out_lengths() : one.in_lengths())
    blocks.push_back(
        {one.derived ? &any_layout(random_bits(one.own(sends), 8, ++at)) : &plain_layout(), ints});
  return {std::move(blocks), one.own(sends)};
}

template <class Count, class Place>
struct NeighbourArrays {
  template <class Buffer>
  explicit NeighbourArrays(const Buffer& buffer)
      : counts(buffer.template counts<Count>()), places(buffer.template places<Place>()) {}
  std::vector<Count> counts;
  std::vector<Place> places;
};

void call_w(const NeighbourCase& one, Mixed& send, Mixed& receive) {
  const MPI_Comm comm = one.topology.group.comm;
#if MPI_VERSION >= 4
  if (one.large) {
    const NeighbourArrays<MPI_Count, MPI_Aint> out(send), in(receive);
    MPI_Neighbor_alltoallw_c(send.address(), out.counts.data(), out.places.data(), send.types(),
                             receive.address(), in.counts.data(), in.places.data(), receive.types(), comm);
    return;
  }
#endif
  const NeighbourArrays<int, MPI_Aint> out(send), in(receive);
  MPI_Neighbor_alltoallw(send.address(), out.counts.data(), out.places.data(), send.types(),
                         receive.address(), in.counts.data(), in.places.data(), receive.types(), comm);
}

#if MPI_VERSION >= 4
void call_large(const NeighbourCase& one, Side& send, Side& receive, long out_count, long in_count) {
  const MPI_Comm comm = one.topology.group.comm;
  const NeighbourArrays<MPI_Count, MPI_Aint> out(send), in(receive);
  void *from = send.address(), *to = receive.address();
  switch (one.kind) {
    case NeighbourKind::allgather:
      MPI_Neighbor_allgather_c(from, out_count, send.type(), to, in_count, receive.type(), comm);
      return;
    case NeighbourKind::allgatherv:
      MPI_Neighbor_allgatherv_c(from, out_count, send.type(), to, in.counts.data(), in.places.data(),
                                receive.type(), comm);
      return;
    case NeighbourKind::alltoall:
      MPI_Neighbor_alltoall_c(from, out_count, send.type(), to, in_count, receive.type(), comm);
      return;
    default:
      MPI_Neighbor_alltoallv_c(from, out.counts.data(), out.places.data(), send.type(), to, in.counts.data(),
                               in.places.data(), receive.type(), comm);
  }
}
#endif

void call_neighbours(const NeighbourCase& one, Side& send, Side& receive) {
  const long ints = one.longest * ints_per_item;
  const auto elements = [](long of, const Layout& layout) {
    return of / static_cast<long>(layout.cells.size());
  };
  const long out_count =
      elements(one.kind == NeighbourKind::allgatherv ? one.ints(one.rank(), 0) : ints, one.layout(1));
  const long in_count = elements(ints, one.layout(0));
#if MPI_VERSION >= 4
  if (one.large) return call_large(one, send, receive, out_count, in_count);
#endif
  const MPI_Comm comm = one.topology.group.comm;
  const NeighbourArrays<int, int> out(send), in(receive);
  const int count = static_cast<int>(out_count), theirs = static_cast<int>(in_count);
  void *from = send.address(), *to = receive.address();
  switch (one.kind) {
    case NeighbourKind::allgather:
      MPI_Neighbor_allgather(from, count, send.type(), to, theirs, receive.type(), comm);
      return;
    case NeighbourKind::allgatherv:
      MPI_Neighbor_allgatherv(from, count, send.type(), to, in.counts.data(), in.places.data(),
                              receive.type(), comm);
      return;
    case NeighbourKind::alltoall:
      MPI_Neighbor_alltoall(from, count, send.type(), to, theirs, receive.type(), comm);
      return;
    default:
      MPI_Neighbor_alltoallv(from, out.counts.data(), out.places.data(), send.type(), to, in.counts.data(),
                             in.places.data(), receive.type(), comm);
  }
}

template <class Buffer, class Make>
void check_neighbourhood(const NeighbourCase& one, Buffer send, Buffer receive, Make make) {
  Buffer expected = receive;
  one.fill(send, expected);
  const Buffer before = send;
  make(one, send, receive);
  compare(before.cells(), send.cells());
  compare(expected.cells(), receive.cells());
}

Arrangement arranged(const NeighbourCase& one, std::vector<long> lengths, int side) {
  if (one.is_even() || (one.gathers() && side == 1))
    return even(static_cast<int>(lengths.size()), lengths.empty() ? 0 : lengths[0]);
  return scattered(std::move(lengths), ints_per_item, one.own(side));
}

}  // namespace

Topology cartesian(const Group& group) {
  Topology topology{group, {}, {}};
  int dimensions;
  MPI_Cartdim_get(group.comm, &dimensions);
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below, above;
    MPI_Cart_shift(group.comm, dimension, 1, &below, &above);
    const int first = 2 * dimension, second = first + 1;
    topology.out.insert(topology.out.end(), {{below, first}, {above, second}});
    topology.in.insert(topology.in.end(), {{below, second}, {above, first}});
  }
  return topology;
}

Topology of_lists(const Group& group, const std::vector<int>& out, const std::vector<int>& in) {
  const auto labelled = [](const std::vector<int>& peers) {
    std::vector<Edge> edges;
    for (auto peer = peers.begin(); peer != peers.end(); ++peer)
      edges.push_back({*peer, static_cast<int>(std::count(peers.begin(), peer, *peer))});
    return edges;
  };
  return {group, labelled(out), labelled(in)};
}

void one_neighbourhood(const Topology& topology, NeighbourKind kind, std::uint64_t seed, long longest,
                       bool derived, bool large) {
  const NeighbourCase one{topology, kind, seed, longest, derived, large};
  begin({name_of(kind), &topology.group, -1, longest, derived ? "derived" : "plain", large ? "large" : ""});
  if (kind == NeighbourKind::alltoallw)
    check_neighbourhood(one, mixed_side(one, true), mixed_side(one, false), call_w);
  else
    check_neighbourhood(one, Side(one.layout(1), arranged(one, one.out_lengths(), 1)),
                        Side(one.layout(0), arranged(one, one.in_lengths(), 0)), call_neighbours);
}

void all_neighbourhoods(const Topology& topology, std::uint64_t seed) {
  for (long longest : {0L, 1L, 3L, 40L, 900L})
    for (NeighbourKind kind : {NeighbourKind::allgather, NeighbourKind::allgatherv, NeighbourKind::alltoall,
                               NeighbourKind::alltoallv, NeighbourKind::alltoallw})
      for (bool derived : {false, true}) {
        ++seed;
        one_neighbourhood(topology, kind, seed, longest, derived, seed % 3 == 0);
      }
}

}  // namespace checked
