/* A wrong program: lengths CALL SENT EXPECTED [gaps|own]. One block of one rank is SENT bytes long where the rank that gets
 * it expects EXPECTED. CALL may begin with "i", nonblocking, or "persistent_". With gaps the receiver's bytes lie two
 * apart; own: the rank gets it from itself. Each rank says what came of it, and of a barrier after it; then a new
 * communicator has to work. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST = 64, USUAL = 8, GUARD = 4096 };
static int rank, size;
static int out_counts[MOST], in_counts[MOST], out_places[MOST], in_places[MOST], in_byte_places[MOST];
static MPI_Aint out_far_places[MOST], in_far_places[MOST];
static MPI_Datatype out_types[MOST], in_types[MOST], in_type = MPI_BYTE;
static char *out, *in;

enum way { BLOCKING, NONBLOCKING, PERSISTENT };

static int finish(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int start_and_finish(int code, MPI_Request* request) {
  if (code == MPI_SUCCESS) code = MPI_Start(request);
  code = finish(code, request);
  if (code == MPI_SUCCESS) MPI_Request_free(request);
  return code;
}

#if MPI_VERSION >= 4
#define PREPARE(NAME, ...) \
  start_and_finish(MPI_##NAME##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request), &request)
#else
#define PREPARE(NAME, ...) MPI_ERR_UNKNOWN
#endif

#define IF_IT_IS(NAME, INAME, ...)                                                         \
  if (!strcasecmp(name, #NAME))                                                            \
  return way == BLOCKING      ? MPI_##NAME(__VA_ARGS__, comm)                              \
         : way == NONBLOCKING ? finish(MPI_##INAME(__VA_ARGS__, comm, &request), &request) \
                              : PREPARE(NAME, __VA_ARGS__)

static int call(const char* name, enum way way, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  IF_IT_IS(Gatherv, Igatherv, out, *out_counts, MPI_BYTE, in, in_counts, in_places, in_type, 0);
  IF_IT_IS(Scatterv, Iscatterv, out, out_counts, out_places, MPI_BYTE, in, *in_counts, in_type, 0);
  IF_IT_IS(Gather, Igather, out, *out_counts, MPI_BYTE, in, *in_counts, in_type, 0);
  IF_IT_IS(Scatter, Iscatter, out, *out_counts, MPI_BYTE, in, *in_counts, in_type, 0);
  IF_IT_IS(Alltoall, Ialltoall, out, *out_counts, MPI_BYTE, in, *in_counts, in_type);
  IF_IT_IS(Allgather, Iallgather, out, *out_counts, MPI_BYTE, in, *in_counts, in_type);
  IF_IT_IS(Allgatherv, Iallgatherv, out, *out_counts, MPI_BYTE, in, in_counts, in_places, in_type);
  IF_IT_IS(Alltoallv, Ialltoallv, out, out_counts, out_places, MPI_BYTE, in, in_counts, in_places, in_type);
  IF_IT_IS(Alltoallw, Ialltoallw, out, out_counts, out_places, out_types, in, in_counts, in_byte_places,
           in_types);
  IF_IT_IS(Neighbor_allgatherv, Ineighbor_allgatherv, out, *out_counts, MPI_BYTE, in, in_counts, in_places,
           in_type);
  IF_IT_IS(Neighbor_alltoallv, Ineighbor_alltoallv, out, out_counts, out_places, MPI_BYTE, in, in_counts,
           in_places, in_type);
  IF_IT_IS(Neighbor_alltoallw, Ineighbor_alltoallw, out, out_counts, out_far_places, out_types, in, in_counts,
           in_far_places, in_types);
  fprintf(stderr, "lengths: no %s\n", name);
  exit(2);
}

static int begins_with(const char** name, const char* prefix) {
  const size_t length = strlen(prefix);
  if (strncmp(*name, prefix, length)) return 0;
  *name += length;
  return 1;
}

static enum way take_way(const char** name) {
  return begins_with(name, "persistent_") ? PERSISTENT : begins_with(name, "i") ? NONBLOCKING : BLOCKING;
}

/* Data goes to the next rank and comes from the one before; of two edges the second leads to the rank itself. */
static MPI_Comm make_ring(int edges) {
  const int from[2] = {(rank + size - 1) % size, rank}, to[2] = {(rank + 1) % size, rank};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, from, MPI_UNWEIGHTED, edges, to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

static int has_equal_blocks(const char* name) {
  return !strcmp(name, "allgather") || !strcmp(name, "alltoall") || !strcmp(name, "gather") ||
         !strcmp(name, "scatter");
}

static int works(MPI_Comm comm) {
  for (int i = 0; i < 20; ++i) {
    int one = 1, sum = 0;
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS || sum != size) return 0;
  }
  return 1;
}

