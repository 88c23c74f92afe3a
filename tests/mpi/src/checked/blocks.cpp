// Allgather, gather, scatter, alltoall and their v forms: every root, sizes around borders, in place, several
// rounds without pause; then layouts with holes, unlike on every rank.
#include "checks.hpp"
#include "harness.hpp"
#include "moves.hpp"

#include <vector>

namespace checked {
namespace {

Move plain_move(const Group& group, std::uint64_t seed, int root, bool in_place = false) {
  Move move{group, seed};
  move.root = root;
  move.in_place = in_place;
  return move;
}

// Intel MPI's allgather in place loses data of the last one, the interlaced.
const Layout& layout(std::uint64_t number) {
  return layouts()[number % (layouts().size() - (on_bare_host() ? 1 : 0))];
}

// Each rank has its own pair of layouts. (Open MPI and Intel MPI choose an algorithm by what a rank passed,
// and with unlike counts of equal signature they hang or are wrong.)
Move derived_move(const Group& group, std::uint64_t seed, int root, bool in_place) {
  Move move = plain_move(group, seed, root, in_place);
  auto rank = static_cast<std::uint64_t>(group.rank);
  move.unit = ints_per_item;
  move.send = &layout(rank + seed);
  move.receive = &layout(rank * 3 + seed + 1);
  return move;
}

// All ranks have the same pair. (Intel MPI's allgather takes the sent layout for the received one.)
Move equal_move(const Group& group, std::uint64_t seed, int root, bool in_place) {
  Move move = plain_move(group, seed, root, in_place);
  move.unit = ints_per_item;
  move.send = &layout(seed);
  move.receive = on_bare_host() ? move.send : &layout(seed / 8 + seed);
  return move;
}

void with_null_buffers(const Group& world) {
  begin({"blocks of nothing with null buffers", &world});
  std::vector<int> none(static_cast<std::size_t>(world.size), 0);
  MPI_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, world.comm);
  MPI_Gather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, world.comm);
  MPI_Scatter(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, 0, world.comm);
  MPI_Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, world.comm);
  MPI_Allgatherv(nullptr, 0, MPI_INT, nullptr, none.data(), none.data(), MPI_INT, world.comm);
  MPI_Gatherv(nullptr, 0, MPI_INT, nullptr, none.data(), none.data(), MPI_INT, 0, world.comm);
  MPI_Scatterv(nullptr, none.data(), none.data(), MPI_INT, nullptr, 0, MPI_INT, 0, world.comm);
  MPI_Alltoallv(nullptr, none.data(), none.data(), MPI_INT, none.data(), none.data(), none.data(), MPI_INT,
                world.comm);
  pass();
}

// The only data go from one rank to one other; the rest passes null to send from. (MPICH wants unlike
// buffers.)
void from_one_to_one(const Group& world, std::uint64_t seed) {
  begin({"alltoallv with one block", &world});
  int source = static_cast<int>(seed) % world.size, target = static_cast<int>(seed / 3) % world.size;
  auto ranks = static_cast<std::size_t>(world.size);
  std::vector<int> out(ranks, 0), in(ranks, 0), places(ranks, 0);
  long cell = -1, told = 4711 + static_cast<long>(seed);
  if (world.rank == source) out[static_cast<std::size_t>(target)] = 1;
  if (world.rank == target) in[static_cast<std::size_t>(source)] = 1;
  MPI_Alltoallv(world.rank == source ? &told : nullptr, out.data(), places.data(), MPI_LONG, &cell, in.data(),
                places.data(), MPI_LONG, world.comm);
  if (world.rank == target) compare(&told, &cell, 1);
}

}  // namespace

void check_blocks(const Group& world) {
  std::uint64_t seed = 12000;
  for (int round = 0; round < 2; ++round)
    for (int root = 0; root < world.size; ++root)
      for (long length : {1L, 17L, 300L}) {
        for (int which : {1, 2, 5, 6}) one_move(which, plain_move(world, ++seed, root, round == 1), length);
      }
  for (long length : {0L, 1L, 2L, 7L, 16L, 31L, 256L, 1023L, 1024L, 5000L, 16385L, 33000L}) {
    int root = static_cast<int>(length) % world.size;
    if (length > 20000 && world.size > 8) length /= 4;
    for (bool in_place : {false, true}) all_moves(plain_move(world, ++seed, root, in_place), length);
  }
  // The same again and again without pause: nothing may be overwritten before the slowest has read it.
  for (int i = 0; i < 20; ++i)
    for (int which = 0; which < kinds_of_moves; ++which)
      one_move(which, plain_move(world, ++seed, 0), 1 + i % 3 * 700);
  with_null_buffers(world);
  for (int i = 0; i < 6; ++i) from_one_to_one(world, ++seed);
}

void check_derived_blocks(const Group& world) {
  std::uint64_t seed = 13000;
  for (long items : {0L, 1L, 3L, 25L, 200L})
    for (int i = 0; i < 8; ++i) {
      int root = i % world.size;
      bool in_place = i % 3 == 2;
      if (!on_bare_host()) all_moves(derived_move(world, ++seed, root, in_place), items * ints_per_item);
      if (items != 200) all_moves(equal_move(world, ++seed, root, in_place), items * ints_per_item);
    }
}

}  // namespace checked
