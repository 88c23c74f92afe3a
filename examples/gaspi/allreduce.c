/* Allreduce by GASPI: sums, minima and maxima over all ranks, over a group of some, and resumed after timeouts.
 *
 *     espalier run -n 4 ./allreduce */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const gaspi_return_t code_ = (call);                                                     \
    if (code_ != GASPI_SUCCESS) {                                                            \
      fprintf(stderr, "allreduce: %s gives %d: %s\n", #call, code_, gaspi_error_str(code_)); \
      exit(EXIT_FAILURE);                                                                    \
    }                                                                                        \
  } while (0)

static void expect(double found, double expected, const char* what) {
  if (found == expected) return;
  fprintf(stderr, "allreduce: %s is %g instead of %g\n", what, found, expected);
  exit(EXIT_FAILURE);
}

static void over_all(int rank, int ranks) {
  double mine[255], sum[255];
  for (int i = 0; i < 255; ++i) mine[i] = rank + i;
  CHECK(gaspi_allreduce(mine, sum, 255, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
  for (int i = 0; i < 255; ++i) expect(sum[i], ranks * (ranks - 1) / 2.0 + i * (double)ranks, "a sum");
  int number = rank, least, most;
  CHECK(gaspi_allreduce(&number, &least, 1, GASPI_OP_MIN, GASPI_TYPE_INT, GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_allreduce(&number, &most, 1, GASPI_OP_MAX, GASPI_TYPE_INT, GASPI_GROUP_ALL, GASPI_BLOCK));
  expect(least, 0, "the minimum");
  expect(most, ranks - 1, "the maximum");
}

/* Ranks with the same remainder by 2 form a group. */
static void over_group(int rank, int ranks) {
  gaspi_group_t group;
  long mine = rank + 1, sum, expected = 0;
  CHECK(gaspi_group_create(&group));
  for (int other = rank % 2; other < ranks; other += 2) {
    CHECK(gaspi_group_add(group, other));
    expected += other + 1;
  }
  CHECK(gaspi_group_commit(group, GASPI_BLOCK));
  CHECK(gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_LONG, group, GASPI_BLOCK));
  expect((double)sum, (double)expected, "the sum of the group");
  gaspi_pointer_t memory;
  CHECK(gaspi_segment_create(7, 64, group, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(7, &memory));
  expect(*(long*)memory, 0, "fresh memory");
  CHECK(gaspi_segment_delete(7));
  CHECK(gaspi_group_delete(group));
}

static void with_timeouts(int ranks) {
  unsigned one = 1, sum = 0;
  for (int i = 0; i < 200; ++i) {
    gaspi_return_t code;
    do {
      code = gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                             i % 2 ? GASPI_TEST : 1);
    } while (code == GASPI_TIMEOUT);
    CHECK(code);
    expect(sum, ranks, "a resumed sum");
    do code = gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST);
    while (code == GASPI_TIMEOUT);
    CHECK(code);
  }
}

int main(void) {
  gaspi_rank_t rank, ranks;
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&rank));
  CHECK(gaspi_proc_num(&ranks));
  over_all(rank, ranks);
  over_group(rank, ranks);
  with_timeouts(ranks);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) printf("allreduce: ranks %d, right\n", ranks);
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
