#include "checks.hpp"
#include "harness.hpp"
#include "values.hpp"

#include <vector>

namespace checked {
namespace {

// Counts of 4-byte elements just below, at, and just above each power of two from 8 B to 1 MiB, and odd ones
// between.
std::vector<long> counts_around_borders() {
  std::vector<long> counts = {0, 1, 3, 5, 6, 7, 10, 11, 12, 13, 14, 15};
  for (long bytes = 8; bytes <= 1 << 20; bytes *= 2)
    for (long more : {-1, 0, 1}) counts.push_back(bytes / 4 + more);
  for (long bytes : {48L, 96L, 112L, 1500L, 12000L, 24576L, 49152L, 100004L, 196608L, 393216L, 700000L})
    counts.push_back(bytes / 4);
  return counts;
}

}  // namespace

void check_sizes(const Group& world) {
  std::uint64_t seed = 1000;
  for (long count : counts_around_borders()) {
    int root = static_cast<int>(++seed % static_cast<unsigned>(world.size));
    int rounds = count < (world.size > 8 ? 1000 : 20000) ? 3 : 1;
    for (int round = 0; round < rounds; ++round) {
      one_bcast(world, root, count, ++seed);
      one_reduce(world, root, count, ++seed);
      one_allreduce(world, count, ++seed);
      if (count > 70000 && count % 2) continue;  // doubles: half of the big sizes will do
      one_reduce_double(world, root, count / 2, ++seed);
      one_allreduce_double(world, count / 2, ++seed);
    }
  }
}

void check_roots(const Group& world) {
  std::uint64_t seed = 2000;
  for (int round = 0; round < 3; ++round)
    for (int root = 0; root < world.size; ++root)
      for (long count : {1L, 12L, 31L, 200L, 5000L}) {
        one_bcast(world, root, count, ++seed);
        one_reduce(world, root, count, ++seed);
        one_reduce_double(world, (root + round) % world.size, count, ++seed);
      }
  for (int root = 0; root < world.size; ++root) {
    one_bcast(world, root, 40000, ++seed);
    one_reduce(world, root, 40000, ++seed);
  }
  // The same root many times without pause: slots must not be overwritten before the slowest has read.
  for (int i = 0; i < 50; ++i) one_bcast(world, 0, 2 + i % 3 * 900, ++seed);
  for (int i = 0; i < 50; ++i) one_reduce(world, world.size - 1, 2 + i % 3 * 900, ++seed);
}

void check_zero_counts(const Group& world) {
  for (int root = 0; root < world.size; ++root) {
    one_bcast(world, root, 0, 1);
    one_reduce(world, root, 0, 1);
    one_reduce(world, root, 0, 2);
  }
  one_allreduce(world, 0, 1);
  begin({"zero counts with null buffers", &world});
  MPI_Bcast(nullptr, 0, MPI_INT, 0, world.comm);
  MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world.comm);
  MPI_Reduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, 0, world.comm);
  begin({"bcast of a type of no bytes", &world, 0, 5, "contiguous(0)"});
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  int cell = 77;
  MPI_Bcast(&cell, 5, empty, 0, world.comm);
  int expected = 77;
  compare(&expected, &cell, 1);
  MPI_Type_free(&empty);
  one_bcast(world, 0, 1, 3);
}

void check_in_place(const Group& world) {
  std::uint64_t seed = 3000;
  for (long count : {1L, 2L, 13L, 500L, 4097L, 33000L}) {
    std::vector<std::uint32_t> sum(static_cast<std::size_t>(count)), own(sum.size());
    ++seed;
    for (long i = 0; i < count; ++i) {
      own[static_cast<std::size_t>(i)] = word(seed, world.rank, i);
      for (int rank = 0; rank < world.size; ++rank) sum[static_cast<std::size_t>(i)] += word(seed, rank, i);
    }
    begin({"allreduce in place", &world, -1, count, "MPI_UINT32_T", "MPI_SUM"});
    std::vector<std::uint32_t> buffer = own;
    MPI_Allreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(count), MPI_UINT32_T, MPI_SUM, world.comm);
    compare(sum, buffer);
    for (int root = 0; root < world.size; root += count > 5000 ? 3 : 1) {
      begin({"reduce in place", &world, root, count, "MPI_UINT32_T", "MPI_SUM"});
      buffer = own;
      bool here = world.rank == root;
      MPI_Reduce(here ? MPI_IN_PLACE : buffer.data(), here ? buffer.data() : nullptr, static_cast<int>(count),
                 MPI_UINT32_T, MPI_SUM, root, world.comm);
      compare(here ? sum : own, buffer);
    }
  }
}

}  // namespace checked
