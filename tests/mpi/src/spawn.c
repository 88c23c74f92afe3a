/* Spawned children and intercommunicators: collectives across the two groups belong to the host, those inside
   each group may be taken. Start with one or two ranks; each job spawns two more. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(long got, long right, const char* what) {
  if (got == right) return;
  fprintf(stderr, "FAILED %s: expected %ld, got %ld\n", what, right, got);
  ++failures;
}

/* Both sides come here. Values differ by side, so that a mix-up shows. */
static void across(MPI_Comm inter, int parent_side) {
  int rank, local, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &local);
  MPI_Comm_remote_size(inter, &remote);
  long mine = parent_side ? 100 : 1, theirs = parent_side ? 1 : 100, sum = -1;
  MPI_Barrier(inter);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, inter);
  expect(sum, theirs * remote, "allreduce over an intercommunicator gives the other group's sum");
  long told = parent_side ? 4711 : -1;
  MPI_Bcast(&told, 1, MPI_LONG, parent_side ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  if (!parent_side || rank == 0) expect(told, 4711, "bcast over an intercommunicator");
  sum = -1;
  MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, parent_side ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0,
             inter);
  if (parent_side && rank == 0) expect(sum, remote, "reduce over an intercommunicator");
}

static void together(MPI_Comm inter, int parent_side) {
  MPI_Comm all;
  int size;
  MPI_Intercomm_merge(inter, !parent_side, &all);
  MPI_Comm_size(all, &size);
  long mine = parent_side ? 100 : 1, sum = -1;
  int local;
  MPI_Comm_size(inter, &local);
  for (int i = 0; i < 5; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, all);
    expect(sum, parent_side ? 100 * local + (size - local) : local + 100 * (size - local),
           "allreduce of both groups merged");
    MPI_Barrier(all);
  }
  MPI_Comm_free(&all);
}

static void inside(void) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long mine = rank + 1, sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  expect(sum, (long)size * (size + 1) / 2, "allreduce inside a group");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm inter;
  MPI_Comm_get_parent(&inter);
  int parent_side = inter == MPI_COMM_NULL;
  inside();
  if (parent_side)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  across(inter, parent_side);
  together(inter, parent_side);
  inside();
  MPI_Comm_disconnect(&inter);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("spawn, %s: %d failed\n", parent_side ? "parents" : "children", failures);
  MPI_Finalize();
  return failures ? 1 : 0;
}
