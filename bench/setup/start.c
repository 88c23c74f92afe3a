/* A program that starts, calls one allreduce and ends: the times of MPI_Init and of the first collective, and what each
   rank holds then. Rank 0 prints one line of JSON; times are milliseconds, of the slowest rank; cpu_ms is the mean of what the
   ranks have used of their cores until then, since they were started; usage_ms is what it took to ask what they hold. */
#include <mpi.h>
#include <stdio.h>

#include "../mpi/clock.h"
#include "usage.h"

static double cpu_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static double milliseconds(int64_t from, int64_t to) { return (double)(to - from) / 1e6; }

int main(int argc, char** argv) {
  const int64_t begun = clock_kernel_ns();
  MPI_Init(&argc, &argv);
  const int64_t initialised = clock_kernel_ns();
  double one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const int64_t reduced = clock_kernel_ns();
  const double used = cpu_ms();
  const struct usage now = usage_now();
  int rank, size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  /* As one clock serves all ranks of a machine, the span is that of the whole job. */
  const double mine[] = {milliseconds(begun, initialised), milliseconds(initialised, reduced), (double)-begun,
                         (double)reduced};
  double most[4], all_used = 0;
  PMPI_Reduce(&used, &all_used, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(mine, most, 4, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  FILE* out = rank ? NULL : stdout;
  if (out)
    printf("{\"kind\": \"start\", \"ranks\": %d, \"init_ms\": %.3f, \"first_ms\": %.3f, \"span_ms\": %.3f, \"cpu_ms\": %.3f",
           size, most[0], most[1], (most[3] + most[2]) / 1e6, all_used / size);
  usage_print(out, "usage", &now, size);
  if (out) printf(", \"usage_ms\": %.3f}\n", milliseconds(reduced, clock_kernel_ns()));
  MPI_Finalize();
  return sum != size;
}
