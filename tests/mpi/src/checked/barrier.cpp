// No rank may leave a barrier before the last has arrived. CLOCK_MONOTONIC is one clock for a node, so
// arrival and leave stamps of all ranks compare directly; the stamps travel point to point.
#include "checks.hpp"
#include "harness.hpp"
#include "values.hpp"

#include <string>
#include <vector>

namespace checked {
namespace {

constexpr int tag = 4712;

void compare_stamps(const Group& group, double arrived, double left) {
  double mine[2] = {arrived, left};
  if (group.rank != 0) {
    MPI_Send(mine, 2, MPI_DOUBLE, 0, tag, group.comm);
    return;
  }
  double last_arrival = arrived, first_leave = left;
  int last = 0, first = 0;
  for (int rank = 1; rank < group.size; ++rank) {
    double theirs[2];
    MPI_Recv(theirs, 2, MPI_DOUBLE, rank, tag, group.comm, MPI_STATUS_IGNORE);
    if (theirs[0] > last_arrival) last_arrival = theirs[0], last = rank;
    if (theirs[1] < first_leave) first_leave = theirs[1], first = rank;
  }
  if (first_leave >= last_arrival) return pass();
  fail(first, "rank " + std::to_string(first) + " leaves after rank " + std::to_string(last) + " arrived",
       std::to_string((last_arrival - first_leave) * 1e6) + " us before");
}

}  // namespace

void one_barrier(const Group& group, double late_by) {
  begin({"barrier", &group});
  if (late_by > 0) sleep_for(late_by);
  double arrived = now();
  MPI_Barrier(group.comm);
  double left = now();
  compare_stamps(group, arrived, left);
}

void check_barrier(const Group& world) {
  for (int late = 0; late < world.size; ++late)
    for (int round = 0; round < 3; ++round) one_barrier(world, world.rank == late ? 2e-3 : 0);
  for (int round = 0; round < 20; ++round)
    one_barrier(world, word(static_cast<std::uint64_t>(round), world.rank, 0) % 1000 * 1e-6);
  // Many in a row, without the stamps' messages between them: a flag reused too early shows here.
  begin({"barrier (200 in a row)", &world});
  double arrived[200], left[200];
  for (int i = 0; i < 200; ++i) {
    arrived[i] = now();
    MPI_Barrier(world.comm);
    left[i] = now();
  }
  for (int i = 0; i < 200; ++i) compare_stamps(world, arrived[i], left[i]);
}

}  // namespace checked
