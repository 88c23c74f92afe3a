/* A wrong program: lengths CALL SENT EXPECTED. One block of one rank is SENT bytes long where the rank that gets it expects
 * EXPECTED. Each rank says what came of it, and of a barrier
 * after it; then a new communicator has to work. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, USUAL = 8, GUARD = 4096 };
static int rank, size;
static int out_counts[MOST], in_counts[MOST], places[MOST];
static MPI_Aint far_places[MOST];
static MPI_Datatype types[MOST];
static char *out, *in;

static int call(const char* name, MPI_Comm comm) {
  const MPI_Datatype byte = MPI_BYTE;
  if (!strcmp(name, "gatherv"))
    return MPI_Gatherv(out, *out_counts, byte, in, in_counts, places, byte, 0, comm);
  if (!strcmp(name, "scatterv"))
    return MPI_Scatterv(out, out_counts, places, byte, in, *in_counts, byte, 0, comm);
  if (!strcmp(name, "allgatherv"))
    return MPI_Allgatherv(out, *out_counts, byte, in, in_counts, places, byte, comm);
  if (!strcmp(name, "alltoallv"))
    return MPI_Alltoallv(out, out_counts, places, byte, in, in_counts, places, byte, comm);
  if (!strcmp(name, "alltoallw"))
    return MPI_Alltoallw(out, out_counts, places, types, in, in_counts, places, types, comm);
  if (!strcmp(name, "neighbor_allgatherv"))
    return MPI_Neighbor_allgatherv(out, *out_counts, byte, in, in_counts, places, byte, comm);
  if (!strcmp(name, "neighbor_alltoallv"))
    return MPI_Neighbor_alltoallv(out, out_counts, places, byte, in, in_counts, places, byte, comm);
  if (!strcmp(name, "neighbor_alltoallw"))
    return MPI_Neighbor_alltoallw(out, out_counts, far_places, types, in, in_counts, far_places, types, comm);
  fprintf(stderr, "lengths: no %s\n", name);
  exit(2);
}

/* Data goes to the next rank and comes from the one before. */
static MPI_Comm make_ring(void) {
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
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

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "lengths CALL SENT EXPECTED\n"), 2;
  const char* name = argv[1];
  const int sent = atoi(argv[2]), expected = atoi(argv[3]);
  MPI_Comm fresh;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

  const size_t cell = (size_t)(sent > expected ? sent : expected) + USUAL + GUARD;
  out = malloc(cell * (size_t)size), in = malloc(cell * (size_t)size);
  memset(out, 'a' + rank, cell * (size_t)size), memset(in, '.', cell * (size_t)size);
  for (int i = 0; i < size; ++i) {
    out_counts[i] = in_counts[i] = USUAL, types[i] = MPI_BYTE;
    places[i] = i * (int)cell, far_places[i] = places[i];
  }

  /* The block of rank `from` for rank `to` lies at `place` there. */
  const int scatters = !strcmp(name, "scatterv"),
            to_all = !strcmp(name, "alltoallv") || !strcmp(name, "alltoallw"),
            rings = !strncmp(name, "neighbor", 8), gathers_all = !strcmp(name, "allgatherv");
  const int from = scatters ? 0 : 1, to = scatters ? 1 : rings ? (from + 1) % size : 0;
  const int place = scatters || rings ? 0 : from;
  if (rank == from) out_counts[scatters || to_all ? to : 0] = sent;
  if (rank == to || gathers_all) in_counts[place] = expected;
  const MPI_Comm comm = rings ? make_ring() : MPI_COMM_WORLD;

  const int code = call(name, comm);
  int right = 0, spoilt = 0;
  for (size_t i = 0; i < cell; ++i) {
    const char byte = in[(size_t)place * cell + i];
    if (i < (size_t)(sent < expected ? sent : expected))
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
