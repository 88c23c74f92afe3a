/* A wrong program of requests: after some right calls some ranks call something else than the others. The arguments say
 * what (a row of the table below), and who: "rank", rank 1, or "node", the upper half of the ranks. With "live" errors
 * are returned: then each rank says what came of it, and of the next calls on the communicator, and a new communicator
 * has to work. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 12 };
static int given[16 * MOST], got[16 * MOST], counts[64], places[64], rank, size;

static void add(void* from, void* into, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)into)[i] += ((int*)from)[i];
}

static int completed(int code, MPI_Request* request) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* What ranks call: each begins a request on `comm`. */
#define CALL(name, ...) \
  static int name(MPI_Comm comm, MPI_Request* to) { return __VA_ARGS__; }
CALL(allreduce, MPI_Iallreduce(given, got, 4, MPI_INT, MPI_SUM, comm, to))
CALL(longer_allreduce, MPI_Iallreduce(given, got, 5, MPI_INT, MPI_SUM, comm, to))
CALL(long_allreduce, MPI_Iallreduce(given, got, MOST, MPI_INT, MPI_SUM, comm, to))
CALL(max_allreduce, MPI_Iallreduce(given, got, 4, MPI_INT, MPI_MAX, comm, to))
CALL(bcast, MPI_Ibcast(got, 4, MPI_INT, 0, comm, to))
CALL(bcast_of_last, MPI_Ibcast(got, 4, MPI_INT, size - 1, comm, to))
CALL(bcast_of_all, MPI_Ibcast(got, 4, MPI_INT, rank, comm, to))
CALL(bcast_of_none, MPI_Ibcast(got, 4, MPI_INT, rank == 0 ? size - 1 : 0, comm, to))
CALL(short_bcast, MPI_Ibcast(got, 2, MPI_INT, 0, comm, to))
CALL(reduce, MPI_Ireduce(given, got, 4, MPI_INT, MPI_SUM, 0, comm, to))
CALL(reduce_to_last, MPI_Ireduce(given, got, 4, MPI_INT, MPI_SUM, size - 1, comm, to))
CALL(barrier, MPI_Ibarrier(comm, to))
CALL(gather, MPI_Igather(given, 4, MPI_INT, got, 4, MPI_INT, 0, comm, to))
CALL(scatter, MPI_Iscatter(given, 4, MPI_INT, got, 4, MPI_INT, 0, comm, to))
CALL(longer_scatter, MPI_Iscatter(given, 5, MPI_INT, got, 5, MPI_INT, 0, comm, to))
CALL(alltoall, MPI_Ialltoall(given, 4, MPI_INT, got, 4, MPI_INT, comm, to))
CALL(alltoallv, MPI_Ialltoallv(given, counts, places, MPI_INT, got, counts, places, MPI_INT, comm, to))
CALL(scan, MPI_Iscan(given, got, 4, MPI_INT, MPI_SUM, comm, to))
CALL(exscan, MPI_Iexscan(given, got, 4, MPI_INT, MPI_SUM, comm, to))
CALL(block_ints, MPI_Ireduce_scatter_block(given, got, 4, MPI_INT, MPI_SUM, comm, to))
CALL(block_doubles, MPI_Ireduce_scatter_block(given, got, 2, MPI_DOUBLE, MPI_SUM, comm, to))
CALL(init_allreduce, MPI_Allreduce_init(given, got, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, to))
CALL(init_longer, MPI_Allreduce_init(given, got, 5, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, to))
CALL(init_max, MPI_Allreduce_init(given, got, 4, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, to))
CALL(init_bcast, MPI_Bcast_init(got, 4, MPI_INT, 0, comm, MPI_INFO_NULL, to))
CALL(init_bcast_of_last, MPI_Bcast_init(got, 4, MPI_INT, size - 1, comm, MPI_INFO_NULL, to))
CALL(init_block_ints, MPI_Reduce_scatter_block_init(given, got, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, to))
CALL(init_block_doubles,
     MPI_Reduce_scatter_block_init(given, got, 2, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, to))
