/* Makes communicators in every way that MPI has, one from another, and uses them: short collectives first, whose
   data ride in flag lines, then long ones, which need slots; frees them in another order than they were made.
     creation [rounds] */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 64 };

static MPI_Comm made[most];
static int count, failed, checks;

static void check(int holds, const char* what, int size) {
  ++checks;
  if (!holds && ++failed < 10) printf("%s of %d ranks: wrong\n", what, size);
}

static void keep(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && count < most) made[count++] = comm;
}

/* `n` longs: few of them ride in flag lines, many do not. */
static void use(MPI_Comm comm, int n) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t all = (size_t)n * (size_t)size;
  long *mine = malloc((all + 1) * sizeof *mine), *theirs = malloc((all + 1) * sizeof *theirs);
  const long ranks = (long)size * (size - 1) / 2;
  int right;

  for (int i = 0; i < n; ++i) mine[i] = rank + i;
  MPI_Allreduce(mine, theirs, n, MPI_LONG, MPI_SUM, comm);
  right = 1;
  for (int i = 0; i < n; ++i) right &= theirs[i] == ranks + (long)size * i;
  check(right, "allreduce", size);

  MPI_Barrier(comm);
  MPI_Reduce(mine, theirs, n, MPI_LONG, MPI_MAX, size - 1, comm);
  right = 1;
  for (int i = 0; i < n && rank == size - 1; ++i) right &= theirs[i] == size - 1 + i;
  check(right, "reduce", size);

  for (int i = 0; i < n; ++i) theirs[i] = rank == size / 2 ? 7 * i : -1;
  MPI_Bcast(theirs, n, MPI_LONG, size / 2, comm);
  right = 1;
  for (int i = 0; i < n; ++i) right &= theirs[i] == 7 * i;
  check(right, "bcast", size);

  MPI_Allgather(mine, n, MPI_LONG, theirs, n, MPI_LONG, comm);
  right = 1;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) right &= theirs[r * n + i] == r + i;
  check(right, "allgather", size);

  memset(theirs, 0, all * sizeof *theirs);
  MPI_Gather(mine, n, MPI_LONG, theirs, n, MPI_LONG, 0, comm);
  right = 1;
  for (int r = 0; r < size && rank == 0; ++r)
    for (int i = 0; i < n; ++i) right &= theirs[r * n + i] == r + i;
  check(right, "gather", size);

  for (size_t i = 0; i < all; ++i) mine[i] = rank * 1000000L + (long)i;
  MPI_Scatter(mine, n, MPI_LONG, theirs, n, MPI_LONG, size - 1, comm);
  right = 1;
  for (int i = 0; i < n; ++i) right &= theirs[i] == (size - 1) * 1000000L + rank * n + i;
  check(right, "scatter", size);

  MPI_Alltoall(mine, n, MPI_LONG, theirs, n, MPI_LONG, comm);
  right = 1;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) right &= theirs[r * n + i] == r * 1000000L + rank * n + i;
  check(right, "alltoall", size);

  for (size_t i = 0; i < all; ++i) mine[i] = rank + (long)i;
  MPI_Reduce_scatter_block(mine, theirs, n, MPI_LONG, MPI_SUM, comm);
  right = 1;
  for (int i = 0; i < n; ++i) right &= theirs[i] == ranks + (long)size * (rank * n + i);
  check(right, "reduce_scatter_block", size);

  MPI_Scan(mine, theirs, n, MPI_LONG, MPI_SUM, comm);
  right = 1;
  for (int i = 0; i < n; ++i) right &= theirs[i] == (long)rank * (rank + 1) / 2 + (long)(rank + 1) * i;
  check(right, "scan", size);

  MPI_Exscan(mine, theirs, n, MPI_LONG, MPI_SUM, comm);
  right = 1;
  for (int i = 0; i < n && rank > 0; ++i) right &= theirs[i] == (long)rank * (rank - 1) / 2 + (long)rank * i;
  check(right, "exscan", size);
  free(mine);
  free(theirs);
}

/* Everything that can be made of a communicator. */
static void make_all(MPI_Comm from) {
  int rank, size;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &size);
  MPI_Comm comm, twin;
  MPI_Request request;
  MPI_Group group, part;

  MPI_Comm_dup(from, &comm);
  keep(comm);
  MPI_Comm_dup_with_info(from, MPI_INFO_NULL, &comm);
  keep(comm);
  MPI_Comm_idup(from, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  keep(comm);
  MPI_Comm_split(from, rank % 2, -rank, &comm);
  keep(comm);
  MPI_Comm_split(from, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
  keep(comm);
  MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
  keep(comm);

  /* The ranks but the last; those alone that are in it make the second. Twice with one tag, once with another. */
  MPI_Comm_group(from, &group);
  const int last = size - 1;
  if (size > 1)
    MPI_Group_excl(group, 1, &last, &part);
  else
    part = group;
  MPI_Comm_create(from, part, &comm);
  keep(comm);
  if (size == 1 || rank != last)
    for (int i = 0; i < 3; ++i) {
      MPI_Comm_create_group(from, part, 5 + i / 2, &comm);
      keep(comm);
    }
  if (part != group) MPI_Group_free(&part);
  MPI_Group_free(&group);

  const int sizes[1] = {size}, periods[1] = {1}, kept[1] = {1};
  MPI_Cart_create(from, 1, sizes, periods, 0, &comm);
  keep(comm);
  MPI_Cart_sub(comm, kept, &twin);
  keep(twin);
  int *index = malloc((size_t)size * sizeof(int)), *edges = malloc((size_t)size * sizeof(int));
  for (int r = 0; r < size; ++r) index[r] = r + 1, edges[r] = (r + 1) % size;
  MPI_Graph_create(from, size, index, edges, 0, &comm);
  keep(comm);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, one = 1;
  MPI_Dist_graph_create(from, 1, &rank, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  keep(comm);
  MPI_Dist_graph_create_adjacent(from, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &comm);
  keep(comm);
  free(index);
  free(edges);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm reversed, child;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_dup(reversed, &child);
    make_all(MPI_COMM_WORLD);
    make_all(child);
    for (int i = 0; i < count; ++i) use(made[i], 1);
    for (int i = 0; i < count; ++i) use(made[i], round % 2 == 0 ? 3 : 2000);
    MPI_Comm_free(&reversed);  /* before its child */
    for (int i = 0; i < count; i += 2) MPI_Comm_free(&made[i]);
    use(child, 5);
    for (int i = 1; i < count; i += 2) MPI_Comm_free(&made[i]);
    MPI_Comm_free(&child);
    count = 0;
  }
  int all = 0;
  MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("creation: %d checks, %d failed\n", checks, all);
  MPI_Finalize();
  return all != 0;
}
