/* Wrong programs: lengths CALL:SENT:EXPECTED[:own]... Of each case one block of one rank is SENT bytes long where the rank that
 * gets it expects EXPECTED. CALL may begin with "i", nonblocking, or "persistent_"; own: the rank gets it from itself. A case
 * has a communicator of its own, as many leave theirs out of step. Each rank says what came of it, and of a barrier after
 * it; then a communicator that was made before has to work. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST = 64, USUAL = 8, GUARD = 4096 };
static int rank, size;
static int out_counts[MOST], in_counts[MOST], places[MOST];
static MPI_Aint far_places[MOST];
static MPI_Datatype types[MOST];
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
  IF_IT_IS(Gatherv, Igatherv, out, *out_counts, MPI_BYTE, in, in_counts, places, MPI_BYTE, 0);
  IF_IT_IS(Scatterv, Iscatterv, out, out_counts, places, MPI_BYTE, in, *in_counts, MPI_BYTE, 0);
  IF_IT_IS(Gather, Igather, out, *out_counts, MPI_BYTE, in, *in_counts, MPI_BYTE, 0);
  IF_IT_IS(Scatter, Iscatter, out, *out_counts, MPI_BYTE, in, *in_counts, MPI_BYTE, 0);
  IF_IT_IS(Alltoall, Ialltoall, out, *out_counts, MPI_BYTE, in, *in_counts, MPI_BYTE);
  IF_IT_IS(Allgather, Iallgather, out, *out_counts, MPI_BYTE, in, *in_counts, MPI_BYTE);
  IF_IT_IS(Allgatherv, Iallgatherv, out, *out_counts, MPI_BYTE, in, in_counts, places, MPI_BYTE);
  IF_IT_IS(Alltoallv, Ialltoallv, out, out_counts, places, MPI_BYTE, in, in_counts, places, MPI_BYTE);
  IF_IT_IS(Alltoallw, Ialltoallw, out, out_counts, places, types, in, in_counts, places, types);
  IF_IT_IS(Neighbor_allgatherv, Ineighbor_allgatherv, out, *out_counts, MPI_BYTE, in, in_counts, places,
           MPI_BYTE);
  IF_IT_IS(Neighbor_alltoallv, Ineighbor_alltoallv, out, out_counts, places, MPI_BYTE, in, in_counts, places,
           MPI_BYTE);
  IF_IT_IS(Neighbor_alltoallw, Ineighbor_alltoallw, out, out_counts, far_places, types, in, in_counts,
           far_places, types);
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

struct mistake {
  const char* written; /* as the command line has it */
  char name[64];
  enum way way;
  int sent, expected, own;
  int from, to; /* whose block it is, and for which rank */
  int place;    /* of it there */
  size_t cell;  /* how far apart blocks lie */
};

static int is_one_of_neighbors(const char* name) { return !strncmp(name, "neighbor", 8); }

static struct mistake parse(const char* written) {
  struct mistake mistake = {.written = written};
  char call[64], own[8] = "";
  if (sscanf(written, "%63[^:]:%d:%d:%7s", call, &mistake.sent, &mistake.expected, own) < 3 ||
      (*own && strcmp(own, "own"))) {
    fprintf(stderr, "lengths CALL:SENT:EXPECTED[:own]..., not %s\n", written);
    exit(2);
  }
  const char* name = call;
  mistake.way = take_way(&name);
  strcpy(mistake.name, name);
  mistake.own = *own != 0;

  const int scatters = !strncmp(name, "scatter", 7), rings = is_one_of_neighbors(name);
  mistake.from = scatters || (mistake.own && !strncmp(name, "gather", 6)) ? 0 : 1;
  mistake.to = mistake.own ? mistake.from : scatters ? 1 : rings ? (mistake.from + 1) % size : 0;
  mistake.place = scatters ? 0 : rings ? mistake.own : mistake.from;
  mistake.cell = (size_t)(mistake.sent > mistake.expected ? mistake.sent : mistake.expected) + USUAL + GUARD;
  return mistake;
}

static void fill_counts(const struct mistake* mistake) {
  const char* name = mistake->name;
  for (int i = 0; i < size; ++i) {
    out_counts[i] = in_counts[i] = USUAL, types[i] = MPI_BYTE;
    places[i] = i * (int)mistake->cell, far_places[i] = places[i];
  }
  const int to_each =
      !strncmp(name, "scatter", 7) || !strcmp(name, "alltoallv") || !strcmp(name, "alltoallw");
  const int edge = is_one_of_neighbors(name) ? mistake->own : 0;
  if (rank == mistake->from) out_counts[to_each ? mistake->to : edge] = mistake->sent;
  if (rank == mistake->to || !strncmp(name, "allgather", 9)) in_counts[mistake->place] = mistake->expected;
  if (has_equal_blocks(name)) { /* all of one length, but for the own one of one rank */
    const int usual = strcmp(name, "scatter") ? mistake->expected : mistake->sent;
    *out_counts = rank == mistake->from ? mistake->sent : usual;
    *in_counts = rank == mistake->from ? mistake->expected : usual;
  }
}

/* ", N bytes, N spoilt": of the block that differs, and of what lies around it and beyond what was sent. */
static void count_bytes(const struct mistake* mistake, char* text, size_t room) {
  const size_t least = (size_t)(mistake->sent < mistake->expected ? mistake->sent : mistake->expected);
  const char* block = in + (size_t)mistake->place * mistake->cell;
  int right = 0, spoilt = 0;
  for (size_t i = 0; i < mistake->cell; ++i)
    if (i < least)
      right += block[i] == 'a' + mistake->from;
    else
      spoilt += block[i] != '.';
  if (rank == mistake->to) snprintf(text, room, "; %d bytes, %d spoilt", right, spoilt);
}

static void make(const struct mistake* mistake) {
  const size_t all = mistake->cell * (size_t)size;
  MPI_Comm comm, fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (is_one_of_neighbors(mistake->name))
    comm = make_ring(1 + mistake->own);
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  out = malloc(all), in = malloc(all);
  memset(out, 'a' + rank, all), memset(in, '.', all);
  fill_counts(mistake);

  if (mistake->way != BLOCKING) MPI_Barrier(comm); /* ranks of several nodes meet in it */
  const int code = call(mistake->name, mistake->way, comm);
  char bytes[64] = "";
  count_bytes(mistake, bytes, sizeof bytes);
  const int again = MPI_Barrier(comm);
  const int new_works = works(fresh);
  char line[256];
  snprintf(line, sizeof line, "%s: rank %d: %s, then %s, new communicator %s%s\n", mistake->written, rank,
           kind_of(code), again ? "error" : "no error", new_works ? "works" : "fails", bytes);
  fputs(line, stdout);
  fflush(stdout);
  MPI_Comm_free(&comm), MPI_Comm_free(&fresh);
  free(out), free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; ++i) {
    const struct mistake mistake = parse(argv[i]);
    make(&mistake);
  }
  MPI_Finalize();
  return 0;
}
