/* A rank's arguments of an init call are wrong: it gets the error, and no rank waits for ever. With the argument
   "told" the others hear of it at the latest when they start what they have prepared. "-strangers": the first
   collective of a communicator is a blocking one, as over nodes its ranks have to meet. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { few = 4, many = 30000 };
static int rank, size, failed;
static int *given, *got, *counts, *places;
static MPI_Datatype* types;

static void expect(int good, const char* call, const char* what) {
  if (good) return;
  ++failed;
  fprintf(stderr, "FAILED %s, %s, on rank %d\n", call, what, rank);
}

static int allreduce(int n, MPI_Comm comm, MPI_Request* request) {
  return MPI_Allreduce_init(given, got, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, request);
}
static int bcast(int n, MPI_Comm comm, MPI_Request* request) {
  return MPI_Bcast_init(got, n < 0 ? few : n, MPI_INT, n < 0 ? size : 0, comm, MPI_INFO_NULL, request);
}
static int alltoall(int n, MPI_Comm comm, MPI_Request* request) {
  return MPI_Alltoall_init(given, n, MPI_INT, got, n, MPI_INT, comm, MPI_INFO_NULL, request);
}
static void fill_counts(int n, int unit) {
  for (int r = 0; r < size; ++r) {
    counts[r] = n;
    places[r] = r * few * unit;
    types[r] = MPI_INT;
  }
}
static int alltoallv(int n, MPI_Comm comm, MPI_Request* request) {
  fill_counts(n, 1);
  return MPI_Alltoallv_init(given, counts, places, MPI_INT, got, counts, places, MPI_INT, comm, MPI_INFO_NULL,
                            request);
}
static int alltoallw(int n, MPI_Comm comm, MPI_Request* request) {
  fill_counts(n, (int)sizeof(int));
  return MPI_Alltoallw_init(given, counts, places, types, got, counts, places, types, comm, MPI_INFO_NULL,
                            request);
}

static const struct {
  const char* name;
  int (*init)(int n, MPI_Comm comm, MPI_Request* request); /* n < 0: wrong */
  int length;
  int is_told;    /* the others: at their start, if not before */
  int waits_none; /* the rank that is wrong waits for the others otherwise */
} calls[] = {{"allreduce", allreduce, few, 1, 1}, {"long allreduce", allreduce, many, 0, 1},
             {"bcast", bcast, few, 1, 1},         {"long bcast", bcast, many, 0, 1},
             {"alltoall", alltoall, few, 0, 1},   {"alltoallv", alltoallv, few, 0, 0},
             {"alltoallw", alltoallw, few, 0, 0}};

/* All is well afterwards. */
static void check_sum(MPI_Comm comm, const char* call) {
  MPI_Request request;
  for (int i = 0; i < few; ++i) given[i] = rank + i;
  expect(allreduce(few, comm, &request) == MPI_SUCCESS, call, "the next call is made");
  for (int turn = 0; turn < 2; ++turn) {
    memset(got, 0, few * sizeof *got);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < few; ++i)
      expect(got[i] == size * (size - 1) / 2 + size * i, call, "the sum of the next call");
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  const int told = argc > 1 && !strcmp(argv[1], "told");
  const int ranks_meet = argc > 1 && !strcmp(argv[1], "-strangers");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  given = calloc(many * (size_t)size, sizeof *given);
  got = calloc(many * (size_t)size, sizeof *got);
  counts = malloc(2 * (size_t)size * sizeof *counts);
  places = counts + size;
  types = malloc((size_t)size * sizeof *types);
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i)
    for (int wrong = 0; wrong < size; ++wrong) {
      const int comes_first = wrong % 2 && calls[i].waits_none;
      const char* const name = calls[i].name;
      MPI_Comm comm;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      if (ranks_meet) MPI_Barrier(comm);
      if (comes_first && rank != wrong)
        MPI_Recv(NULL, 0, MPI_INT, wrong, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const int code = calls[i].init(rank == wrong ? -1 : calls[i].length, comm, &request);
      if (comes_first && rank == wrong)
        for (int r = 0; r < size; ++r)
          if (r != rank) MPI_Send(NULL, 0, MPI_INT, r, 3, MPI_COMM_WORLD);
      if (rank == wrong) {
        expect(code != MPI_SUCCESS, name, "the rank gets an error");
      } else {
        expect(code == MPI_SUCCESS, name, "the others are made");
        if (told && calls[i].is_told) expect(MPI_Start(&request) != MPI_SUCCESS, name, "the others are told");
        MPI_Request_free(&request);
      }
      check_sum(comm, name);
      MPI_Comm_free(&comm);
    }
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent_bad_arguments: %d failed\n", all);
  MPI_Finalize();
  return all != 0;
}
