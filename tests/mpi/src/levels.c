/* Levels (espalier_levels.h) on the ranks of MPI_COMM_WORLD, compared with MPI's own collectives.
 *
 *   levels check DEGREE ROOT [TREE]   the examples and a base case of a stranger, again and again
 *   levels late ROOT                  ranks compute for long between the calls
 *   levels fail RANK                  the base case of one rank fails: the others hear of it
 *   levels refused TREE               levels on that tree are refused
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/levels/levels.h"
#include "tests/levels/stranger.h"

static int rank, size, checks;
static espalier_comm* world;

static void expect(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "levels: rank %d: %s: %s\n", rank, what, espalier_error_text());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  ++checks;
}

static espalier_levels* made(const espalier_levels_options* options) {
  espalier_levels* levels = NULL;
  expect(espalier_levels_create(world, options, &levels) == ESPALIER_OK, "create");
  return levels;
}

static void check_reduce(espalier_levels* levels, int root, int count) {
  double values[1100], sum[1100] = {0};
  for (int i = 0; i < count; ++i) values[i] = rank * 3 + i;
  MPI_Reduce(values, sum, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  expect(levels_reduce(levels, values, values, (size_t)count) == ESPALIER_OK, "reduce");
  expect(rank != root || memcmp(values, sum, (size_t)count * sizeof *sum) == 0, "another sum than MPI's");
}

static void check_bcast(espalier_levels* levels, int root, int bytes) {
  char data[9000], right[9000];
  for (int i = 0; i < bytes; ++i) right[i] = (char)(i * 3 + bytes);
  memset(data, 0, sizeof data);
  if (rank == root) memcpy(data, right, (size_t)bytes);
  expect(levels_bcast(levels, data, (size_t)bytes) == ESPALIER_OK, "bcast");
  expect(memcmp(data, right, (size_t)bytes) == 0, "other data than the root's");
}

static void check_top_k(espalier_levels* levels) {
  double best[2] = {rank + 0.5, rank};
  expect(levels_top_k(levels, best, 2) == ESPALIER_OK, "top_k");
  expect(best[0] == size - 0.5 && best[1] == size - 1, "others than the largest");
}

static void check_max(espalier_levels* levels, int round) {
  uint64_t value = (uint64_t)((rank * 5) % size + round);
  uint64_t most = 0;
  MPI_Allreduce(&value, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  expect(stranger_max(levels, &value) == ESPALIER_OK, "max");
  expect(value == most, "another maximum than MPI's");
}

/* By the clock of the machine, which all ranks share; in each round another rank is the last. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check_barrier(espalier_levels* levels, int round) {
  double last_came, first_left;
  if (rank == round % size) usleep(500);
  const double came = now();
  expect(levels_barrier(levels) == ESPALIER_OK, "barrier");
  const double left = now();
  MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  expect(last_came <= first_left, "a rank was let go too early");
}

static void check(espalier_levels_options options, unsigned computes_us) {
  espalier_levels* each[5];
  for (int i = 0; i < 5; ++i) each[i] = made(&options);
  if (rank == 0) printf("levels: tree %s\n", espalier_levels_tree(each[0]));
  for (int round = 1; round <= (computes_us ? 2 : 20); ++round) {
    check_barrier(each[0], round);
    if (computes_us && rank == round % size) usleep(computes_us);
    check_reduce(each[1], options.root, round % 2 ? 7 : 1100);
    if (computes_us && rank == options.root) usleep(computes_us);
    check_bcast(each[2], options.root, round % 2 ? 5 : 9000);
    check_top_k(each[3]);
    check_max(each[4], round);
  }
  for (int i = 0; i < 5; ++i) espalier_levels_free(each[i]);
}

static espalier_levels* levels_that_fail;
static int give_up(const espalier_group_view* group, void* unused) { return (void)group, (void)unused, 9; }
/* In the highest group; *waits says whether this rank was there. */
static int wait_for_ever(const espalier_group_view* group, void* waits) {
  espalier_group_view high;
  espalier_levels_group(levels_that_fail, espalier_levels_count(levels_that_fail) - 1, &high);
  if (group->level < high.level) return ESPALIER_OK;
  *(int*)waits = 1;
  return espalier_group_wait_until(group, 8, ESPALIER_UNTIL_EQUAL, 1);
}

static void fail(int who) {
  espalier_levels* levels = levels_that_fail = made(NULL);
  int waits = 0;
  const int code = espalier_levels_up(levels, rank == who ? give_up : wait_for_ever, &waits);
  expect(rank != who || code == 9, "the code of the base case");
  expect(rank == who || !waits || code == ESPALIER_ERR_PEERS, "the code of a failure");
  char text[64];
  snprintf(text, sizeof text, "the base case of rank %d returned 9", who);
  expect(!waits || strstr(espalier_error_text(), text) != NULL, "the text of a failure");
  expect(levels_barrier(levels) == ESPALIER_ERR_PEERS, "another call after a failure");
  expect(strstr(espalier_error_text(), text) != NULL, "the text of another call");
  espalier_levels_free(levels);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (espalier_comm_world(&world) != ESPALIER_OK) {  // and no abort, after which a launcher may lose the words
    fprintf(stderr, "levels: %s\n", espalier_error_text());
    MPI_Finalize();
    return 5;
  }
  espalier_levels_options options = levels_example_options();
  if (argc > 3 && !strcmp(argv[1], "check")) {
    options.degree = options.virtual_levels = atoi(argv[2]);
    options.root = atoi(argv[3]);
    options.tree = argc > 4 ? argv[4] : NULL;
    check(options, 0);
  } else if (argc > 2 && !strcmp(argv[1], "late")) {
    options.root = atoi(argv[2]);
    check(options, 100000);
  } else if (argc > 2 && !strcmp(argv[1], "fail")) {
    fail(atoi(argv[2]));
  } else if (argc > 2 && !strcmp(argv[1], "refused")) {
    espalier_levels* levels = NULL;
    options.tree = argv[2];
    expect(espalier_levels_create(world, &options, &levels) != ESPALIER_OK, "no refusal");
    if (rank == 0) printf("levels: refused: %s\n", espalier_error_text());
  } else {
    expect(0, "the command line");
  }
  espalier_comm_free(world);
  if (rank == 0) printf("levels: %d checks passed, %d ranks\n", checks, size);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
