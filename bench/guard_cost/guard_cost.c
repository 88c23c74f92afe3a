/* What ESPALIER_GUARD=on costs a short call that is settled. Runs differ by more than that, so the guard is on and off in turns
 * within one run: by its variable, which lies PLACE bytes (hexadecimal) behind the beginning of the library. Single calls, each
 * from a moment that the ranks have agreed on, and rows of calls. Rank r runs on core r.
 *
 *   guard_cost PLACE           prints a line for each collective: its name, and in nanoseconds what a single call takes without
 *                              and with the guard, the same of one in a row, and the median of the differences of two rows
 *   guard_cost NAME CALLS      only makes calls, for those who count instructions
 */
#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/clock.h"

enum { WARM = 2000, TURNS = 1500, SINGLE = 6, ROW = 60, SIDES = 2 };

static long sent = 1, got;

static void allreduce(void) { MPI_Allreduce(&sent, &got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(&sent, 1, MPI_LONG, 0, MPI_COMM_WORLD); }
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*call)(void);
} collectives[] = {{"allreduce", allreduce}, {"bcast", bcast}, {"barrier", barrier}};
enum { COLLECTIVES = sizeof collectives / sizeof *collectives };

static volatile char* is_on; /* the guard's variable */

static int find(struct dl_phdr_info* library, size_t size, void* place) {
  (void)size;
  if (strstr(library->dlpi_name, "libespalier-")) is_on = (char*)library->dlpi_addr + *(unsigned long*)place;
  return 0;
}

static void pin(int rank) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(rank, &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double of_faster_half(double* times, int number) {
  double sum = 0;
  qsort(times, (size_t)number, sizeof *times, ascending);
  for (int i = 0; i < number / 2; i++) sum += times[i];
  return sum / (number / 2);
}

/* A moment shortly after all ranks have come here. */
static int64_t agreed_moment(double unit) {
  int64_t mine = clock_ticks() + (int64_t)(3000 / unit), latest = 0;
  PMPI_Allreduce(&mine, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return latest;
}

static void measure(const char* name, void (*call)(void), double unit, int rank) {
  static double single[SIDES][TURNS * SINGLE], row[SIDES][TURNS], more[TURNS];
  for (int i = 0; i < WARM; i++) call();
  for (int turn = 0; turn < TURNS; turn++) {
    for (int side = 0; side < SIDES; side++) {
      const int on = (side + turn) % SIDES; /* the first changes */
      *is_on = (char)on;
      int64_t start = agreed_moment(unit);
      for (int i = 0; i < SINGLE; i++) call();
      for (int i = 0; i < SINGLE; i++, start += (int64_t)(800 / unit)) {
        while (clock_ticks() < start) continue;
        call();
        single[on][turn * SINGLE + i] = (double)(clock_ticks() - start) * unit;
      }
      start = clock_ticks();
      for (int i = 0; i < ROW; i++) call();
      row[on][turn] = (double)(clock_ticks() - start) * unit / ROW;
    }
    more[turn] = row[1][turn] - row[0][turn];
  }
  *is_on = 1;
  if (rank != 0) return;
  printf("%s", name);
  for (int on = 0; on < SIDES; on++) printf(" %.2f", of_faster_half(single[on], TURNS * SINGLE));
  for (int on = 0; on < SIDES; on++) printf(" %.2f", of_faster_half(row[on], TURNS));
  qsort(more, TURNS, sizeof *more, ascending);
  printf(" %.2f\n", more[TURNS / 2]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pin(rank);
  const int calls = argc > 2 ? atoi(argv[2]) : 0;
  unsigned long place = argc == 2 ? strtoul(argv[1], NULL, 16) : 0;
  if (place) dl_iterate_phdr(find, &place);
  if (!calls && (!is_on || *is_on != 1)) {
    fprintf(stderr, "guard_cost: the guard is not on, or not at this place\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const double unit = clock_calibrate();
  for (int c = 0; c < COLLECTIVES; c++) {
    if (!calls) measure(collectives[c].name, collectives[c].call, unit, rank);
    for (int i = 0; i < calls && !strcmp(argv[1], collectives[c].name); i++) collectives[c].call();
  }
  MPI_Finalize();
}
