/* Requests that are left at MPI_Finalize: persistent ones that were never started, that are complete, and that are
   under way, and nonblocking collectives that only some ranks complete. No rank needs another one that has started. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { few = 4, many = 5000 };
static int rank, size, failed;

static void expect(int good, const char* what) {
  if (good) return;
  ++failed;
  fprintf(stderr, "FAILED %s on rank %d\n", what, rank);
}

static int *given, *got, *counts, *places;
static MPI_Datatype* types;

static void leave_persistent(int n, MPI_Comm comm) {
  MPI_Request never, complete, under_way;
  MPI_Bcast_init(got, n, MPI_INT, 0, comm, MPI_INFO_NULL, &never);
  MPI_Allreduce_init(given, got, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &complete);
  MPI_Start(&complete);
  MPI_Wait(&complete, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) expect(got[i] == size * (size - 1) / 2 + size * i, "a sum");
  MPI_Alltoallw_init(given, counts, places, types, got, counts, places, types, comm, MPI_INFO_NULL,
                     &under_way);
  MPI_Start(&under_way);
}

static void leave_nonblocking(int n, MPI_Comm comm) {
  MPI_Request request;
  for (int i = 0; i < n; ++i) got[i] = rank == 0 ? i : -1;
  MPI_Ibcast(got, n, MPI_INT, 0, comm, &request);
  if (rank == 0) return;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) expect(got[i] == i, "what the root gives");
}

int main(int argc, char** argv) {
  int all = 0;
  MPI_Comm comm, freed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  given = malloc(many * (size_t)size * sizeof *given);
  got = malloc(many * (size_t)size * sizeof *got);
  counts = malloc(2 * (size_t)size * sizeof *counts);
  places = counts + size;
  types = malloc((size_t)size * sizeof *types);
  for (int i = 0; i < many * size; ++i) given[i] = rank + i;
  for (int r = 0; r < size; ++r) {
    counts[r] = few;
    places[r] = r * few * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  leave_persistent(few, MPI_COMM_WORLD);
  leave_persistent(many, comm);
  leave_persistent(few, freed);
  leave_nonblocking(few, comm);
  leave_nonblocking(many, MPI_COMM_WORLD);
  leave_nonblocking(few, freed);
  MPI_Comm_free(&freed);
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("left_at_finalize: %d failed\n", all);
  MPI_Finalize();
  return all != 0;
}