static const char* kind_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return code == MPI_SUCCESS ? "no error" : error_class == MPI_ERR_TRUNCATE ? "truncated" : "error";
}

/* A byte, and one that is not touched. */
static MPI_Datatype every_second_byte(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &type);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return fprintf(stderr, "lengths CALL SENT EXPECTED [gaps|own]\n"), 2;
  const char* name = argv[1];
  const enum way way = take_way(&name);
  const size_t stride = argc == 5 && !strcmp(argv[4], "gaps") ? 2 : 1;
  const int own = argc == 5 && !strcmp(argv[4], "own");
  const int sent = atoi(argv[2]), expected = atoi(argv[3]);
  MPI_Comm fresh;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

  if (stride == 2) in_type = every_second_byte();
  const size_t cell = (size_t)(sent > expected ? sent : expected) + USUAL + GUARD, all = cell * (size_t)size;
  out = malloc(all), in = malloc(stride * all);
  memset(out, 'a' + rank, all), memset(in, '.', stride * all);
  for (int i = 0; i < size; ++i) {
    out_counts[i] = in_counts[i] = USUAL, out_types[i] = MPI_BYTE, in_types[i] = in_type;
    out_places[i] = in_places[i] = i * (int)cell, in_byte_places[i] = in_places[i] * (int)stride;
    out_far_places[i] = out_places[i], in_far_places[i] = in_byte_places[i];
  }

  /* The block of rank `from` for rank `to` lies at `place` there. */
  const int scatters = !strncmp(name, "scatter", 7),
            to_all = !strcmp(name, "alltoallv") || !strcmp(name, "alltoallw"),
            rings = !strncmp(name, "neighbor", 8), gathers_all = !strncmp(name, "allgather", 9);
  const int from = scatters || (own && !strncmp(name, "gather", 6)) ? 0 : 1;
  const int to = own ? from : scatters ? 1 : rings ? (from + 1) % size : 0;
  const int place = scatters ? 0 : rings ? own : from;
  if (rank == from) out_counts[scatters || to_all ? to : rings ? own : 0] = sent;
  if (rank == to || gathers_all) in_counts[place] = expected;
  if (has_equal_blocks(name)) { /* all of one length, but for the own one of one rank */
    const int usual = strcmp(name, "scatter") ? expected : sent;
    *out_counts = rank == from ? sent : usual, *in_counts = rank == from ? expected : usual;
  }
  const MPI_Comm comm = rings ? make_ring(1 + own) : MPI_COMM_WORLD;

  if (way != BLOCKING) MPI_Barrier(comm); /* ranks of several nodes meet in it */
  const int code = call(name, way, comm);
  const size_t least = (size_t)(sent < expected ? sent : expected);
  int right = 0, spoilt = 0;
  for (size_t i = 0; i < stride * cell; ++i) {
    const char byte = in[(size_t)place * stride * cell + i];
    if (i < stride * least && i % stride == 0)
      right += byte == 'a' + from;
    else
      spoilt += byte != '.';
  }
  const int again = MPI_Barrier(comm);
  printf("rank %d: %s, then %s, new communicator %s", rank, kind_of(code), again ? "error" : "no error",
         works(fresh) ? "works" : "fails");
  if (rank == to) printf("; %d bytes, %d spoilt", right, spoilt);
  printf("\n");
  fflush(stdout);
  MPI_Comm_free(&fresh);
  MPI_Finalize();
  free(out), free(in);
  return 0;
}
