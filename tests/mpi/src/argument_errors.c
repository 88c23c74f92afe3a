/* Arguments that are wrong: each rank gets the error class that the host gives it, at once, and what follows works. The host
   is asked by PMPI_ calls, which Espalier does not see. The program's arguments name mistakes that not all hosts look for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ints = 4, most_ranks = 16 };
static int rank, ranks, root, failures, cases;
static int a[most_ranks * ints], b[most_ranks * ints], counts[most_ranks], places[most_ranks];
static MPI_Comm comm;
static MPI_Datatype uncommitted, uncommitted_vector;

static int reported;
static void quiet(MPI_Comm* c, int* code, ...) { (void)c, reported = *code; }

/* MPICH 5 returns success from a call that has failed if a handler of the program's has heard of it. */
static int result(int code) {
  const int said = code != MPI_SUCCESS ? code : reported;
  reported = MPI_SUCCESS;
  return said;
}

static int class_of(int code) {
  int value = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &value);
  return value;
}

static void compare(const char* what, int host, int ours, int again) {
  ++cases;
  if (host == ours && again == MPI_SUCCESS) return;
  ++failures;
  fprintf(stderr, "FAILED rank %d: %s: error class %d, the host's is %d; the call after it: %d\n", rank, what, ours, host,
          again);
}

/* The root alone makes the wrong call, by PMPI_ and then by MPI_; the others make the right one, which a rank that got an
   error then makes up for. */
