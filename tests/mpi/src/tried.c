/* Rows of calls of each kind, so that each is tried by Espalier and by the host (ESPALIER_GUARD) and then settled; every
 * result is compared. Ranks describe the same data by different datatypes, but under Intel MPI, whose own allgather is wrong then
 * (2021.18). Arguments: how many calls of a row; how many bytes of a block; and, to make one row alone, its name, or "mixed":
 * calls of all kinds and lengths. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, ints, failed;
static int *sent, *got;
static MPI_Datatype pairs; /* two ints */

static void expect(const char* row, int call, int place, int value, int wanted) {
  if (value == wanted) return;
  if (failed++ < 5) printf("tried, rank %d: %s, call %d, element %d: %d, not %d\n", rank, row, call, place, value, wanted);
}

/* In each call other numbers: what a slot still holds of the last call would not do. */
static int number(int call, int of_rank, int place) { return 1000 * call + 17 * of_rank + place; }
static void fill(int call, int count) {
  for (int i = 0; i < count; ++i) sent[i] = number(call, rank, i);
  memset(got, 0xff, sizeof(int) * (size_t)(ints * size));
}
/* Every other rank sends pairs of ints. */
static int has_pairs(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return rank % 2 && !strstr(version, "Intel");
}
static MPI_Datatype type(void) { return has_pairs() ? pairs : MPI_INT; }
static int count(int of_ints) { return has_pairs() ? of_ints / 2 : of_ints; }

static void bcast(int call) {
  const int root = call % size;
  fill(call, ints);
  MPI_Bcast(sent, count(ints), type(), root, MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) expect("bcast", call, i, sent[i], number(call, root, i));
}

static int sum_to(int ranks, int call, int place) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += number(call, r, place);
  return sum;
}

static void allreduce(int call) {
  fill(call, ints);
  MPI_Allreduce(sent, got, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) expect("allreduce", call, i, got[i], sum_to(size, call, i));
}

static void scan(int call) {
  fill(call, ints);
  MPI_Scan(sent, got, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) expect("scan", call, i, got[i], sum_to(rank + 1, call, i));
}

static void doubles(int call) {
  double mine = 0.5 + call + rank, sum = 0, wanted = 0;
  for (int r = 0; r < size; ++r) wanted += 0.5 + call + r;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect("doubles", call, 0, sum == wanted, 1);
}

static void allgather(int call) {
  fill(call, ints);
  MPI_Allgather(sent, count(ints), type(), got, ints, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ints * size; ++i) expect("allgather", call, i, got[i], number(call, i / ints, i % ints));
}

static void gather(int call) {
  const int root = call % size;
  fill(call, ints);
  MPI_Gather(sent, count(ints), type(), got, ints, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < ints * size && rank == root; ++i)
    expect("gather", call, i, got[i], number(call, i / ints, i % ints));
}

static void scatter(int call) {
  const int root = call % size;
  fill(call, ints * size);
  MPI_Scatter(sent, ints, MPI_INT, got, count(ints), type(), root, MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) expect("scatter", call, i, got[i], number(call, root, rank * ints + i));
}

static void alltoall(int call) {
  fill(call, ints * size);
  MPI_Alltoall(sent, ints, MPI_INT, got, count(ints), type(), MPI_COMM_WORLD);
  for (int i = 0; i < ints * size; ++i)
    expect("alltoall", call, i, got[i], number(call, i / ints, rank * ints + i % ints));
}

/* Rank r gives r + 1 times as much, and each call has other lengths. */
static void gatherv(int call) {
  int counts[64], places[64], end = 0;
  const int root = call % size, unit = 1 + call % 3;
  for (int r = 0; r < size; ++r) places[r] = end, end += counts[r] = unit * (r + 1);
  int *mine = malloc(sizeof(int) * (size_t)end), *all = malloc(sizeof(int) * (size_t)end);
  for (int i = 0; i < counts[rank]; ++i) mine[i] = number(call, rank, i);
  MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && rank == root; ++r)
    for (int i = 0; i < counts[r]; ++i) expect("gatherv", call, i, all[places[r] + i], number(call, r, i));
  free(mine);
  free(all);
}

static void barrier(int call) {
  (void)call;
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*make)(int call);
} rows[] = {{"bcast", bcast},   {"allreduce", allreduce}, {"scan", scan},         {"doubles", doubles}, {"allgather", allgather},
            {"gather", gather}, {"scatter", scatter},     {"alltoall", alltoall}, {"gatherv", gatherv}, {"barrier", barrier}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 300;
  ints = (argc > 2 ? atoi(argv[2]) : 64) / (int)sizeof(int);
  sent = malloc(sizeof(int) * (size_t)(ints * size));
  got = malloc(sizeof(int) * (size_t)(ints * size));
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  const int number_of_rows = (int)(sizeof rows / sizeof *rows);
  for (int row = 0; row < number_of_rows; ++row)
    for (int call = 0; call < calls && (argc < 4 || !strcmp(argv[3], rows[row].name)); ++call) rows[row].make(call);
  const int most = ints, is_mixed = argc > 3 && !strcmp(argv[3], "mixed");
  for (int call = 0; call < calls && (argc < 4 || is_mixed); ++call) {
    if (is_mixed) ints = (int)(call * 2654435761u >> 16) % most / 2 * 2; /* an even number, and 0, too */
    rows[(call * 7 + call / 3) % number_of_rows].make(call);
  }
  MPI_Type_free(&pairs);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && !failed) printf("tried: right\n");
  MPI_Finalize();
  return failed != 0;
}
