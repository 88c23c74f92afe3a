/* A halo exchange by GASPI: heat on a rod, whose parts lie in a ring of ranks. Each rank writes its edge into the halo of its
 * neighbour; two halos for each side, used in turn, so that a fast rank does not overwrite what a slow one still reads.
 *
 *     espalier run -n 3 ./halo_exchange */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const gaspi_return_t code_ = (call);                                                         \
    if (code_ != GASPI_SUCCESS) {                                                                \
      fprintf(stderr, "halo_exchange: %s gives %d: %s\n", #call, code_, gaspi_error_str(code_)); \
      exit(EXIT_FAILURE);                                                                        \
    }                                                                                            \
  } while (0)

enum { segment = 3, queue = 1, cells = 100, steps = 500, left = 0, right = 1 };

/* The segment: two edges to send, then the halos by parity and side, in doubles. */
static int halo(int parity, int side) { return 2 + 2 * parity + side; }

static void send_edge(int rank, int side_there, int parity) {
  const gaspi_offset_t from = (gaspi_offset_t)(1 - side_there) * sizeof(double);
  const gaspi_offset_t to = (gaspi_offset_t)halo(parity, side_there) * sizeof(double);
  CHECK(gaspi_write_notify(segment, from, rank, segment, to, sizeof(double), halo(parity, side_there), 1,
                           queue, GASPI_BLOCK));
}

static void await_halos(int parity) {
  for (int come = 0; come < 2;) {
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    const gaspi_return_t code = gaspi_notify_waitsome(segment, halo(parity, left), 2, &id, 100);
    if (code == GASPI_TIMEOUT) continue;
    CHECK(code);
    CHECK(gaspi_notify_reset(segment, id, &value));
    come += value != 0;
  }
}

static void step(double* heat, double* next, const double* halos) {
  for (int i = 0; i < cells; ++i) {
    const double before = i > 0 ? heat[i - 1] : halos[left],
                 after = i + 1 < cells ? heat[i + 1] : halos[right];
    next[i] = 0.25 * before + 0.5 * heat[i] + 0.25 * after;
  }
  for (int i = 0; i < cells; ++i) heat[i] = next[i];
}

static double start_value(int place) { return (double)(place * 7919 % 1000); }

/* The whole rod on one rank, cell by cell the same sums: no bit may differ. */
static void check_result(const double* heat, int rank, int ranks) {
  const int all = ranks * cells;
  double *now = malloc(all * sizeof *now), *next = malloc(all * sizeof *next);
  for (int i = 0; i < all; ++i) now[i] = start_value(i);
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < all; ++i)
      next[i] = 0.25 * now[(i + all - 1) % all] + 0.5 * now[i] + 0.25 * now[(i + 1) % all];
    for (int i = 0; i < all; ++i) now[i] = next[i];
  }
  for (int i = 0; i < cells; ++i)
    if (heat[i] != now[rank * cells + i]) {
      fprintf(stderr, "halo_exchange: rank %d, cell %d: %.17g instead of %.17g\n", rank, i, heat[i],
              now[rank * cells + i]);
      exit(EXIT_FAILURE);
    }
  free(now);
  free(next);
}

int main(void) {
  gaspi_rank_t rank, ranks;
  gaspi_pointer_t pointer;
  double heat[cells], next[cells];
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&rank));
  CHECK(gaspi_proc_num(&ranks));
  CHECK(
      gaspi_segment_create(segment, 6 * sizeof(double), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(segment, &pointer));
  double* memory = pointer;
  for (int i = 0; i < cells; ++i) heat[i] = start_value(rank * cells + i);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (int s = 0; s < steps; ++s) {
    memory[left] = heat[0];
    memory[right] = heat[cells - 1];
    send_edge((rank + ranks - 1) % ranks, right, s % 2);
    send_edge((rank + 1) % ranks, left, s % 2);
    await_halos(s % 2);
    step(heat, next, memory + halo(s % 2, left));
    CHECK(gaspi_wait(queue, GASPI_BLOCK));
  }
  check_result(heat, rank, ranks);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) printf("halo_exchange: ranks %d, right\n", ranks);
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
