// Alltoallw: a layout of its own for each block, on either side; blocks from nothing to several chunks.
#include "checks.hpp"
#include "harness.hpp"
#include "mixed.hpp"
#include "side.hpp"
#include "values.hpp"

#include <utility>

namespace checked {
namespace {

struct MixedCase {
  const Group& group;
  std::uint64_t seed;
  long longest;  // in items
  bool derived = false, in_place = false, large = false;

  // Two of ten blocks are empty. In place, both directions of a pair have one length.
  long ints(int source, int target) const {
    if (in_place && source > target) std::swap(source, target);
    const std::uint64_t bits =
        random_bits(seed, 55 + static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(target));
    if (bits % 10 < 2 || longest == 0) return 0;
    return ints_per_item * static_cast<long>(1 + (bits >> 8) % static_cast<std::uint64_t>(longest));
  }
  Mixed side(bool sends) const {
    std::vector<MixedBlock> blocks;
    const std::uint64_t own = seed * 64 + static_cast<std::uint64_t>(group.rank * 2 + sends);
    for (int peer = 0; peer < group.size; ++peer)
      blocks.push_back(
          {derived ? &any_layout(random_bits(own, 5, static_cast<std::uint64_t>(peer))) : &plain_layout(),
           sends ? ints(group.rank, peer) : ints(peer, group.rank)});
    return {std::move(blocks), own};
  }
};

void call_alltoallw(const MixedCase& one, Mixed& send, Mixed& receive) {
  void* from = one.in_place ? MPI_IN_PLACE : send.address();
  const bool none = one.in_place;
#if MPI_VERSION >= 4
  if (one.large) {
    const auto out = send.counts<MPI_Count>(), in = receive.counts<MPI_Count>();
    const auto out_places = send.places<MPI_Aint>(), in_places = receive.places<MPI_Aint>();
    MPI_Alltoallw_c(from, none ? nullptr : out.data(), none ? nullptr : out_places.data(),
                    none ? nullptr : send.types(), receive.address(), in.data(), in_places.data(),
                    receive.types(), one.group.comm);
    return;
  }
#endif
  const auto out = send.counts<int>(), in = receive.counts<int>();
  const auto out_places = send.places<int>(), in_places = receive.places<int>();
  MPI_Alltoallw(from, none ? nullptr : out.data(), none ? nullptr : out_places.data(),
                none ? nullptr : send.types(), receive.address(), in.data(), in_places.data(),
                receive.types(), one.group.comm);
}

}  // namespace

void one_alltoallw(const Group& group, std::uint64_t seed, long longest, bool derived, bool in_place,
                   bool large) {
  const MixedCase one{group, seed, longest, derived, in_place, large};
  begin({"alltoallw", &group, -1, longest, derived ? "mixed" : "plain", in_place ? "in place" : ""});
  Mixed send = one.side(true), receive = one.side(false), expected = receive;
  for (int peer = 0; peer < group.size; ++peer) {
    const auto block = static_cast<std::size_t>(peer);
    send.put(block, seed, group.rank, peer);
    expected.put(block, seed, peer, group.rank);
    if (in_place) receive.put(block, seed, group.rank, peer);
  }
  const Mixed before = send;
  call_alltoallw(one, send, receive);
  compare(before.cells(), send.cells());
  compare(expected.cells(), receive.cells());
}

void check_alltoallw(const Group& world) {
  std::uint64_t seed = 21000;
  for (long longest : {0L, 1L, 2L, 10L, 90L, 700L, 3000L})
    for (bool derived : {false, true})
      for (bool in_place : {false, true})
        for (bool large : {false, true})
          for (int i = 0; i < (longest < 100 ? 3 : 1); ++i)
            one_alltoallw(world, ++seed, longest, derived, in_place, large);
  // The same again and again without pause: nothing may be overwritten before the slowest has read it.
  for (int i = 0; i < 30; ++i) one_alltoallw(world, ++seed, 1 + i % 3 * 60, i % 2 == 0, false, false);
}

}  // namespace checked