static int own_reduce(MPI_Comm comm, MPI_Request* to) {
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  const int code = MPI_Ireduce(given, got, 4, MPI_INT, own, 0, comm, to);
  MPI_Op_free(&own);
  return code;
}
/* Blocking, before the nonblocking call that the others wait for. */
static int blocking_barrier(MPI_Comm comm, MPI_Request* to) {
  const int code = MPI_Barrier(comm);
  return code != MPI_SUCCESS ? code : allreduce(comm, to);
}
static int no_call(MPI_Comm comm, MPI_Request* to) {
  (void)comm;
  *to = MPI_REQUEST_NULL; /* and then the blocking barrier that the others call behind it */
  return MPI_SUCCESS;
}
static int ends(MPI_Comm comm, MPI_Request* to) {
  (void)comm, (void)to;
  _exit(0);
}

typedef int Call(MPI_Comm, MPI_Request*);
static const struct {
  const char* name;
  Call *right, *wrong;
} mistakes[] = {
    {"none", allreduce, allreduce},
    {"other collective", allreduce, bcast},
    {"other long collective", long_allreduce, alltoall},
    {"other length", allreduce, longer_allreduce},
    {"other length of bcast", bcast, short_bcast},
    {"other root", reduce, reduce_to_last},
    {"other root of bcast", bcast, bcast_of_last},
    {"all are roots", bcast_of_all, bcast_of_all},
    {"none is the root", bcast_of_none, bcast_of_none},
    {"other operator", allreduce, max_allreduce},
    {"other elements", block_ints, block_doubles},
    {"own operator", reduce, own_reduce},
    {"barrier", gather, barrier},
    {"gather for barrier", barrier, gather},
    {"blocks by letters", alltoall, alltoallv},
    {"prefixes", scan, exscan},
    {"other length of scatter", scatter, longer_scatter},
    {"prepared instead", allreduce, init_allreduce},
    {"blocking first", allreduce, blocking_barrier},
    {"no call", allreduce, no_call},
    {"no barrier", barrier, no_call},
    {"ends", allreduce, ends},
    {"ends before blocks", alltoall, ends},
    {"ends before a prepared one", init_allreduce, ends},
    {"prepared: other collective", init_allreduce, init_bcast},
    {"prepared: other length", init_allreduce, init_longer},
    {"prepared: other root", init_bcast, init_bcast_of_last},
    {"prepared: other operator", init_allreduce, init_max},
    {"prepared: other elements", init_block_ints, init_block_doubles},
    {"prepared: nonblocking instead", init_allreduce, allreduce},
    {"prepared: no call", init_allreduce, no_call},
};

static int is_prepared(Call* call) {
  return call == init_allreduce || call == init_longer || call == init_max || call == init_bcast ||
         call == init_bcast_of_last || call == init_block_ints || call == init_block_doubles;
}

static int right_calls(MPI_Comm comm) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i) {
    MPI_Request some[2];
    int sum = 0, one = 1;
    code = MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &some[0]);
    if (code != MPI_SUCCESS) break;
    code = completed(MPI_Ibcast(got, 100, MPI_INT, i % size, comm, &some[1]), &some[1]);
    const int first = MPI_Wait(&some[0], MPI_STATUS_IGNORE);
    if (first != MPI_SUCCESS) code = first;
    if (code == MPI_SUCCESS && sum != size) fprintf(stderr, "mistaken: a right call gave %d\n", sum), exit(1);
    if (code == MPI_SUCCESS) code = MPI_Barrier(comm);
  }
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 64; ++i) counts[i] = 1, places[i] = 4 * i;
  const char* mistake = argc > 1 ? argv[1] : "none";
  const int is_odd = argc > 2 && !strcmp(argv[2], "node") ? rank >= size / 2 : rank == 1;
  Call* call = NULL;
  for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; ++i)
    if (!strcmp(mistake, mistakes[i].name)) call = is_odd ? mistakes[i].wrong : mistakes[i].right;
  if (!call) return fprintf(stderr, "mistaken: no mistake is called \"%s\"\n", mistake), 2;
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (argc > 3) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (right_calls(MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = call(MPI_COMM_WORLD, &request);
  if (code == MPI_SUCCESS && is_prepared(call)) code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  int blocking = MPI_SUCCESS;
  if (call == no_call) blocking = MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request next;
  const int again = completed(MPI_Iallreduce(given, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &next), &next);
  if (!strncmp(mistake, "ends", 4)) { /* a new communicator would have that rank, too */
    printf("rank %d: %s, then %s\n", rank, code ? "error" : "no error", again ? "error" : "no error");
    fflush(stdout);
    _exit(0);
  }
  const int later = right_calls(fresh);
  printf("rank %d: %s, then %s, new communicator %s\n", rank, code || blocking ? "error" : "no error",
         again ? "error" : "no error", later ? "fails" : "works");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
