// The collectives on communicators of all kinds, and interleaved on several at once.
#include "checks.hpp"
#include "harness.hpp"
#include "moves.hpp"
#include "values.hpp"

#include <deque>
#include <utility>

namespace checked {
namespace {

MPI_Comm split(const Group& world, int colour, int key) {
  MPI_Comm made;
  MPI_Comm_split(world.comm, colour, key, &made);
  return made;
}

// A few ranks only create it; the others do not take part.
MPI_Comm of_every_third(const Group& world) {
  if (world.rank % 3 != 0) return MPI_COMM_NULL;
  MPI_Group all, some;
  MPI_Comm made;
  MPI_Comm_group(world.comm, &all);
  int range[1][3] = {{0, world.size - 1, 3}};
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Comm_create_group(world.comm, some, 17, &made);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  return made;
}

MPI_Comm ring(const Group& world) {
  int sizes[1] = {world.size}, periodic[1] = {1};
  MPI_Comm made;
  MPI_Cart_create(world.comm, 1, sizes, periodic, 1, &made);
  return made;
}

// Of all ranks but the last, which gets none. (MPICH 5.0.2 gives it the group of all.)
MPI_Comm ring_of_some(const Group& world) {
  int sizes[1] = {world.size > 1 ? world.size - 1 : 1}, periodic[1] = {1};
  MPI_Comm made;
  MPI_Cart_create(world.comm, 1, sizes, periodic, 0, &made);
  return made;
}

MPI_Comm duplicate(const Group& world) {
  MPI_Comm made;
  MPI_Comm_dup(world.comm, &made);
  return made;
}

MPI_Comm duplicate_nonblocking(const Group& world) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(world.comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

MPI_Comm of_the_node(const Group& world) {
  MPI_Comm made;
  MPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, -world.rank, MPI_INFO_NULL, &made);
  return made;
}

std::deque<Group> of_all_kinds(const Group& world) {
  int r = world.rank, n = world.size;
  std::deque<Group> all;
  all.emplace_back(duplicate(world), "a duplicate of the world");
  all.emplace_back(split(world, r % 2, r), "odd or even ranks");
  all.emplace_back(split(world, 0, -r), "the world in reverse");
  all.emplace_back(split(world, 0, (r * 7 + 3) % n * 100 + r), "the world shuffled");
  all.emplace_back(split(world, r < (n + 1) / 2 ? 0 : MPI_UNDEFINED, r), "the first half");
  all.emplace_back(split(world, r / 2, -r), "neighbours in reverse");
  all.emplace_back(of_every_third(world), "every third rank");
  all.emplace_back(of_the_node(world), "the ranks of the node in reverse");
  all.emplace_back(ring(world), "a ring");
  all.emplace_back(ring_of_some(world), "a ring of all ranks but the last");
  all.emplace_back(duplicate_nonblocking(world), "a duplicate made by idup");
  return all;
}

}  // namespace

void check_communicators(const Group& world) {
  Group self(MPI_COMM_SELF, "MPI_COMM_SELF");
  check_all(self, 8000);
  std::deque<Group> all = of_all_kinds(world);
  std::uint64_t seed = 8100;
  for (const Group& group : all) {
    seed += 1000;
    if (group.member()) check_all(group, seed);
  }
  // A duplicate of a duplicate, used after its parent is gone.
  Group child(duplicate(all[2]), "a duplicate of the world in reverse");
  for (Group& group : all) group.free();
  check_all(child, seed + 1000);
  MPI_Comm_disconnect(&child.comm);
  check_all(world, seed + 2000);
}

void check_interleaved(const Group& world) {
  std::deque<Group> all = of_all_kinds(world);
  std::uint64_t seed = 9000;
  for (int step = 0; step < 168; ++step) {
    const Group& group = all[static_cast<std::size_t>(step * 7) % all.size()];
    ++seed;
    if (!group.member()) continue;
    int root = step % group.size;
    switch (step % 7) {
      case 0:
        one_bcast(group, root, step * 11, seed);
        break;
      case 1:
        one_reduce(group, root, step * 13, seed);
        break;
      case 2:
        one_allreduce_double(group, 1 + step % 3, seed);
        break;
      case 3:
        one_ordered_reduce(group, root, 1 + step % 5, seed);
        break;
      case 4:
        one_move(step / 7 % kinds_of_moves, {.group = group, .seed = seed, .root = root}, step * 3);
        break;
      case 5:
        one_prefix(group, step / 7 % kinds_of_prefixes, 1 + step * 5, seed);
        break;
      case 6:
        one_barrier(group, 0);
        break;
    }
  }
  for (Group& group : all) group.free();
}

void check_random(const Group& world, std::uint64_t seed) {
  std::deque<Group> all = of_all_kinds(world);
  all.push_back(world);
  Dice dice(seed);
  for (int step = 0; step < 400; ++step) {
    // Everything is rolled on every rank, member or not, so that the dice agree.
    const Group& group = all[static_cast<std::size_t>(dice.roll(static_cast<int>(all.size())))];
    int what = dice.roll(11), kind = dice.roll(24), side = dice.roll(720720), size_class = dice.roll(20),
        size = dice.roll(4096);
    int who_is_late = dice.roll(world.size), how_late = dice.roll(400);
    long count = size_class == 0 ? 20000 + size : size_class < 5 ? size : size % 40;
    if (!group.member()) continue;
    double late = step % 3 == 0 && world.rank == who_is_late ? how_late * 1e-6 : 0;
    if (late > 0 && what != 7) sleep_for(late);
    int root = side % group.size;
    std::uint64_t at = seed * 1000 + static_cast<std::uint64_t>(step);
    switch (what) {
      case 0:
        one_bcast(group, root, count, at);
        break;
      case 1:
        one_reduce(group, root, count, at);
        break;
      case 2:
        one_allreduce(group, count, at);
        break;
      case 3:
        one_reduce_double(group, root, count, at);
        break;
      case 4:
        one_allreduce_double(group, count, at);
        break;
      case 5:
        one_ordered_reduce(group, root, count / 10, at);
        break;
      case 6:
        one_ordered_allreduce(group, count / 10, at);
        break;
      case 7:
        one_barrier(group, late);
        break;
      case 8:
      case 9:
        one_move(kind % kinds_of_moves, {.group = group, .seed = at, .in_place = kind >= 16, .root = root},
                 count / (1 + kind % 3));
        break;
      case 10:
        kind < 12 ? one_prefix(group, kind % kinds_of_prefixes, count / 2, at)
                  : one_ordered_prefix(group, kind % kinds_of_prefixes, count / 20, at);
        break;
    }
  }
  all.pop_back();
  for (Group& group : all) group.free();
}

}  // namespace checked
