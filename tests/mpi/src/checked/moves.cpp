#include "moves.hpp"

#include "harness.hpp"
#include "side.hpp"
#include "values.hpp"

#include <utility>
#include <vector>

namespace checked {
namespace {

// What is not significant at a rank, or beside MPI_IN_PLACE: no rank may look at it.
constexpr int no_count = -17;
void* const nowhere = nullptr;

struct Argument {
  void* buffer;
  long count;
  MPI_Datatype type;
};

Argument insignificant() { return {nowhere, no_count, MPI_DATATYPE_NULL}; }
Argument in_place() { return {MPI_IN_PLACE, no_count, MPI_DATATYPE_NULL}; }
Argument of(Side& side) { return {side.address(), side.count(), side.type()}; }

// Both forms of the arrays.
template <class Count, class Place>
struct Arrays {
  std::vector<Count> counts;
  std::vector<Place> places;
  Arrays() = default;
  explicit Arrays(const Side& side) : counts(side.counts<Count>()), places(side.places<Place>()) {}
  const Count* count() const { return counts.empty() ? nullptr : counts.data(); }
  const Place* place() const { return places.empty() ? nullptr : places.data(); }
};
using Plain = Arrays<int, int>;
using Large = Arrays<MPI_Count, MPI_Aint>;

int small(long count) { return static_cast<int>(count); }

// A host of MPI 3 has no _c functions; then the plain ones are called.
#if MPI_VERSION >= 4
#define CALL(move, plain_call, large_call) \
  if ((move).large)                        \
    large_call;                            \
  else                                     \
    plain_call
#else
#define CALL(move, plain_call, large_call) plain_call
#endif

void announce(const char* collective, const Move& move, long length, bool rooted) {
  begin({collective, &move.group, rooted ? move.root : -1, length, move.receive->name,
         move.in_place ? "in place"
         : move.large  ? "large"
                       : ""});
}

// Three of ten blocks are empty.
long uneven(std::uint64_t seed, int source, int target, long longest, long unit) {
  std::uint64_t bits =
      random_bits(seed, 77 + static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(target));
  if (bits % 10 < 3) return 0;
  return unit * static_cast<long>(1 + (bits >> 8) % static_cast<std::uint64_t>(longest));
}

// The places that this rank chooses: others choose theirs.
std::uint64_t own_shape(const Move& move, int side) {
  return move.seed * 64 + static_cast<std::uint64_t>(move.group.rank * 2 + side);
}

// Everything a call does to the two buffers is known.
void settle(const Side& expected, const Side& receive) { compare(expected.cells(), receive.cells()); }

}  // namespace

void one_allgather(const Move& move, long length) {
  const Group& group = move.group;
  announce("allgather", move, length, false);
  Side send(*move.send, even(1, length)), receive(*move.receive, even(group.size, length)),
      expected = receive;
  send.put(0, move.seed, group.rank, 0);
  if (move.in_place) receive.put(group.rank, move.seed, group.rank, 0);
  for (int rank = 0; rank < group.size; ++rank) expected.put(rank, move.seed, rank, 0);
  const Side before = send;
  Argument from = move.in_place ? in_place() : of(send), to = of(receive);
  CALL(move,
       MPI_Allgather(from.buffer, small(from.count), from.type, to.buffer, small(to.count), to.type,
                     group.comm),
       MPI_Allgather_c(from.buffer, from.count, from.type, to.buffer, to.count, to.type, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_gather(const Move& move, long length) {
  const Group& group = move.group;
  announce("gather", move, length, true);
  bool here = group.rank == move.root;
  Side send(*move.send, even(1, length)), receive(*move.receive, even(group.size, length)),
      expected = receive;
  send.put(0, move.seed, group.rank, 0);
  if (here && move.in_place) receive.put(group.rank, move.seed, group.rank, 0);
  for (int rank = 0; here && rank < group.size; ++rank) expected.put(rank, move.seed, rank, 0);
  const Side before = send;
  Argument from = here && move.in_place ? in_place() : of(send), to = here ? of(receive) : insignificant();
  CALL(move,
       MPI_Gather(from.buffer, small(from.count), from.type, to.buffer, small(to.count), to.type, move.root,
                  group.comm),
       MPI_Gather_c(from.buffer, from.count, from.type, to.buffer, to.count, to.type, move.root, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_scatter(const Move& move, long length) {
  const Group& group = move.group;
  announce("scatter", move, length, true);
  bool here = group.rank == move.root, stays = here && move.in_place;
  Side send(*move.send, even(group.size, length)), receive(*move.receive, even(1, length)),
      expected = receive;
  for (int rank = 0; rank < group.size; ++rank) send.put(rank, move.seed, move.root, rank);
  if (!stays) expected.put(0, move.seed, move.root, group.rank);
  const Side before = send;
  Argument from = here ? of(send) : insignificant(), to = stays ? in_place() : of(receive);
  CALL(
      move,
      MPI_Scatter(from.buffer, small(from.count), from.type, to.buffer, small(to.count), to.type, move.root,
                  group.comm),
      MPI_Scatter_c(from.buffer, from.count, from.type, to.buffer, to.count, to.type, move.root, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_alltoall(const Move& move, long length) {
  const Group& group = move.group;
  announce("alltoall", move, length, false);
  Side send(*move.send, even(group.size, length)), receive(*move.receive, even(group.size, length)),
      expected = receive;
  for (int rank = 0; rank < group.size; ++rank) {
    send.put(rank, move.seed, group.rank, rank);
    expected.put(rank, move.seed, rank, group.rank);
    if (move.in_place) receive.put(rank, move.seed, group.rank, rank);
  }
  const Side before = send;
  Argument from = move.in_place ? in_place() : of(send), to = of(receive);
  CALL(move,
       MPI_Alltoall(from.buffer, small(from.count), from.type, to.buffer, small(to.count), to.type,
                    group.comm),
       MPI_Alltoall_c(from.buffer, from.count, from.type, to.buffer, to.count, to.type, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_allgatherv(const Move& move, long longest) {
  const Group& group = move.group;
  announce("allgatherv", move, longest, false);
  std::vector<long> lengths;
  for (int rank = 0; rank < group.size; ++rank)
    lengths.push_back(uneven(move.seed, rank, 0, longest, move.unit));
  Side send(*move.send, even(1, lengths[static_cast<std::size_t>(group.rank)]));
  Side receive(*move.receive, scattered(lengths, move.unit, own_shape(move, 0))), expected = receive;
  send.put(0, move.seed, group.rank, 0);
  if (move.in_place) receive.put(group.rank, move.seed, group.rank, 0);
  for (int rank = 0; rank < group.size; ++rank) expected.put(rank, move.seed, rank, 0);
  const Side before = send;
  Argument from = move.in_place ? in_place() : of(send);
  CALL(move,
       MPI_Allgatherv(from.buffer, small(from.count), from.type, receive.address(), Plain(receive).count(),
                      Plain(receive).place(), receive.type(), group.comm),
       MPI_Allgatherv_c(from.buffer, from.count, from.type, receive.address(), Large(receive).count(),
                        Large(receive).place(), receive.type(), group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_gatherv(const Move& move, long longest) {
  const Group& group = move.group;
  announce("gatherv", move, longest, true);
  bool here = group.rank == move.root;
  std::vector<long> lengths;
  for (int rank = 0; rank < group.size; ++rank)
    lengths.push_back(uneven(move.seed, rank, 1, longest, move.unit));
  Side send(*move.send, even(1, lengths[static_cast<std::size_t>(group.rank)]));
  Side receive(*move.receive, scattered(lengths, move.unit, own_shape(move, 0))), expected = receive;
  send.put(0, move.seed, group.rank, 0);
  if (here && move.in_place) receive.put(group.rank, move.seed, group.rank, 0);
  for (int rank = 0; here && rank < group.size; ++rank) expected.put(rank, move.seed, rank, 0);
  const Side before = send;
  Argument from = here && move.in_place ? in_place() : of(send), to = here ? of(receive) : insignificant();
  Plain plain = here ? Plain(receive) : Plain();
  Large large = here ? Large(receive) : Large();
  CALL(move,
       MPI_Gatherv(from.buffer, small(from.count), from.type, to.buffer, plain.count(), plain.place(),
                   to.type, move.root, group.comm),
       MPI_Gatherv_c(from.buffer, from.count, from.type, to.buffer, large.count(), large.place(), to.type,
                     move.root, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_scatterv(const Move& move, long longest) {
  const Group& group = move.group;
  announce("scatterv", move, longest, true);
  bool here = group.rank == move.root, stays = here && move.in_place;
  std::vector<long> lengths;
  for (int rank = 0; rank < group.size; ++rank)
    lengths.push_back(uneven(move.seed, rank, 2, longest, move.unit));
  Side send(*move.send, scattered(lengths, move.unit, own_shape(move, 1)));
  Side receive(*move.receive, even(1, lengths[static_cast<std::size_t>(group.rank)])), expected = receive;
  for (int rank = 0; rank < group.size; ++rank) send.put(rank, move.seed, move.root, rank);
  if (!stays) expected.put(0, move.seed, move.root, group.rank);
  const Side before = send;
  Argument from = here ? of(send) : insignificant(), to = stays ? in_place() : of(receive);
  Plain plain = here ? Plain(send) : Plain();
  Large large = here ? Large(send) : Large();
  CALL(move,
       MPI_Scatterv(from.buffer, plain.count(), plain.place(), from.type, to.buffer, small(to.count), to.type,
                    move.root, group.comm),
       MPI_Scatterv_c(from.buffer, large.count(), large.place(), from.type, to.buffer, to.count, to.type,
                      move.root, group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_alltoallv(const Move& move, long longest) {
  const Group& group = move.group;
  announce("alltoallv", move, longest, false);
  // In place, both directions of a pair have one length.
  auto length = [&](int source, int target) {
    if (move.in_place && source > target) std::swap(source, target);
    return uneven(move.seed, source, 3 + target, longest, move.unit);
  };
  std::vector<long> out, in;
  for (int rank = 0; rank < group.size; ++rank) {
    out.push_back(length(group.rank, rank));
    in.push_back(length(rank, group.rank));
  }
  Side send(*move.send, scattered(out, move.unit, own_shape(move, 1)));
  Side receive(*move.receive, scattered(in, move.unit, own_shape(move, 0))), expected = receive;
  for (int rank = 0; rank < group.size; ++rank) {
    send.put(rank, move.seed, group.rank, rank);
    expected.put(rank, move.seed, rank, group.rank);
    if (move.in_place) receive.put(rank, move.seed, group.rank, rank);
  }
  const Side before = send;
  Argument from = move.in_place ? in_place() : of(send);
  Plain plain = move.in_place ? Plain() : Plain(send);
  Large large = move.in_place ? Large() : Large(send);
  CALL(move,
       MPI_Alltoallv(from.buffer, plain.count(), plain.place(), from.type, receive.address(),
                     Plain(receive).count(), Plain(receive).place(), receive.type(), group.comm),
       MPI_Alltoallv_c(from.buffer, large.count(), large.place(), from.type, receive.address(),
                       Large(receive).count(), Large(receive).place(), receive.type(), group.comm));
  settle(before, send);
  settle(expected, receive);
}

void one_move(int which, const Move& move, long length) {
  long longest = length / move.unit + 1;
  switch (which) {
    case 0:
      return one_allgather(move, length);
    case 1:
      return one_gather(move, length);
    case 2:
      return one_scatter(move, length);
    case 3:
      return one_alltoall(move, length);
    case 4:
      return one_allgatherv(move, longest);
    case 5:
      return one_gatherv(move, longest);
    case 6:
      return one_scatterv(move, longest);
    default:
      return one_alltoallv(move, longest);
  }
}

void all_moves(const Move& move, long length) {
  for (int which = 0; which < kinds_of_moves; ++which) one_move(which, move, length);
}

}  // namespace checked
