/* A wrong program: after some right calls rank 1 does something else than the others; the first argument says
 * what. With "live" as the second argument errors are returned: then each rank says what came of it, the next
 * call on the communicator has to be an error as well, and a new communicator has to work. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 16 };
static int given[16 * MOST], got[16 * MOST], counts[64], places[64];

static int is(const char* mistake, const char* name) { return !strcmp(mistake, name); }

static void add(void* from, void* into, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)into)[i] += ((int*)from)[i];
}

static int right_calls(MPI_Comm comm) {
  int sum = 0, one = 1, size, code = MPI_SUCCESS;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i) {
    code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (code == MPI_SUCCESS && sum != size) fprintf(stderr, "mistakes: a right call gave %d\n", sum), exit(1);
    if (code == MPI_SUCCESS) code = MPI_Bcast(got, 100, MPI_INT, i % size, comm);
  }
  return code;
}

/* Before the ranks have met in a call. */
static int is_first_of_all(const char* mistake) { return strncmp(mistake, "first of all", 12) == 0; }

/* `odd`: the rank that is mistaken. */
static int wrong_call(const char* mistake, int odd, MPI_Comm comm) {
  if (is(mistake, "other collective"))
    return odd ? MPI_Bcast(got, 4, MPI_INT, 0, comm) : MPI_Allreduce(given, got, 4, MPI_INT, MPI_SUM, comm);
  if (is(mistake, "other long collective"))
    return odd ? MPI_Alltoall(given, 4, MPI_INT, got, 4, MPI_INT, comm)
               : MPI_Allreduce(given, got, MOST, MPI_INT, MPI_SUM, comm);
  if (is(mistake, "other length")) return MPI_Allreduce(given, got, 4 + odd, MPI_INT, MPI_SUM, comm);
  if (is(mistake, "other long length")) return MPI_Bcast(got, odd ? 10 : MOST, MPI_INT, 0, comm);
  if (is(mistake, "other root")) return MPI_Reduce(given, got, 4, MPI_INT, MPI_SUM, odd, comm);
  if (is(mistake, "other operator"))
    return MPI_Allreduce(given, got, 4, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm);
  if (is(mistake, "other elements"))
    return odd ? MPI_Reduce_scatter_block(given, got, 2, MPI_DOUBLE, MPI_SUM, comm)
               : MPI_Reduce_scatter_block(given, got, 4, MPI_INT, MPI_SUM, comm);
  if (is(mistake, "own operator")) {
    MPI_Op own;
    MPI_Op_create(add, 1, &own);
    const int code = MPI_Reduce(given, got, 4, MPI_INT, odd ? own : MPI_SUM, 0, comm);
    MPI_Op_free(&own);
    return code;
  }
  if (is(mistake, "nonblocking operator")) {
    MPI_Request request;
    const int code = MPI_Iallreduce(given, got, 4, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (is(mistake, "nonblocking first") || is_first_of_all(mistake)) {
    MPI_Request request;
    if (is_first_of_all(mistake) && odd == is(mistake, "first of all, and later")) usleep(300000);
    const int before = odd ? MPI_SUCCESS : MPI_Allreduce(given, got, 4, MPI_INT, MPI_SUM, comm);
    MPI_Ialltoall(given, 4, MPI_INT, got, 4, MPI_INT, comm, &request);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int after = odd ? MPI_Allreduce(given, got, 4, MPI_INT, MPI_SUM, comm) : MPI_SUCCESS;
    return before != MPI_SUCCESS ? before : code != MPI_SUCCESS ? code : after;
  }
  if (is(mistake, "own block of gather")) /* of the root, which sends itself less than it receives */
    return MPI_Gather(given, odd ? 2 : 4, MPI_INT, got, 4, MPI_INT, 1, comm);
  if (is(mistake, "own block of scatter"))
    return MPI_Scatter(given, 4, MPI_INT, got, odd ? 2 : 4, MPI_INT, 1, comm);
  if (is(mistake, "own block of allgather"))
    return MPI_Allgather(given, odd ? 2 : 4, MPI_INT, got, 4, MPI_INT, comm);
  if (is(mistake, "own block of alltoall"))
    return MPI_Alltoall(given, odd ? 2 : 4, MPI_INT, got, 4, MPI_INT, comm);
  if (is(mistake, "prepared operator")) {
    MPI_Request request;
    const int code =
        MPI_Reduce_init(given, got, 4, MPI_INT, odd ? MPI_MAX : MPI_SUM, 0, comm, MPI_INFO_NULL, &request);
    return code != MPI_SUCCESS ? code : MPI_Start(&request); /* a short one is compared in its first start */
  }
  if (is(mistake, "signs")) /* no mistake that matters */
    return MPI_Allreduce(given, got, 4, odd ? MPI_UNSIGNED : MPI_INT, MPI_SUM, comm);
  if (is(mistake, "barrier"))
    return odd ? MPI_Barrier(comm) : MPI_Gather(given, 4, MPI_INT, got, 4, MPI_INT, 0, comm);
  if (is(mistake, "alltoallv for alltoallw")) {
    static MPI_Datatype types[64];
    for (int i = 0; i < 64; ++i) types[i] = MPI_INT, counts[i] = 1, places[i] = 4 * i;
    return odd ? MPI_Alltoallv(given, counts, places, MPI_INT, got, counts, places, MPI_INT, comm)
               : MPI_Alltoallw(given, counts, places, types, got, counts, places, types, comm);
  }
  if (is(mistake, "killed") && odd) return raise(SIGKILL);
  if (is(mistake, "ends") && odd) _exit(0);
  if (is(mistake, "finalizes") && odd) return MPI_Finalize(), exit(0), 0;
  if (is(mistake, "two roots")) { /* no rank waits for another one in it: the next call has to find out */
    const int code = MPI_Bcast(got, 4, MPI_INT, odd, comm);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_Barrier(comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* mistake = argc > 1 ? argv[1] : "none";
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (argc > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!is_first_of_all(mistake) && right_calls(MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
  const int code = wrong_call(mistake, rank == 1, MPI_COMM_WORLD);
  const int again = MPI_Barrier(MPI_COMM_WORLD);
  const int later = right_calls(fresh);
  printf("rank %d: %s, then %s, new communicator %s\n", rank, code ? "error" : "no error",
         again ? "error" : "no error", later ? "fails" : "works");
  fflush(stdout);
  MPI_Comm_free(&fresh);
  MPI_Finalize();
  return 0;
}