#define AT_ROOT(what, name, wrong, right)                                                           \
  do {                                                                                              \
    int host = result(rank == root ? PMPI_##name wrong : PMPI_##name right), again = MPI_SUCCESS;           \
    if (host != MPI_SUCCESS) PMPI_##name right;                                                     \
    PMPI_Barrier(comm);                                                                             \
    int ours = result(rank == root ? MPI_##name wrong : MPI_##name right);                                  \
    if (ours != MPI_SUCCESS) again = result(MPI_##name right);                                              \
    compare("MPI_" #name ", " what ", at the root", class_of(host), class_of(ours), again);         \
    check_what_follows("MPI_" #name ", " what ", at the root");                                     \
  } while (0)

/* All ranks make the wrong call. */
#define EVERYWHERE(what, name, wrong)                                                               \
  do {                                                                                              \
    int host = result(PMPI_##name wrong);                                                                   \
    int ours = result(MPI_##name wrong);                                                                    \
    compare("MPI_" #name ", " what, class_of(host), class_of(ours), MPI_SUCCESS);                   \
    check_what_follows("MPI_" #name ", " what);                                                     \
  } while (0)

static void check_what_follows(const char* what) {
  int one = 1, sum = 0;
  const int code = result(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  if (code == MPI_SUCCESS && sum == ranks) return;
  ++failures;
  fprintf(stderr, "FAILED rank %d: an allreduce after %s: %d of %d ranks, code %d\n", rank, what, sum, ranks, code);
}

static int* own(int* blocks) { return blocks + rank * ints; }

static void same_buffers(void) {
  EVERYWHERE("same buffers", Allreduce, (a, a, ints, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers, one element", Allreduce, (a, a, 1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers", Scan, (a, a, ints, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers", Exscan, (a, a, ints, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers", Reduce_scatter_block, (a, a, ints, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers", Reduce_scatter, (a, a, counts, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("same buffers", Allgather, (own(a), ints, MPI_INT, a, ints, MPI_INT, comm));
  EVERYWHERE("same buffers", Allgatherv, (own(a), ints, MPI_INT, a, counts, places, MPI_INT, comm));
  EVERYWHERE("same buffers", Alltoall, (a, ints, MPI_INT, a, ints, MPI_INT, comm));
  EVERYWHERE("same buffers", Alltoallv, (a, counts, places, MPI_INT, a, counts, places, MPI_INT, comm));
  for (root = 0; root < ranks; ++root) {
    AT_ROOT("same buffers", Reduce, (a, a, ints, MPI_INT, MPI_SUM, root, comm), (a, b, ints, MPI_INT, MPI_SUM, root, comm));
    AT_ROOT("same buffers", Gather, (own(a), ints, MPI_INT, a, ints, MPI_INT, root, comm),
         (a, ints, MPI_INT, b, ints, MPI_INT, root, comm));
    AT_ROOT("same buffers", Gatherv, (own(a), ints, MPI_INT, a, counts, places, MPI_INT, root, comm),
         (a, ints, MPI_INT, b, counts, places, MPI_INT, root, comm));
    AT_ROOT("same buffers", Scatter, (a, ints, MPI_INT, own(a), ints, MPI_INT, root, comm),
         (a, ints, MPI_INT, b, ints, MPI_INT, root, comm));
    AT_ROOT("same buffers", Scatterv, (a, counts, places, MPI_INT, own(a), ints, MPI_INT, root, comm),
         (a, counts, places, MPI_INT, b, ints, MPI_INT, root, comm));
  }
}

static void uncommitted_types(void) {
  EVERYWHERE("uncommitted", Bcast, (a, 1, uncommitted, 0, comm));
  EVERYWHERE("uncommitted vector", Bcast, (a, 1, uncommitted_vector, 0, comm));
}

static void wrong_values(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  root = 0;
  EVERYWHERE("negative count", Bcast, (a, -1, MPI_INT, 0, comm));
  EVERYWHERE("negative count", Allgather, (a, -1, MPI_INT, b, -1, MPI_INT, comm));
  EVERYWHERE("negative count", Alltoall, (a, -1, MPI_INT, b, -1, MPI_INT, comm));
  EVERYWHERE("negative count", Gather, (a, -1, MPI_INT, b, -1, MPI_INT, 0, comm));
  EVERYWHERE("negative count", Scatter, (a, -1, MPI_INT, b, -1, MPI_INT, 0, comm));
  EVERYWHERE("root too large", Bcast, (a, 1, MPI_INT, ranks, comm));
  EVERYWHERE("root too large", Reduce, (a, b, 1, MPI_INT, MPI_SUM, ranks, comm));
  EVERYWHERE("root too large", Gather, (a, 1, MPI_INT, b, 1, MPI_INT, ranks, comm));
  EVERYWHERE("root too large", Scatter, (a, 1, MPI_INT, b, 1, MPI_INT, ranks, comm));
  EVERYWHERE("no datatype", Bcast, (a, 1, none, 0, comm));
  EVERYWHERE("no datatype", Allreduce, (a, b, 1, none, MPI_SUM, comm));
  EVERYWHERE("no datatype", Allgather, (a, 1, none, b, 1, none, comm));
  EVERYWHERE("no datatype", Alltoall, (a, 1, none, b, 1, none, comm));
  EVERYWHERE("no operator", Allreduce, (a, b, 1, MPI_INT, MPI_OP_NULL, comm));
  EVERYWHERE("no operator", Reduce, (a, b, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  EVERYWHERE("no operator", Scan, (a, b, 1, MPI_INT, MPI_OP_NULL, comm));
}

/* Which MPICH 4 takes for lengths of what it copies. */
static void negative_counts_of_reductions(void) {
  EVERYWHERE("negative count", Allreduce, (a, b, -1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("negative count", Reduce, (a, b, -1, MPI_INT, MPI_SUM, 0, comm));
  EVERYWHERE("negative count", Scan, (a, b, -1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("negative count", Exscan, (a, b, -1, MPI_INT, MPI_SUM, comm));
}

/* MPICH and its descendants report these; others read the null address. */
static void wrong_buffers(void) {
  root = 0;
  EVERYWHERE("no buffer", Bcast, (NULL, 1, MPI_INT, 0, comm));
  EVERYWHERE("no buffer to send", Allreduce, (NULL, b, 1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("no buffer to receive", Allreduce, (a, NULL, 1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("no buffer to send", Allgather, (NULL, 1, MPI_INT, b, 1, MPI_INT, comm));
  EVERYWHERE("no buffer to receive", Alltoall, (a, 1, MPI_INT, NULL, 1, MPI_INT, comm));
  EVERYWHERE("receive in place", Allreduce, (a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  EVERYWHERE("receive in place", Scan, (a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  AT_ROOT("no buffer at the root", Gather, (a, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm), (a, 1, MPI_INT, b, 1, MPI_INT, 0, comm));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Errhandler silent;
  MPI_Comm_create_errhandler(quiet, &silent);
  MPI_Comm_set_errhandler(comm, silent);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, silent); /* Open MPI reports some mistakes there */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, silent);
  for (int i = 0; i < ranks; ++i) counts[i] = ints, places[i] = ints * i;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted_vector);
  same_buffers();
  uncommitted_types();
  wrong_values();
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "counts") == 0) negative_counts_of_reductions();
    if (strcmp(argv[i], "buffers") == 0) wrong_buffers();
  }
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&uncommitted_vector);
  MPI_Errhandler_free(&silent);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) printf("argument_errors, %d cases, %d failed\n", cases, failures);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return failures != 0;
}
