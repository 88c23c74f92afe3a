// Alltoallw: a layout of its own for each block, on either side; blocks from nothing to several chunks.
// Blocking, nonblocking with many under way, and prepared once.
#include "checks.hpp"
#include "harness.hpp"
#include "manner.hpp"
#include "mixed.hpp"
#include "side.hpp"
#include "values.hpp"

#include <deque>
#include <utility>
#include <vector>

namespace checked {
namespace {

struct MixedCase {
  const Group& group;
  std::uint64_t seed;
  long longest;  // in items
  bool derived = false, in_place = false, large = false;
  Manner manner = Manner::blocking;

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

template <class Count, class Place>
struct MixedArrays {
  explicit MixedArrays(const Mixed& side) : counts(side.counts<Count>()), places(side.places<Place>()) {}
  std::vector<Count> counts;
  std::vector<Place> places;
};

// One call, from its start to its end. What MPI gets lies still as long.
class Exchange {
 public:
  explicit Exchange(const MixedCase& one)
      : one_(one),
        send_(one.side(true)),
        receive_(one.side(false)),
        before_(send_),
        expected_(receive_),
        out_(send_),
        in_(receive_),
        large_out_(send_),
        large_in_(receive_),
        out_types_(send_.types(), one.group.size, one.manner),
        in_types_(receive_.types(), one.group.size, one.manner) {}

  // `round`: of a request that is started again.
  void start(int round) {
    const Group& group = one_.group;
    announce();
    const std::uint64_t seed = one_.seed + static_cast<std::uint64_t>(round) * 1000003;
    for (int peer = 0; peer < group.size; ++peer) {
      const auto block = static_cast<std::size_t>(peer);
      send_.put(block, seed, group.rank, peer);
      expected_.put(block, seed, peer, group.rank);
      if (one_.in_place) receive_.put(block, seed, group.rank, peer);
    }
    before_ = send_;
    if (round == 0) {
      call();
      out_types_.free();
      in_types_.free();
    }
    if (one_.manner == Manner::persistent) MPI_Start(&request_);
  }
  void finish() {
    announce();
    if (one_.manner != Manner::blocking) MPI_Wait(&request_, MPI_STATUS_IGNORE);
    compare(before_.cells(), send_.cells());
    compare(expected_.cells(), receive_.cells());
  }
  void free() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

 private:
  void announce() const {
    begin({"alltoallw", &one_.group, -1, one_.longest, one_.derived ? "mixed" : "plain",
           one_.in_place ? "in place" : name_of(one_.manner)});
  }
  void call() {
    const bool none = one_.in_place;
    void* from = none ? MPI_IN_PLACE : send_.address();
    const MPI_Datatype* types = none ? nullptr : out_types_.data();
#if MPI_VERSION >= 4
    if (one_.large)
      return call_in(one_.manner, &request_, MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, from,
                     none ? nullptr : large_out_.counts.data(), none ? nullptr : large_out_.places.data(),
                     types, receive_.address(), large_in_.counts.data(), large_in_.places.data(),
                     in_types_.data(), one_.group.comm);
#endif
    call_in(one_.manner, &request_, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, from,
            none ? nullptr : out_.counts.data(), none ? nullptr : out_.places.data(), types,
            receive_.address(), in_.counts.data(), in_.places.data(), in_types_.data(), one_.group.comm);
  }

  MixedCase one_;
  Mixed send_, receive_, before_, expected_;
  MixedArrays<int, int> out_, in_;
  MixedArrays<MPI_Count, MPI_Aint> large_out_, large_in_;
  TypesOfCall out_types_, in_types_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void one_exchange(const MixedCase& one) {
  Exchange exchange(one);
  for (int round = 0; round < rounds_of(one.manner); ++round) {
    exchange.start(round);
    exchange.finish();
  }
  exchange.free();
}

// Many are under way at a time; each rank completes them in an order of its own.
void many_exchanges(const Group& world, Manner manner, std::uint64_t seed) {
  std::deque<Exchange> all;
  for (int i = 0; i < 24; ++i)
    all.emplace_back(
           MixedCase{world, ++seed, i == 5 ? 300 : i % 4 * 8, i % 2 == 0, i % 3 == 0, false, manner})
        .start(0);
  for (int round = 1; round <= rounds_of(manner); ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) all[world.rank % 2 ? i : all.size() - 1 - i].finish();
    if (round < rounds_of(manner))
      for (Exchange& each : all) each.start(round);
  }
  for (Exchange& each : all) each.free();
}

}  // namespace

void one_alltoallw(const Group& group, std::uint64_t seed, long longest, bool derived, bool in_place,
                   bool large) {
  one_exchange({group, seed, longest, derived, in_place, large});
}

void check_alltoallw(const Group& world) {
  std::uint64_t seed = 21000;
  for (long longest : {0L, 1L, 2L, 10L, 90L, 700L, 3000L})
    for (bool derived : {false, true})
      for (bool in_place : {false, true})
        for (bool large : {false, true}) {
          for (int i = 0; i < (longest < 100 ? 3 : 1); ++i)
            one_alltoallw(world, ++seed, longest, derived, in_place, large);
          for (Manner manner : {Manner::nonblocking, Manner::persistent})
            one_exchange({world, ++seed, longest, derived, in_place, large, manner});
        }
  // The same again and again without pause: nothing may be overwritten before the slowest has read it.
  for (int i = 0; i < 30; ++i) one_alltoallw(world, ++seed, 1 + i % 3 * 60, i % 2 == 0, false, false);
  many_exchanges(world, Manner::nonblocking, 22000);
  many_exchanges(world, Manner::persistent, 23000);
}

}  // namespace checked
