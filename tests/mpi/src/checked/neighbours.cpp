#include "neighbours.hpp"

#include "harness.hpp"
#include "neighbour_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace checked {
namespace {

Mixed mixed_side(const NeighbourCase& one, bool sends) {
  std::vector<MixedBlock> blocks;
  std::uint64_t at = 0;
  for (const long ints : sends ? one.out_lengths() : one.in_lengths())
    blocks.push_back(
        {one.derived ? &any_layout(random_bits(one.own(sends), 8, ++at)) : &plain_layout(), ints});
  return {std::move(blocks), one.own(sends)};
}

// One call, from its start to its end. What MPI gets lies still as long.
template <class Buffer>
class Neighbourhood {
 public:
  Neighbourhood(const NeighbourCase& one, Buffer send, Buffer receive)
      : one_(one), send_(std::move(send)), receive_(std::move(receive)), expected_(receive_) {}

  void start(int round) {
    announce();
    one_.round = round;
    one_.fill(send_, expected_);
    before_ = send_.cells();
    if (round == 0) call_neighbours(one_, send_, receive_, held_, &request_);
    if (one_.manner == Manner::persistent) MPI_Start(&request_);
  }
  void finish() {
    announce();
    if (one_.manner != Manner::blocking) MPI_Wait(&request_, MPI_STATUS_IGNORE);
    compare(before_, send_.cells());
    compare(expected_.cells(), receive_.cells());
  }
  void free() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

 private:
  void announce() const {
    begin({name_of(one_.kind), &one_.topology.group, -1, one_.longest, one_.derived ? "derived" : "plain",
           one_.manner == Manner::blocking && one_.large ? "large" : name_of(one_.manner)});
  }

  NeighbourCase one_;
  Buffer send_, receive_, expected_;
  std::vector<std::uint32_t> before_;
  std::shared_ptr<void> held_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

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

namespace {

template <class Buffer>
void check_neighbourhood(Neighbourhood<Buffer> one, Manner manner) {
  for (int round = 0; round < rounds_of(manner); ++round) {
    one.start(round);
    one.finish();
  }
  one.free();
}

Neighbourhood<Mixed> mixed_neighbourhood(const NeighbourCase& one) {
  return {one, mixed_side(one, true), mixed_side(one, false)};
}

Neighbourhood<Side> plain_neighbourhood(const NeighbourCase& one) {
  return {one, Side(one.layout(1), arranged(one, one.out_lengths(), 1)),
          Side(one.layout(0), arranged(one, one.in_lengths(), 0))};
}

void check_case(const NeighbourCase& one) {
  if (one.kind == NeighbourKind::alltoallw)
    check_neighbourhood(mixed_neighbourhood(one), one.manner);
  else
    check_neighbourhood(plain_neighbourhood(one), one.manner);
}

constexpr NeighbourKind all_kinds[] = {NeighbourKind::allgather, NeighbourKind::allgatherv,
                                       NeighbourKind::alltoall, NeighbourKind::alltoallv,
                                       NeighbourKind::alltoallw};

// All kinds under way at a time, some of them twice; each rank completes them in an order of its own.
void many_neighbourhoods(const Topology& topology, Manner manner, std::uint64_t seed) {
  std::deque<Neighbourhood<Side>> sides;
  std::deque<Neighbourhood<Mixed>> mixed;
  for (const long longest : {2L, 40L})
    for (const NeighbourKind kind : all_kinds) {
      const NeighbourCase one{topology, kind, ++seed, longest, seed % 2 == 0, false, manner};
      if (kind == NeighbourKind::alltoallw)
        mixed.push_back(mixed_neighbourhood(one)), mixed.back().start(0);
      else
        sides.push_back(plain_neighbourhood(one)), sides.back().start(0);
    }
  const auto reversed = [&](std::size_t i) { return topology.group.rank % 2 ? i : sides.size() - 1 - i; };
  for (int round = 1; round <= rounds_of(manner); ++round) {
    for (auto& each : mixed) each.finish();
    for (std::size_t i = 0; i < sides.size(); ++i) sides[reversed(i)].finish();
    if (round == rounds_of(manner)) break;
    for (auto& each : sides) each.start(round);
    for (auto& each : mixed) each.start(round);
  }
  for (auto& each : sides) each.free();
  for (auto& each : mixed) each.free();
}

}  // namespace

void one_neighbourhood(const Topology& topology, NeighbourKind kind, std::uint64_t seed, long longest,
                       bool derived, bool large) {
  check_case({topology, kind, seed, longest, derived, large});
}

void all_neighbourhoods(const Topology& topology, std::uint64_t seed) {
  const bool are_hosts = std::getenv("ESPALIER_NODES") != nullptr;
  for (long longest : {0L, 1L, 3L, 40L, 900L})
    for (NeighbourKind kind : all_kinds)
      for (bool derived : {false, true}) {
        ++seed;
        one_neighbourhood(topology, kind, seed, longest, derived, seed % 3 == 0);
        // Of one rank alone they are the host's; over nodes, too, which is slow where ranks share cores.
        if (topology.group.size == 1 || longest == 0 || (are_hosts && longest > 1)) continue;
        const Manner manner = seed / 2 % 2 == 0 ? Manner::nonblocking : Manner::persistent;
        check_case({topology, kind, seed + 50, longest, derived, seed % 3 == 0, manner});
      }
  if (topology.group.size == 1 || are_hosts) return;
  many_neighbourhoods(topology, Manner::nonblocking, seed);
  many_neighbourhoods(topology, Manner::persistent, seed);
}

}  // namespace checked
